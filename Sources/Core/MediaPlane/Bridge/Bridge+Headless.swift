package import Primitives
import RTP
import SDP

/// Headless legs: their audio comes from the owner of the bridge, and goes to it. They have no peer, no packets and no
/// RTCP.
///
/// Such a leg has one m-line of linear audio, so that sources, directions and feeds mean the same as for other legs.
/// What it hears is never relayed to it: the owner decodes it (`LineFeed.transcoded`), and encodes what others hear of
/// it.
extension Bridge {
    /// Adds a headless leg, which can be heard at once and hears nothing yet; `nil` if the bridge is full
    /// (`maximumLegs`).
    package mutating func addHeadlessLeg(random: inout some RandomSource, at now: MonotonicTime) -> LegIndex? {
        var leg = BridgeLeg(cname: cname, schedule: ReportSchedule(seed: random.next()))
        leg.makeHeadless(configuration, random: &random)
        guard let index = place(leg) else { return nil }
        refreshFlows(at: now)
        return index
    }
}

extension BridgeLeg {
    /// Gives the leg its m-line of linear audio, over which it can receive at once.
    fileprivate mutating func makeHeadless(_ configuration: Bridge.Configuration, random: inout some RandomSource) {
        isHeadless = true
        let media = NegotiatedMedia(
            mid: "0", kind: .audio, direction: .sendReceive, isRejected: false, codecs: [.linear], extensions: [],
            remoteSources: [], localSSRC: SSRC(UInt32(truncatingIfNeeded: random.next())), localRetransmissionSSRC: nil)
        lines = [BridgeLine(media, history: configuration.history, random: &random)]
        readyTransports = [.first]
    }
}

extension Codec {
    /// The samples as the audio engine has them: 16 bits, 48 kHz (RFC 3551 §4.5.11). They are in no packet.
    fileprivate static let linear = Codec(
        payloadType: PayloadType(maskingHeaderByte: 96), name: "L16", clockRate: 48_000, channels: 1)
}
