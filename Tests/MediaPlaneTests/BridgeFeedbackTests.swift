import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

@Suite struct BridgeFeedbackTests {
    private static func counts(_ rig: BridgeRig, _ side: LegIndex) -> [ControlDropReason] {
        let drops = rig.bridge.statistics(of: side).controlDrops
        return ControlDropReason.allCases.filter { drops[$0] > 0 }
    }

    private static func pli(_ media: UInt32) -> RTCPPacket {
        .pictureLossIndication(.init(sender: SSRC(9), media: SSRC(media)))
    }

    // MARK: NACK

    @Test(
        arguments: [
            // Peer b saw n - 1, which was 65533. Of n, n + 1, …, which were 65534, 65535, 0, …, those that are asked
            // for never came.
            ([0], [65534]), ([1, 2, 3], [65535, 0, 1]), ([0, 17, 18], [65534, 15, 16]),
            // Never sent, or before the first.
            ([20], []), ([3, 100], [1]), ([-100, 2], [0]),
        ] as [([Int], [UInt16])])
    func `a NACK of what never came asks the source in its own numbers`(_ asked: [Int], _ expected: [UInt16]) throws {
        var rig = BridgeRig()
        let first = try #require(rig.video(65533).packet)
        for offset in 0...19 where !expected.contains(65534 &+ UInt16(offset)) {
            _ = rig.video(65534 &+ UInt16(offset))
        }
        let lost = asked.map { SequenceNumber(first.sequenceNumber) + 1 + $0 }
        rig.receive(.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: lost)), from: .b)
        let translated = GenericNACK(sender: SSRC(0xA1), media: SSRC(1002), lost: expected.map(SequenceNumber.init))
        #expect(rig.feedback(to: .a) == (expected.isEmpty ? [] : [.genericNACK(translated)]))
        let untranslatable = rig.bridge.statistics(of: .b).controlDrops[.untranslatable]
        #expect(untranslatable == UInt64(asked.count - expected.count))
    }

    @Test func `a NACK of the retransmission stream goes to the retransmission source`() throws {
        var rig = BridgeRig()
        _ = rig.video(5)
        let packet = try #require(rig.retransmission(40, of: 5).packet)
        rig.receive(
            .genericNACK(
                GenericNACK(sender: SSRC(9), media: SSRC(0xB2), lost: [SequenceNumber(packet.sequenceNumber)])),
            from: .b)
        #expect(
            rig.feedback(to: .a) == [
                .genericNACK(GenericNACK(sender: SSRC(0xA1), media: SSRC(1003), lost: [SequenceNumber(40)]))
            ])
    }

    @Test func `a NACK that would not fit a datagram is cut`() {
        var rig = BridgeRig()
        let first = rig.video(0).packet?.sequenceNumber ?? 0
        for number in 1...5201 as ClosedRange<UInt16> where !number.isMultiple(of: 20) { _ = rig.video(number) }
        let lost = (1...260).map { SequenceNumber(first) + 20 * $0 }
        rig.receive(.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: lost)), from: .b)
        guard case .genericNACK(let nack)? = rig.feedback(to: .a).first else {
            Issue.record("no NACK was sent")
            return
        }
        #expect(nack.entries.count == 250)
        #expect(rig.bridge.statistics(of: .b).controlDrops[.untranslatable] == 10)
    }

    @Test func `what a compound asks of one source goes on in one datagram, each packet once`() {
        var rig = BridgeRig()
        let first = SequenceNumber(rig.video(10).packet?.sequenceNumber ?? 0)
        for number in 11...40 as ClosedRange<UInt16> where ![14, 18, 22].contains(number) { _ = rig.video(number) }
        var packets: [RTCPPacket] = [.receiverReport(ReceiverReport(ssrc: SSRC(9)))]
        for round in 0..<60 {
            packets.append(
                .genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: [first + 4 * (1 + round % 3)])))
        }
        rig.bridge.receiveControl(RTCPCompound(packets).bytes.span, from: .b, at: rig.clock.now)
        rig.collect()
        let expected = GenericNACK(sender: SSRC(0xA1), media: SSRC(1002), lost: [14, 18, 22].map(SequenceNumber.init))
        #expect(rig.feedback(to: .a) == [.genericNACK(expected)])
    }

    @Test func `a storm of NACKs ends at a hundred a second, and nobody else's are kept back`() {
        var rig = BridgeRig()
        let number = SequenceNumber(rig.video(10).packet?.sequenceNumber ?? 0) + 1
        _ = rig.video(12)
        let other = [10, 12].map {
            rig.send(BridgeRig.packet(ssrc: 2002, $0, payloadType: BridgeRig.vp8), from: .b).packet?.sequenceNumber
        }
        let back = SequenceNumber(other[0] ?? 0) + 1
        let nack = RTCPPacket.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: [number]))
        var sent = 0
        // A thousand a second, for two seconds.
        for _ in 0..<2_000 {
            rig.receive(nack, from: .b)
            sent += rig.feedback(to: .a).count
            rig.clock.advance(by: .milliseconds(1))
        }
        #expect((200...221).contains(sent))
        #expect(rig.bridge.statistics(of: .b).controlDrops[.rateLimited] == UInt64(2_000 - sent))
        rig.receive(.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xA1), lost: [back])), from: .a)
        #expect(rig.feedback(to: .b).count == 1)
    }

    @Test func `a peer that asks as often as libwebrtc does under loss is never kept back`() {
        var rig = BridgeRig()
        let first = SequenceNumber(rig.video(0).packet?.sequenceNumber ?? 0)
        for number in 1...500 as ClosedRange<UInt16> where number.isMultiple(of: 2) { _ = rig.video(number) }
        // Every 20 ms for what is new, and for what is still missing.
        for step in 0..<200 {
            rig.receive(
                .genericNACK(
                    GenericNACK(
                        sender: SSRC(9), media: SSRC(0xB1), lost: [first + (2 * step + 1), first + (2 * step + 31)])),
                from: .b)
            #expect(rig.feedback(to: .a).count == 1)
            rig.clock.advance(by: .milliseconds(20))
        }
    }

    @Test func `a storm of estimates ends at ten a second`() {
        var rig = BridgeRig()
        _ = rig.video(1)
        var sent = 0
        for rate in 0..<1_000 as Range<UInt64> {
            let estimate = EstimatedMaximumBitrate(
                sender: SSRC(9), bitsPerSecond: 1_000_000 + rate * 1_000, sources: [SSRC(0xB1)])
            rig.receive(.estimatedMaximumBitrate(estimate), from: .b)
            sent += rig.feedback(to: .a).count
            rig.clock.advance(by: .milliseconds(2))
        }
        #expect((20...25).contains(sent))
        #expect(rig.bridge.statistics(of: .b).controlDrops[.rateLimited] == UInt64(1_000 - sent))
    }

    // MARK: Key frames

    @Test func `a PLI asks the source, at most every 200 ms`() {
        var rig = BridgeRig()
        _ = rig.video(1)
        let expected = RTCPPacket.pictureLossIndication(.init(sender: SSRC(0xA1), media: SSRC(1002)))
        rig.receive(Self.pli(0xB1), from: .b)
        rig.clock.advance(by: .milliseconds(199))
        rig.receive(Self.pli(0xB1), from: .b)
        #expect(rig.feedback(to: .a) == [expected])
        #expect(rig.bridge.statistics(of: .b).controlDrops[.rateLimited] == 1)
        rig.clock.advance(by: .milliseconds(1))
        rig.receive(Self.pli(0xB1), from: .b)
        #expect(rig.feedback(to: .a) == [expected])
    }

    @Test func `FIR counts its commands and keeps the number of a repetition`() {
        var rig = BridgeRig()
        _ = rig.video(1)
        let numbers = [7, 7, 8, 8, 9].map { (number: UInt8) -> UInt8? in
            rig.receive(
                .fullIntraRequest(.init(sender: SSRC(9), entries: [.init(ssrc: SSRC(0xB1), commandNumber: number)])),
                from: .b)
            rig.clock.advance(by: .seconds(1))
            guard case .fullIntraRequest(let request)? = rig.feedback(to: .a).first else { return nil }
            #expect(request.sender == SSRC(0xA1))
            #expect(request.entries.map(\.ssrc) == [SSRC(1002)])
            return request.entries.first?.commandNumber
        }
        #expect(numbers == [1, 1, 2, 2, 3])
    }

    @Test(arguments: [
        (["nack pli"], true, true), (["ccm fir"], false, false), (["nack pli", "ccm fir"], true, false),
    ])
    func `a request takes the form that the source's peer negotiated`(
        _ feedback: [String], _ pliBecomesPLI: Bool, _ firBecomesPLI: Bool
    ) {
        for (request, staysPLI) in [
            (Self.pli(0xB1), pliBecomesPLI),
            (
                .fullIntraRequest(.init(sender: SSRC(9), entries: [.init(ssrc: SSRC(0xB1), commandNumber: 1)])),
                firBecomesPLI
            ),
        ] {
            var rig = BridgeRig()
            rig.configure(.a) { $0.media[1].codecs[0].feedback = feedback }
            _ = rig.video(1)
            rig.receive(request, from: .b)
            guard let sent = rig.feedback(to: .a).first else {
                Issue.record("nothing was sent")
                continue
            }
            if case .pictureLossIndication = sent { #expect(staysPLI) } else { #expect(!staysPLI) }
        }
    }

    @Test func `video under way starts with a key frame when the peer gets ready`() {
        var rig = BridgeRig(ready: false)
        rig.configure(.a)
        rig.configure(.b)
        rig.peerReady(.a)
        _ = rig.video(1)
        #expect(rig.feedback(to: .a).isEmpty)
        rig.peerReady(.b)
        #expect(rig.feedback(to: .a) == [.pictureLossIndication(.init(sender: SSRC(0xA1), media: SSRC(1002)))])
        #expect(rig.feedback(to: .b).isEmpty)
    }

    @Test func `video that is resumed starts with a key frame`() {
        var rig = BridgeRig()
        rig.configure(.b) { $0.media[1].direction = .receiveOnly }
        _ = rig.video(1)
        rig.configure(.b)
        #expect(rig.feedback(to: .a) == [.pictureLossIndication(.init(sender: SSRC(0xA1), media: SSRC(1002)))])
    }

    // MARK: REMB

    @Test func `REMB names the sources`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        _ = rig.video(1)
        let estimate = EstimatedMaximumBitrate(
            sender: SSRC(9), bitsPerSecond: 1_000_000, sources: [SSRC(0xB1), SSRC(0xB0), SSRC(0xB2), SSRC(77)])
        rig.receive(.estimatedMaximumBitrate(estimate), from: .b)
        let translated = EstimatedMaximumBitrate(
            sender: SSRC(0xA1), bitsPerSecond: 1_000_000, sources: [SSRC(1002), SSRC(1001)])
        #expect(rig.feedback(to: .a) == [.estimatedMaximumBitrate(translated)])
        #expect(Self.counts(rig, .b) == [.unknownSource])
    }

    // MARK: What goes nowhere

    @Test(
        arguments: [
            (pli(77), .unknownSource),
            // The gateway's SSRC towards the other peer is nobody's here.
            (pli(0xA1), .unknownSource),
            (.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(77), lost: [SequenceNumber(1)])), .unknownSource),
            (
                .fullIntraRequest(.init(sender: SSRC(9), entries: [.init(ssrc: SSRC(77), commandNumber: 1)])),
                .unknownSource
            ),
            (.receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [ReportBlock(ssrc: SSRC(77))])), .unknownSource),
            (
                .senderReport(
                    SenderReport(ssrc: SSRC(77), ntp: .init(1), timestamp: .init(1), packetCount: 0, octetCount: 0)),
                .unknownSource
            ),
            (.goodbye(Goodbye([SSRC(77)])), .unknownSource),
            // Nothing heard of the source yet.
            (pli(0xB1), .noSource),
            (.genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: [SequenceNumber(1)])), .noSource),
            (.estimatedMaximumBitrate(.init(sender: SSRC(9), bitsPerSecond: 1, sources: [SSRC(0xB1)])), .noSource),
            // Audio takes no key frame requests.
            (pli(0xB0), .notNegotiated),
        ] as [(RTCPPacket, ControlDropReason)])
    func `feedback for nobody is counted`(_ packet: RTCPPacket, _ reason: ControlDropReason) {
        var rig = BridgeRig()
        rig.receive(packet, from: .b)
        #expect(rig.compounds(to: .a).isEmpty)
        #expect(Self.counts(rig, .b) == [reason])
    }

    @Test func `feedback that the source's peer did not negotiate is not sent`() {
        var rig = BridgeRig()
        rig.configure(.a) { $0.media[1].codecs[0].feedback = [] }
        let number = rig.video(1).packet?.sequenceNumber ?? 0
        _ = rig.video(3)
        rig.receive(
            Self.pli(0xB1),
            .genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: [SequenceNumber(number) + 1])),
            .estimatedMaximumBitrate(.init(sender: SSRC(9), bitsPerSecond: 1, sources: [SSRC(0xB1)])), from: .b)
        #expect(rig.compounds(to: .a).isEmpty)
        #expect(rig.bridge.statistics(of: .b).controlDrops[.notNegotiated] == 3)
    }

    @Test(
        arguments: [
            ([1, 2, 3], .malformed), ([0x80, 204, 0, 2, 0, 0, 0, 1, 0x61, 0x62, 0x63, 0x64], .ignored),
            ([0x8B, 205, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0xB1], .ignored),
        ] as [([UInt8], ControlDropReason)])
    func `RTCP without use is counted`(_ bytes: [UInt8], _ reason: ControlDropReason) {
        var rig = BridgeRig()
        rig.bridge.receiveControl(bytes.span, from: .b, at: rig.clock.now)
        #expect(Self.counts(rig, .b) == [reason])
    }

    @Test func `feedback travels in a whole compound with the gateway's name`() {
        var rig = BridgeRig()
        _ = rig.video(1)
        rig.receive(Self.pli(0xB1), from: .b)
        #expect(
            rig.compounds(to: .a).map(\.packets) == [
                [
                    .receiverReport(ReceiverReport(ssrc: SSRC(0xA1))),
                    .sourceDescription(SourceDescription([.init(ssrc: SSRC(0xA1), cname: "cname")])),
                    .pictureLossIndication(.init(sender: SSRC(0xA1), media: SSRC(1002))),
                ]
            ])
    }
}
