import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

@Suite struct BridgePropertyTests {
    /// A packet of a simulated source, told from all others by its payload.
    private struct Sample {
        var ssrc: UInt32
        var number: UInt16
        var timestamp: UInt32
        var id: UInt32

        var bytes: [UInt8] {
            let payload = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> $0) }
            return BridgeRig.packet(
                ssrc: ssrc, number, timestamp: timestamp, payloadType: BridgeRig.vp8, payload: payload)
        }
    }

    /// Sources one after the other, each with its own numbers, some wrapping; packets are lost, doubled and overtake
    /// each other.
    private static func journey(_ random: inout SeededRandomSource) -> [Sample] {
        var samples: [Sample] = []
        for source in 0..<6 as Range<UInt32> {
            let (number, timestamp) = (
                UInt16.random(in: 0...65535, using: &random), UInt32.random(in: 0...UInt32.max, using: &random)
            )
            for step in 0..<Int.random(in: 1...600, using: &random) {
                samples.append(
                    Sample(
                        ssrc: 100 + source, number: number &+ UInt16(step), timestamp: timestamp &+ UInt32(step) &* 960,
                        id: UInt32(samples.count)))
            }
        }
        samples.removeAll { _ in UInt8.random(in: 0...9, using: &random) == 0 }
        samples = samples.flatMap { sample in
            UInt8.random(in: 0...19, using: &random) == 0 ? [sample, sample] : [sample]
        }
        for _ in 0..<samples.count / 5 {
            let index = Int.random(in: 0..<samples.count, using: &random)
            let other = min(samples.count - 1, index + Int.random(in: 0...8, using: &random))
            samples.swapAt(index, other)
        }
        return samples
    }

    @Test(arguments: Array(1...40) as [UInt64])
    func `outgoing numbers never repeat for different packets, and gaps are the source's gaps`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var rig = BridgeRig(seed: seed)
        var packetWithNumber: [UInt16: UInt32] = [:]
        var offsets: [UInt32: (number: UInt16, timestamp: UInt32)] = [:]
        var highest: SequenceNumber?
        for sample in Self.journey(&random) {
            rig.advance(by: .milliseconds(20))
            guard let packet = rig.send(sample.bytes, from: .a).packet else { continue }
            #expect(packet.ssrc == 0xB1)

            if let known = packetWithNumber[packet.sequenceNumber] { #expect(known == sample.id) }
            packetWithNumber[packet.sequenceNumber] = sample.id

            // The offset of a source is constant, hence gaps and reordering are the source's.
            let number = packet.sequenceNumber &- sample.number
            let timestamp = packet.timestamp &- sample.timestamp
            if let offset = offsets[sample.ssrc] {
                #expect(offset == (number, timestamp))
            } else {
                if let highest {
                    #expect(SequenceNumber(packet.sequenceNumber) == highest + 1, "a new source goes on by one")
                }
                offsets[sample.ssrc] = (number, timestamp)
            }
            let outgoing = SequenceNumber(packet.sequenceNumber)
            highest = highest.map { outgoing.isNewer(than: $0) ? outgoing : $0 } ?? outgoing

            // What the receiver asks for again comes as it came.
            if UInt8.random(in: 0...30, using: &random) == 0 {
                rig.reportLost([packet.sequenceNumber])
                #expect(rig.repetitions(to: .b) == [packet])
            }
        }
        #expect(offsets.count >= 2)
    }

    @Test(arguments: [1, 2, 3, 4, 5, 6] as [UInt64])
    func `whatever peers send, the bridge does not trap`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var configuration = Bridge.Configuration()
        configuration.maximumLearnedSources = 3
        var rig = BridgeRig(seed: seed, configuration: configuration)
        let ssrcs: [UInt32] = [1001, 1002, 1003, 2001, 2002, 2003, 0xA0, 0xA1, 0xA2, 0xB0, 0xB1, 0xB2, 7, 8, 9, 10, 11]
        for _ in 0..<4000 {
            let side: LegIndex = random.next() & 1 == 0 ? .a : .b
            let ssrc = ssrcs[Int.random(in: 0..<ssrcs.count, using: &random)]
            let number = SequenceNumber(UInt16.random(in: 0...65535, using: &random))
            switch random.next() % 12 {
            case 0...4:
                let payloadType = [BridgeRig.opus, BridgeRig.vp8, BridgeRig.rtx, BridgeRig.telephoneEvent, 0][
                    Int(random.next() % 5)]
                let mid = [nil, "0", "1", "2"][Int(random.next() % 4)]
                var bytes = BridgeRig.packet(
                    ssrc: ssrc, number.rawValue % 64, timestamp: random.nextUInt32(), payloadType: payloadType,
                    mid: mid,
                    payload: random.nextBytes(Int(random.next() % 6)))
                if random.next() % 8 == 0 {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
                _ = rig.send(bytes, from: side)
            case 5:
                let block = ReportBlock(
                    ssrc: SSRC(ssrc), lastSenderReport: random.nextUInt32(), delaySinceLastSenderReport: .max)
                rig.receive(
                    .senderReport(
                        SenderReport(
                            ssrc: SSRC(ssrc), ntp: NTPTimestamp(random.next()),
                            timestamp: RTPTimestamp(random.nextUInt32()),
                            packetCount: .max, octetCount: .max, blocks: [block])), from: side)
            case 6:
                rig.receive(
                    .genericNACK(GenericNACK(sender: SSRC(9), media: SSRC(ssrc), lost: [number, number + 3])),
                    from: side)
            case 7:
                rig.receive(
                    .pictureLossIndication(.init(sender: SSRC(9), media: SSRC(ssrc))), .goodbye(Goodbye([SSRC(ssrc)])),
                    from: side)
            case 8:
                rig.receive(
                    .fullIntraRequest(.init(sender: SSRC(9), entries: [.init(ssrc: SSRC(ssrc), commandNumber: 1)])),
                    .estimatedMaximumBitrate(
                        .init(sender: SSRC(9), bitsPerSecond: random.next(), sources: [SSRC(ssrc)])), from: side)
            case 9:
                rig.bridge.receiveControl(random.nextBytes(24).span, from: side, at: rig.clock.now)
                rig.collect()
            case 10: rig.advance(by: .milliseconds(Int.random(in: 0...3000, using: &random)))
            default:
                rig.configure(side) { leg in
                    leg.media[0].direction = [.sendReceive, .sendOnly, .inactive][Int(random.next() % 3)]
                    leg.media[1].isRejected = random.next() & 1 == 0
                    if random.next() & 1 == 0 { leg.media.removeLast() }
                }
            }
            _ = rig.bridge.statistics(of: side)
        }
    }
}
