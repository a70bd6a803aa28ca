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
                    leg.media[index].codecs[place].payloadType = numbering.onLeg(leg.media[index].codecs[place].payloadType)
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
}
