import Audio
import Opus
import Primitives
import RTP
import SDP
import Spandsp

/// Somebody who says one tone for ever, in packets of 20 ms, by a clock that is a little faster or slower than the
/// gateway's.
struct SimulatedVoice {
    /// Hertz; whole periods fit 20 ms.
    let frequency: Double
    let codec: AudioCodec
    /// Parts per million.
    let drift: Double
    /// A second of the tone, over and over.
    private let payloads: [[UInt8]]
    private let start: MonotonicTime
    private let ssrc: SSRC
    private(set) var sent = 0
    private var firstNumber: UInt16 = 65_500
    private var firstTimestamp: UInt32 = .max - 50_000

    init(_ frequency: Double, in codec: AudioCodec, drift: Double, ssrc: UInt32, from start: MonotonicTime) throws {
        (self.frequency, self.codec, self.drift, self.start, self.ssrc) = (frequency, codec, drift, start, SSRC(ssrc))
        payloads = try codec.encode(frequency, packets: 50)
    }

    /// When its next packet leaves.
    var next: MonotonicTime { start + .nanoseconds(Int64(Double(sent) * 20_000_000 * (1 - drift / 1_000_000))) }

    mutating func packet() -> [UInt8] {
        var packet = [UInt8](repeating: 0, count: RTPHeader.fixedLength)
        let header = RTPHeader(
            marker: sent == 0, payloadType: codec.payloadType,
            sequenceNumber: SequenceNumber(firstNumber &+ UInt16(truncatingIfNeeded: sent)),
            timestamp: timestamp, ssrc: ssrc)
        var span = packet.mutableSpan
        header.writeNew(to: &span)
        defer { sent += 1 }
        return packet + payloads[sent % payloads.count]
    }

    /// What it sends beside its packets (RFC 3550 §6.4.1).
    func report(at now: MonotonicTime) -> [UInt8] {
        let ntp = NTPTimestamp(unixNanoseconds: now.nanoseconds)
        let report = SenderReport(
            ssrc: ssrc, ntp: ntp, timestamp: timestamp, packetCount: UInt32(sent),
            octetCount: UInt32(truncatingIfNeeded: sent * payloads[0].count))
        return RTCPCompound([.senderReport(report)]).bytes
    }

    private var timestamp: RTPTimestamp {
        RTPTimestamp(firstTimestamp &+ UInt32(truncatingIfNeeded: sent * Int(codec.description.clockRate) / 50))
    }
}

/// What a simulated end speaks: as SDP describes it, and what it does to a tone.
enum AudioCodec {
    case opus
    case muLaw
    case g722

    var description: Codec {
        switch self {
        case .opus: Codec(payloadType: payloadType, name: "opus", clockRate: 48_000, channels: 2)
        case .muLaw: Codec(payloadType: payloadType, name: "PCMU", clockRate: 8_000)
        case .g722: Codec(payloadType: payloadType, name: "G722", clockRate: 8_000)
        }
    }

    var payloadType: PayloadType { PayloadType(maskingHeaderByte: self == .opus ? 111 : self == .muLaw ? 0 : 9) }

    /// Samples per second; the clock of G.722 says 8,000 (RFC 3551 §4.5.2).
    var rate: Int {
        switch self {
        case .opus: 48_000
        case .muLaw: 8_000
        case .g722: 16_000
        }
    }

    func encode(_ frequency: Double, packets: Int) throws -> [[UInt8]] {
        var oscillator = Oscillator(frequency: frequency, rate: Double(rate))
        var opus = try OpusEncoder()
        var g722 = G722Encoder()
        return try (0..<packets).map { _ in
            let samples = (0..<(rate / 50)).map { _ in Int16(6_000 * oscillator.next()) }
            if self == .muLaw { return samples.map(G711.muLaw.encode) }
            var payload = [UInt8](repeating: 0, count: 1_500)
            var span = payload.mutableSpan
            let count =
                self == .opus ? try opus.encode(samples.span, into: &span) : g722.encode(samples.span, into: &span)
            return Array(payload[..<count])
        }
    }

    /// The samples of some packets in a row.
    func decode(_ payloads: [[UInt8]]) throws -> [Int16] {
        var opus = try OpusDecoder()
        var g722 = G722Decoder()
        return try payloads.flatMap { payload in
            if self == .muLaw { return payload.map(G711.muLaw.decode) }
            var samples = [Int16](repeating: 0, count: 5_760)
            var span = samples.mutableSpan
            let count =
                self == .opus ? try opus.decode(payload.span, into: &span) : g722.decode(payload.span, into: &span)
            return Array(samples[..<count])
        }
    }

    /// How much of what was heard is a tone, 0…1: in pieces of 100 ms, for a playout that follows a clock moves the
    /// phase.
    func share(of frequency: Double, in samples: [Int16]) -> Double {
        let length = rate / 10
        let pieces = stride(from: 0, through: samples.count - length, by: length).map { samples[$0..<($0 + length)] }
        let shares = pieces.map { piece -> (tone: Double, all: Double) in
            var sine = Oscillator(frequency: frequency, rate: Double(rate))
            var cosine = sine
            for _ in 0..<(rate / Int(frequency) / 4) { _ = cosine.next() }
            var (real, imaginary, energy) = (0.0, 0.0, 0.0)
            for sample in piece.map(Double.init) {
                real += sample * cosine.next()
                imaginary += sample * sine.next()
                energy += sample * sample
            }
            return (2 * (real * real + imaginary * imaginary) / Double(length), energy)
        }
        let energy = shares.reduce(0) { $0 + $1.all }
        return energy == 0 ? 0 : shares.reduce(0) { $0 + $1.tone } / energy
    }
}
