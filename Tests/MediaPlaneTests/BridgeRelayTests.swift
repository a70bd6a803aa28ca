import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

@Suite struct BridgeRelayTests {
    @Test func `a packet leaves with the gateway's SSRC and otherwise as it came`() throws {
        var rig = BridgeRig()
        let first = try #require(rig.audio(7, timestamp: 480, marker: true).packet)
        #expect(first.ssrc == 0xB0)
        #expect(first.payloadType == BridgeRig.opus)
        #expect(first.payload == [1, 2, 3, 4])
        #expect(first.marker)
        let second = try #require(rig.audio(8, timestamp: 1440).packet)
        #expect(second.sequenceNumber == first.sequenceNumber &+ 1)
        #expect(second.timestamp == first.timestamp &+ 960)
        #expect(!second.marker)

        // The other way and the other m-line are streams of their own.
        #expect(rig.audio(1, ssrc: 2001, from: .b).packet?.ssrc == 0xA0)
        #expect(rig.video(1).packet?.ssrc == 0xB1)
        #expect(rig.video(1, ssrc: 2002, from: .b).packet?.ssrc == 0xA1)
    }

    @Test func `the first number and timestamp differ from call to call`() throws {
        var seen: Set<[UInt32]> = []
        for seed in 1...20 as ClosedRange<UInt64> {
            var rig = BridgeRig(seed: seed)
            let packet = try #require(rig.audio(0).packet)
            seen.insert([UInt32(packet.sequenceNumber), packet.timestamp])
        }
        #expect(seen.count == 20)
    }

    @Test func `loss and reordering show through`() throws {
        var rig = BridgeRig()
        let first = try #require(rig.audio(65534).packet).sequenceNumber
        let rest = [0, 65535, 4, 1].map { rig.audio($0).packet?.sequenceNumber }
        #expect(rest == [first &+ 2, first &+ 1, first &+ 6, first &+ 3])
    }

    // MARK: Another source

    @Test func `a new source goes on by one number and by the time that went by`() throws {
        var rig = BridgeRig()
        _ = rig.audio(100, timestamp: 5000)
        let last = try #require(rig.audio(101, timestamp: 5960).packet)
        rig.clock.advance(by: .milliseconds(60))
        let next = try #require(rig.audio(9, timestamp: 77, ssrc: 5000).packet)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(next.timestamp == last.timestamp &+ 2880)
        #expect(next.marker, "a talk spurt begins")
        #expect(next.ssrc == last.ssrc)
        let after = try #require(rig.audio(10, timestamp: 77 + 960, ssrc: 5000).packet)
        #expect(after.sequenceNumber == next.sequenceNumber &+ 1)
        #expect(after.timestamp == next.timestamp &+ 960)
        #expect(!after.marker)
    }

    @Test func `video keeps its marker across a switch`() {
        var rig = BridgeRig()
        _ = rig.video(1)
        #expect(rig.send(BridgeRig.packet(ssrc: 6000, 1, payloadType: BridgeRig.vp8), from: .a).packet?.marker == false)
    }

    @Test func `packets from before a switch are dropped`() {
        var rig = BridgeRig()
        _ = rig.audio(100)
        _ = rig.audio(9, ssrc: 5000)
        #expect(rig.audio(8, ssrc: 5000) == .dropped(.tooOld))
        #expect(rig.audio(101) == .dropped(.superseded))
        #expect(rig.bridge.statistics(of: .a).drops[.superseded] == 1)
        #expect(rig.bridge.statistics(of: .a).drops[.tooOld] == 1)
    }

    @Test func `a replaced source comes back once its replacement is silent, and video then needs a key frame`() throws
    {
        var rig = BridgeRig()
        _ = rig.video(1)
        let last = try #require(rig.video(1, ssrc: 6000).packet)
        rig.clock.advance(by: .milliseconds(199))
        #expect(rig.video(2) == .dropped(.superseded))
        #expect(rig.feedback(to: .a).isEmpty)
        rig.clock.advance(by: .milliseconds(1))
        #expect(rig.video(3).packet?.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(rig.feedback(to: .a) == [.pictureLossIndication(.init(sender: SSRC(0xA1), media: SSRC(1002)))])
    }

    @Test func `a source that said goodbye gives way at once`() throws {
        var rig = BridgeRig()
        _ = rig.audio(1)
        let last = try #require(rig.audio(1, ssrc: 5000).packet)
        rig.receive(.goodbye(Goodbye([SSRC(5000)])), from: .a)
        #expect(rig.audio(2).packet?.sequenceNumber == last.sequenceNumber &+ 1)
    }

    @Test func `a jump of the sequence number is believed at the second packet`() throws {
        var rig = BridgeRig()
        let last = try #require(rig.audio(100).packet)
        #expect(rig.audio(20000) == .dropped(.sequenceJump))
        #expect(rig.audio(20001).packet?.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(rig.audio(20002).packet?.sequenceNumber == last.sequenceNumber &+ 2)
    }

    // MARK: Retransmission

    @Test func `a retransmission names the original's outgoing number and has its timestamp`() throws {
        var rig = BridgeRig()
        let original = try #require(rig.video(65535, timestamp: 3000).packet)
        _ = rig.video(1, timestamp: 3000)
        let repeated = try #require(rig.retransmission(40, of: 65535, timestamp: 3000).packet)
        #expect(repeated.ssrc == 0xB2)
        #expect(repeated.payloadType == BridgeRig.rtx)
        #expect(repeated.payload == [UInt8(original.sequenceNumber >> 8), UInt8(original.sequenceNumber & 0xFF), 9])
        #expect(repeated.timestamp == original.timestamp)
        // The one that was lost on its way to the gateway has a place too.
        let lost = try #require(rig.retransmission(41, of: 0, timestamp: 3000).packet)
        let number = original.sequenceNumber &+ 1
        #expect(lost.payload == [UInt8(number >> 8), UInt8(number & 0xFF), 9])
        #expect(lost.sequenceNumber == repeated.sequenceNumber &+ 1)
    }

    @Test func `a retransmission of what was never relayed is dropped`() {
        var rig = BridgeRig()
        #expect(rig.retransmission(1, of: 5) == .dropped(.staleRetransmission))
        _ = rig.video(100)
        #expect(rig.retransmission(2, of: 20) == .dropped(.staleRetransmission))
        #expect(rig.retransmission(4, of: 100 + 3000) == .dropped(.staleRetransmission))
        // Another source feeds the stream now: its numbers mean something else.
        _ = rig.video(500, ssrc: 6000)
        #expect(rig.retransmission(5, of: 100) == .dropped(.staleRetransmission))
    }

    @Test func `a probe of padding only goes through`() {
        var rig = BridgeRig()
        _ = rig.video(100)
        var probe = BridgeRig.packet(ssrc: 1003, 1, payloadType: BridgeRig.rtx, payload: [0, 0, 0, 4])
        probe[0] |= 0x20
        #expect(rig.send(probe, from: .a).packet?.payload == [])
    }

    @Test func `a peer without retransmission gets none`() {
        var rig = BridgeRig()
        rig.configure(.b) { $0.media[1].localRetransmissionSSRC = nil }
        _ = rig.video(100)
        #expect(rig.retransmission(1, of: 100) == .dropped(.noRetransmission))
    }

    // MARK: What keeps packets from flowing

    @Test func `nothing flows before both legs are there`() {
        var rig = BridgeRig(ready: false)
        #expect(rig.audio(1) == .dropped(.notConfigured))
        rig.configure(.a)
        #expect(rig.audio(2) == .dropped(.noCounterpart))
        rig.configure(.b)
        #expect(rig.audio(3) == .dropped(.peerNotReady))
        rig.peerReady(.b)
        #expect(rig.audio(4).packet != nil)
    }

    @Test(
        arguments: [
            (.sendReceive, .sendReceive, nil), (.receiveOnly, .sendOnly, nil),
            (.sendOnly, .sendReceive, .directionForbids),
            (.sendReceive, .receiveOnly, .directionForbids), (.inactive, .sendReceive, .directionForbids),
            (.sendReceive, .inactive, .directionForbids),
        ] as [(MediaDirection, MediaDirection, DropReason?)])
    func `directions decide`(_ onA: MediaDirection, _ onB: MediaDirection, _ reason: DropReason?) {
        var rig = BridgeRig()
        rig.configure(.a) { $0.media[0].direction = onA }
        rig.configure(.b) { $0.media[0].direction = onB }
        switch rig.audio(1) {
        case .relayed: #expect(reason == nil)
        case .dropped(let actual): #expect(actual == reason)
        }
    }

    @Test func `a pause leaves no gap`() throws {
        var rig = BridgeRig()
        let last = try #require(rig.audio(100, timestamp: 0).packet)
        rig.configure(.a) { $0.media[0].direction = .sendOnly }
        for number in 101...150 as ClosedRange<UInt16> {
            rig.clock.advance(by: .milliseconds(20))
            #expect(rig.audio(number, timestamp: UInt32(number - 100) * 960) == .dropped(.directionForbids))
        }
        rig.configure(.a)
        rig.clock.advance(by: .milliseconds(20))
        let next = try #require(rig.audio(151, timestamp: 51 * 960).packet)
        #expect(next.sequenceNumber == last.sequenceNumber &+ 1)
        #expect(next.timestamp == last.timestamp &+ 51 * 960)
    }

    @Test func `a rejected m-line carries nothing`() {
        var rig = BridgeRig()
        rig.configure(.a) { $0.media[1].isRejected = true }
        #expect(rig.video(1) == .dropped(.unknownPayloadType))
        #expect(rig.video(1, ssrc: 2002, from: .b) == .dropped(.directionForbids))
        #expect(rig.audio(1).packet != nil)
    }

    @Test func `after the end nothing flows and both peers hear goodbye`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        rig.bridge.end(at: rig.clock.now)
        rig.collect()
        #expect(rig.feedback(to: .a) == [.goodbye(Goodbye([SSRC(0xA0), SSRC(0xA1), SSRC(0xA2)]))])
        #expect(rig.feedback(to: .b) == [.goodbye(Goodbye([SSRC(0xB0), SSRC(0xB1), SSRC(0xB2)]))])
        #expect(rig.audio(2) == .dropped(.ended))
        #expect(rig.bridge.nextDeadline == nil)
        rig.receive(.pictureLossIndication(.init(sender: SSRC(9), media: SSRC(0xB1))), from: .b)
        rig.peerReady(.a)
        #expect(rig.compounds(to: .a).isEmpty)
    }

    @Test func `bytes that are no packet are dropped and counted`() {
        var rig = BridgeRig()
        #expect(rig.send([0x80, 0], from: .a) == .dropped(.malformed))
        #expect(rig.send([], from: .a) == .dropped(.malformed))
        #expect(rig.bridge.statistics(of: .a).drops[.malformed] == 2)
        #expect(rig.bridge.statistics(of: .a).drops.total == 2)
    }
}
