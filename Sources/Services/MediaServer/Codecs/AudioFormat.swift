internal import Audio
internal import Opus
internal import Primitives
internal import SDP

/// A codec that the gateway decodes and encodes, and the parameters that a peer has negotiated for it.
struct AudioFormat: Equatable {
    enum Kind: Equatable {
        case opus(OpusEncoder.Configuration)
        case muLaw
        case aLaw
        case g722

        var isG711: Bool { self == .muLaw || self == .aLaw }
        var isOpus: Bool { if case .opus = self { true } else { false } }
    }

    let kind: Kind
    let payloadType: PayloadType
    let name: String
    /// Ticks per second of the timestamps. For G.722 it is half the sampling rate (RFC 3551 §4.5.2).
    let clockRate: Int
    /// Samples of 48 kHz in a packet to the peer.
    let samplesPerPacket: Int
    /// The number of channels that the peer announces to send: 2 with `sprop-stereo=1` (RFC 7587 §6.1). Each packet
    /// states its actual number, which may change from packet to packet.
    let sentChannels: Int

    /// `nil` for a codec that the gateway does not decode and encode.
    ///
    /// - Parameter packetTime: The packet times that the peer states, for all its formats.
    init?(_ codec: Codec, packetTime: PacketTime = PacketTime()) {
        switch (codec.name.lowercased(), codec.clockRate) {
        case ("opus", 48_000): kind = .opus(Self.opus(codec.parameters))
        case ("pcmu", 8_000): kind = .muLaw
        case ("pcma", 8_000): kind = .aLaw
        case ("g722", 8_000): kind = .g722
        default: return nil
        }
        sentChannels = kind.isOpus && Self.parameters(codec.parameters).contains { $0 == ("sprop-stereo", 1) } ? 2 : 1
        payloadType = codec.payloadType
        name = codec.name
        clockRate = codec.clockRate
        samplesPerPacket = PacketLength.samples(
            preferred: packetTime.preferred, maximum: packetTime.maximum,
            allowed: kind.isOpus ? PacketLength.opus : PacketLength.sampled)
    }

    /// The number of channels that the peer accepts; one is always accepted.
    var channels: Int {
        if case .opus(let configuration) = kind { configuration.channels } else { 1 }
    }

    /// The ticks of the RTP clock that `samples` of 48 kHz take.
    func ticks(of samples: Int) -> Int { samples * clockRate / 48_000 }

    /// What the peer asks of senders (RFC 7587 §6.1). Values out of range are ignored.
    private static func opus(_ parameters: String?) -> OpusEncoder.Configuration {
        var configuration = OpusEncoder.Configuration()
        for parameter in Self.parameters(parameters) {
            switch parameter {
            case ("maxplaybackrate", 8_000...48_000): configuration.maximumPlaybackRate = parameter.value
            case ("maxaveragebitrate", 6_000...510_000): configuration.bitrate = parameter.value
            case ("useinbandfec", 1):
                configuration.usesInbandFEC = true
                // Without an expected loss libopus spends no bits on redundancy.
                configuration.expectedLoss = 5
            case ("stereo", 1): configuration.channels = 2
            case ("usedtx", 1): configuration.usesDTX = true
            case ("cbr", 1): configuration.isConstantBitrate = true
            default: break
            }
        }
        return configuration
    }

    /// The parameters whose value is a number.
    private static func parameters(_ text: String?) -> [(name: String, value: Int)] {
        (text ?? "").split(separator: ";").compactMap { parameter in
            let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.trimming { $0 == " " } }
            guard parts.count == 2, let value = Int(parts[1]) else { return nil }
            return (parts[0].lowercased(), value)
        }
    }
}

extension StringProtocol {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> String {
        String(drop(while: isTrimmed).reversed().drop(while: isTrimmed).reversed())
    }
}
