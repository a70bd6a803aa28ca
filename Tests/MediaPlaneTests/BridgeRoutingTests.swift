import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Which m-line a packet belongs to (RFC 9143 §9.2).
@Suite struct BridgeRoutingTests {
    /// A rig whose peers announce no SSRC.
    private static func unannounced(configuration: Bridge.Configuration = .init()) -> BridgeRig {
        var rig = BridgeRig(configuration: configuration)
        for side in LegIndex.allCases { rig.configure(side) { $0 = BridgeRig.leg(side, announcing: false) } }
        return rig
    }

    @Test func `the MID teaches the SSRC`() {
        var rig = Self.unannounced()
        #expect(
            rig.send(BridgeRig.packet(ssrc: 7, 1, payloadType: BridgeRig.vp8, mid: "1"), from: .a).packet?.ssrc == 0xB1)
        #expect(rig.video(2, ssrc: 7).packet?.ssrc == 0xB1)
        #expect(
            rig.send(BridgeRig.packet(ssrc: 8, 1, payloadType: BridgeRig.rtx, mid: "1"), from: .a).packet?.ssrc == 0xB2)
        #expect(rig.retransmission(2, of: 1, ssrc: 8).packet?.ssrc == 0xB2)
    }

    @Test func `a payload type of one m-line only teaches the SSRC`() {
        var rig = Self.unannounced()
        #expect(rig.audio(1, ssrc: 7).packet?.ssrc == 0xB0)
        #expect(rig.video(1, ssrc: 8).packet?.ssrc == 0xB1)
        #expect(rig.retransmission(1, of: 1, ssrc: 9).packet?.ssrc == 0xB2)
    }

    @Test func `a payload type of two m-lines does not say which, until a MID does`() {
        var rig = BridgeRig()
        for side in LegIndex.allCases {
            rig.configure(side) { leg in
                leg.media[0].remoteSources = []
                leg.media[1].codecs = leg.media[0].codecs
                leg.media[1].remoteSources = []
            }
        }
        #expect(rig.audio(1, ssrc: 7) == .dropped(.unknownSource))
        #expect(
            rig.send(BridgeRig.packet(ssrc: 7, 2, payloadType: BridgeRig.opus, mid: "0"), from: .a).packet?.ssrc == 0xB0
        )
        #expect(rig.audio(3, ssrc: 7).packet?.ssrc == 0xB0)
    }

    @Test(
        arguments: [
            (BridgeRig.packet(ssrc: 1001, 1, payloadType: BridgeRig.opus, mid: "7"), .unknownMID),
            (BridgeRig.packet(ssrc: 7, 1, payloadType: BridgeRig.opus, mid: "12345"), .unknownMID),
            (BridgeRig.packet(ssrc: 7, 1, payloadType: BridgeRig.opus, mid: "1"), .unknownPayloadType),
            (BridgeRig.packet(ssrc: 1001, 1, payloadType: BridgeRig.opus, mid: "1"), .unknownPayloadType),
            (BridgeRig.packet(ssrc: 1001, 1, payloadType: 50), .unknownPayloadType),
            (BridgeRig.packet(ssrc: 1001, 1, payloadType: BridgeRig.vp8), .unknownPayloadType),
            // A primary SSRC does not retransmit, and the other way round.
            (BridgeRig.packet(ssrc: 1002, 1, payloadType: BridgeRig.rtx), .unknownPayloadType),
            (BridgeRig.packet(ssrc: 1003, 1, payloadType: BridgeRig.vp8), .unknownPayloadType),
            (BridgeRig.packet(ssrc: 7, 1, payloadType: 50), .unknownSource),
        ] as [([UInt8], DropReason)])
    func `what belongs nowhere is dropped`(_ packet: [UInt8], _ reason: DropReason) {
        var rig = BridgeRig()
        #expect(rig.send(packet, from: .a) == .dropped(reason))
    }

    @Test func `an SSRC moves to the m-line that its MID names`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        #expect(
            rig.send(BridgeRig.packet(ssrc: 1001, 2, payloadType: BridgeRig.vp8, mid: "1"), from: .a).packet?.ssrc
                == 0xB1)
        #expect(rig.audio(3) == .dropped(.unknownPayloadType))
    }

    @Test func `a payload type may change within a source`() throws {
        var rig = BridgeRig()
        let speech = try #require(rig.audio(1, timestamp: 960).packet)
        let digit = try #require(rig.audio(2, timestamp: 1920, payloadType: BridgeRig.telephoneEvent).packet)
        #expect(digit.sequenceNumber == speech.sequenceNumber &+ 1)
        #expect(digit.timestamp == speech.timestamp &+ 960)
        #expect(digit.payloadType == BridgeRig.telephoneEvent)
    }

    @Test func `sources beyond the cap push out the one that was silent longest`() {
        var configuration = Bridge.Configuration()
        configuration.maximumLearnedSources = 2
        var rig = Self.unannounced(configuration: configuration)
        for ssrc in [7, 8, 9] as [UInt32] {
            rig.clock.advance(by: .seconds(1))
            #expect(rig.audio(1, ssrc: ssrc).packet != nil)
        }
        // 7 was forgotten: it is new again instead of a source that was replaced.
        #expect(rig.audio(2, ssrc: 7).packet != nil)
        #expect(rig.audio(2, ssrc: 9) == .dropped(.superseded))
    }

    @Test func `streams and sources survive another offer`() throws {
        var rig = BridgeRig()
        let last = try #require(rig.audio(10, timestamp: 0).packet)
        _ = rig.audio(77, ssrc: 5000)
        rig.configure(.a)
        rig.configure(.b) {
            $0.media.append($0.media[1]); $0.media[2].mid = "2"; $0.media[2].localSSRC = SSRC(0xB5)
        }
        let next = try #require(rig.audio(78, ssrc: 5000).packet)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 2)
        #expect(rig.bridge.statistics(of: .a).lines[0].packetsReceived == 3)
        #expect(rig.bridge.statistics(of: .b).lines.map(\.mid) == ["0", "1", "2"])
    }
}
