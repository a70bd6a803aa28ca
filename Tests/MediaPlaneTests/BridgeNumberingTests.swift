import MediaPlane
import Primitives
import SDP
import Testing

/// Legs that know the same formats under different payload types.
@Suite struct BridgeNumberingTests {
    /// Leg b has opus as 114, VP8 as 97 and rtx as 96; leg a has the numbers of the call.
    private static func rig() throws -> BridgeRig {
        var numbering = PayloadNumbering.identity
        for (one, other) in [(111, 114), (96, 97)] {
            numbering.swapOnLeg(try #require(PayloadType(one)), try #require(PayloadType(other)))
        }
        var rig = BridgeRig(ready: false)
        rig.configure(.a)
        rig.configure(.b) { leg in
            for index in leg.media.indices {
                leg.media[index].numbering = numbering
                for place in leg.media[index].codecs.indices {
                    leg.media[index].codecs[place].payloadType = numbering.onLeg(
                        leg.media[index].codecs[place].payloadType)
                }
            }
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        return rig
    }

    @Test func `audio is relayed, under the number that each side knows`() throws {
        var rig = try Self.rig()
        #expect(rig.audio(1).packet?.payloadType == 114)
        #expect(rig.audio(1, ssrc: 2001, payloadType: 114, from: .b).packet?.payloadType == 111)
        #expect(rig.audio(2, ssrc: 2001, payloadType: 111, from: .b) == .dropped(.unknownPayloadType))
    }

    @Test func `telephone events are relayed beside it`() throws {
        var rig = try Self.rig()
        _ = rig.audio(1)
        #expect(rig.audio(2, payloadType: BridgeRig.telephoneEvent).packet?.payloadType == BridgeRig.telephoneEvent)
    }

    @Test func `video and its retransmissions are not mixed up although their numbers change places`() throws {
        var rig = try Self.rig()
        #expect(rig.video(1).packet?.payloadType == 97)
        #expect(rig.video(1, ssrc: 2002, payloadType: 97, from: .b).packet?.payloadType == 96)
        #expect(rig.retransmission(1, of: 1).packet?.payloadType == 96)
        #expect(rig.retransmission(1, of: 1, ssrc: 2003, payloadType: 96, from: .b).packet?.payloadType == 97)
    }

    // MARK: Legs that were negotiated apart

    /// Two legs with these video formats, which know nothing of each other's numbers.
    private static func strangers(_ a: [(Int, String, String?)], _ b: [(Int, String, String?)]) throws -> BridgeRig {
        func codecs(_ formats: [(Int, String, String?)]) throws -> [Codec] {
            try formats.map {
                Codec(payloadType: try #require(PayloadType($0.0)), name: $0.1, clockRate: 90_000, parameters: $0.2)
            }
        }
        let (first, second) = (try codecs(a), try codecs(b))
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { $0.media[1].codecs = first }
        rig.configure(.b) { $0.media[1].codecs = second }
        for side in LegIndex.allCases { rig.peerReady(side) }
        return rig
    }

    @Test func `a format is found by what it is, and its retransmissions by what they repair`() throws {
        var rig = try Self.strangers(
            [(96, "VP8", nil), (97, "rtx", "apt=96"), (98, "VP9", "profile-id=0"), (99, "rtx", "apt=98")],
            [(98, "vp8", nil), (99, "rtx", "apt=98"), (96, "VP9", nil), (97, "rtx", "apt=96")])
        #expect(rig.video(1, payloadType: 96).packet?.payloadType == 98)
        #expect(rig.retransmission(1, of: 1, payloadType: 97).packet?.payloadType == 99)
        #expect(rig.video(2, payloadType: 98).packet?.payloadType == 96)
        #expect(rig.video(1, ssrc: 2002, payloadType: 98, from: .b).packet?.payloadType == 96)
    }

    @Test func `profiles are formats of their own, levels are not`() throws {
        var rig = try Self.strangers(
            [
                (100, "H264", "profile-level-id=42e01f;packetization-mode=1"),
                (101, "H264", "packetization-mode=0;profile-level-id=42e01f"),
            ],
            [
                (100, "H264", "profile-level-id=640c1f;packetization-mode=1"), (101, "H264", "profile-level-id=42e01f"),
                (102, "H264", "packetization-mode=1;profile-level-id=42E034"),
            ])
        #expect(rig.video(1, payloadType: 100).packet?.payloadType == 102)
        #expect(rig.video(2, payloadType: 101).packet?.payloadType == 101)
    }

    @Test func `what only one of them knows is dropped`() throws {
        var rig = try Self.strangers([(96, "VP8", nil), (98, "VP9", nil)], [(120, "VP8", nil)])
        #expect(rig.video(1, payloadType: 96).packet?.payloadType == 120)
        #expect(rig.video(2, payloadType: 98) == .dropped(.unknownPayloadType))
    }

    @Test func `redundancy passes only if the numbers inside it are right on the other side`() throws {
        func rig(_ inner: Int) throws -> BridgeRig {
            let opus = try #require(PayloadType(inner))
            let red = try #require(PayloadType(63))
            var rig = BridgeRig(ready: false)
            for (side, number) in [(LegIndex.a, try #require(PayloadType(111))), (.b, opus)] {
                rig.configure(side) { leg in
                    leg.media[0].codecs = [
                        Codec(payloadType: number, name: "opus", clockRate: 48_000, channels: 2),
                        Codec(
                            payloadType: red, name: "red", clockRate: 48_000, channels: 2,
                            parameters: "\(number.rawValue)/\(number.rawValue)"),
                    ]
                }
            }
            for side in LegIndex.allCases { rig.peerReady(side) }
            return rig
        }
        var same = try rig(111)
        #expect(same.audio(1, payloadType: 63).packet?.payloadType == 63)
        var other = try rig(114)
        #expect(other.audio(1).packet?.payloadType == 114)
        #expect(other.audio(2, payloadType: 63) == .dropped(.unknownPayloadType))
    }
}
