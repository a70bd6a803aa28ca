import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Lost packets of video that come again over rtx (RFC 4588), in each format that browsers send, with all of them side
/// by side on the m-line.
@Suite struct BridgeRepairTests {
    /// A format and the beginning of its payloads.
    struct Format: Sendable, CustomTestStringConvertible {
        var name: String
        var parameters: String?
        /// A packet in the middle of a picture that builds on others.
        var payload: [UInt8]
        /// The beginning of a key frame.
        var keyFrame: [UInt8]

        var testDescription: String { [name, parameters].compactMap(\.self).joined(separator: " ") }

        static let all = [
            Format(name: "VP8", payload: [0x00, 0x9D, 1], keyFrame: [0x10, 0x00, 1]),
            // Without and with picture numbers (RFC 9628 §4.2).
            Format(
                name: "VP9", parameters: "profile-id=0", payload: [0xC0, 0x92, 0x34, 7],
                keyFrame: [0x88, 0x92, 0x34, 7]),
            Format(name: "VP9", parameters: "profile-id=2", payload: [0x40, 7], keyFrame: [0x08, 7]),
            // A single unit, and a fragment of one (RFC 6184 §5.6, §5.8).
            Format(
                name: "H264", parameters: "level-asymmetry-allowed=1;packetization-mode=0;profile-level-id=42e01f",
                payload: [0x41, 7],
                keyFrame: [0x65, 7]),
            Format(
                name: "H264", parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f",
                payload: [0x7C, 0x01, 7],
                keyFrame: [0x7C, 0x85, 7]),
            Format(
                name: "H264", parameters: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=640c1f",
                payload: [0x5C, 0x41, 7],
                keyFrame: [0x7C, 0x85, 7]),
            Format(name: "AV1", payload: [0x10, 0x32, 7], keyFrame: [0x18, 0x0A, 7]),
        ]
    }

    /// All formats, each followed by its rtx, from this number on.
    private static func codecs(from first: Int) -> [Codec] {
        Format.all.enumerated().flatMap { index, format in
            let number = PayloadType(first + 2 * index)!
            let media = Codec(
                payloadType: number, name: format.name, clockRate: 90_000, parameters: format.parameters,
                feedback: ["nack", "nack pli"])
            let repair = Codec(
                payloadType: PayloadType(first + 2 * index + 1)!, name: "rtx", clockRate: 90_000,
                parameters: "apt=\(number.rawValue)")
            return [media, repair]
        }
    }

    private static func rig(_ firstOfReceiver: Int) -> BridgeRig {
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { $0.media[1].codecs = codecs(from: 96) }
        // In another order as well, as an answer may have it.
        rig.configure(.b) {
            $0.media[1].codecs = firstOfReceiver == 96 ? codecs(from: 96) : codecs(from: firstOfReceiver).reversed()
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        return rig
    }

    /// A picture each, 3,000 ticks from one number to the next.
    private static func timestamp(_ number: UInt16) -> UInt32 { 3_000 * UInt32(number &+ 100) }

    private static func media(_ number: UInt16, _ payloadType: Int, _ payload: [UInt8]) -> [UInt8] {
        BridgeRig.packet(ssrc: 1002, number, timestamp: timestamp(number), payloadType: payloadType, payload: payload)
    }

    /// Under the same numbers on both legs, and under others.
    @Test(arguments: Array(Format.all.indices), [96, 35])
    func `what a receiver misses is asked for and comes again under its own number, as it would have come`(
        _ index: Int, _ firstOfReceiver: Int
    ) throws {
        var rig = Self.rig(firstOfReceiver)
        let format = Format.all[index]
        let (sent, received) = (96 + 2 * index, firstOfReceiver + 2 * index)
        let before = try #require(rig.send(Self.media(65_534, sent, format.keyFrame), from: .a).packet)
        #expect(before.payloadType == received && before.payload == format.keyFrame)
        let after = try #require(rig.send(Self.media(0, sent, format.payload), from: .a).packet)
        let missed = before.sequenceNumber &+ 1
        #expect(after.sequenceNumber == missed &+ 1)

        rig.reportLost([missed])
        #expect(rig.repetitions(to: .b).isEmpty)
        let asked = GenericNACK(sender: SSRC(0xA1), media: SSRC(1002), lost: [SequenceNumber(65_535)])
        #expect(rig.feedback(to: .a) == [.genericNACK(asked)])

        let repair = BridgeRig.packet(
            ssrc: 1003, 7, timestamp: Self.timestamp(65_535), payloadType: sent + 1,
            payload: [0xFF, 0xFF] + format.payload)
        let repaired = try #require(rig.send(repair, from: .a).packet)
        #expect(repaired.ssrc == 0xB2 && repaired.payloadType == received + 1)
        #expect(repaired.payload == [UInt8(missed >> 8), UInt8(missed & 0xFF)] + format.payload)
        #expect(repaired.timestamp == after.timestamp &- 3_000)

        // The repair gets lost behind the gateway: the gateway has what it repeats, and repeats it by itself.
        rig.reportLost([missed])
        #expect(rig.feedback(to: .a).isEmpty)
        var again = repaired
        again.sequenceNumber &+= 1
        #expect(rig.repetitions(to: .b) == [again])
        let pictures = try #require(rig.bridge.statistics(of: .a).lines[1].pictures)
        #expect(pictures.keyFrames == 1, "what repairs is no picture of its own")
    }

    /// Under the same numbers on both legs, and under others.
    @Test(arguments: Array(Format.all.indices), [96, 35])
    func `what gets lost behind the gateway comes again from the gateway, and its sender hears nothing of it`(
        _ index: Int, _ firstOfReceiver: Int
    ) throws {
        var rig = Self.rig(firstOfReceiver)
        let format = Format.all[index]
        let (sent, received) = (96 + 2 * index, firstOfReceiver + 2 * index)
        _ = rig.send(Self.media(65_534, sent, format.keyFrame), from: .a)
        let lost = try #require(rig.send(Self.media(65_535, sent, format.payload), from: .a).packet)
        _ = rig.send(Self.media(0, sent, format.payload), from: .a)

        rig.reportLost([lost.sequenceNumber])
        let repetition = try #require(rig.repetitions(to: .b).first)
        #expect(
            repetition.ssrc == 0xB2 && repetition.payloadType == received + 1 && repetition.timestamp == lost.timestamp)
        #expect(
            repetition.payload == [UInt8(lost.sequenceNumber >> 8), UInt8(lost.sequenceNumber & 0xFF)] + format.payload)
        #expect(rig.feedback(to: .a).isEmpty)

        // What the sender repeats goes on behind it.
        let repair = BridgeRig.packet(
            ssrc: 1003, 7, timestamp: 0, payloadType: sent + 1, payload: [0xFF, 0xFF] + format.payload)
        #expect(rig.send(repair, from: .a).packet?.sequenceNumber == repetition.sequenceNumber &+ 1)
    }

    /// Firefox drops a retransmission stream until one of its packets has a mid.
    @Test(arguments: [nil, "1"])
    func `a retransmission has the receiver's mid, whether its sender has sent one or not`(_ sent: String?) throws {
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { $0.media[1].codecs = Self.codecs(from: 96) }
        rig.configure(.b) { ($0.media[1].codecs, $0.media[1].mid) = (Self.codecs(from: 96), "pictures") }
        for side in LegIndex.allCases { rig.peerReady(side) }
        let packet = BridgeRig.packet(ssrc: 1002, 1, payloadType: 96, mid: sent, payload: [0x10, 7])
        let lost = try #require(rig.send(packet, from: .a).packet)
        rig.reportLost([lost.sequenceNumber])
        let number = [UInt8(lost.sequenceNumber >> 8), UInt8(lost.sequenceNumber & 0xFF)]
        #expect(rig.repetitions(to: .b).map(\.payload) == [number + [0x10, 7]])
        #expect(rig.repeatedMids == ["pictures"])
    }

    @Test func `a receiver that takes no mids gets none`() throws {
        var rig = Self.rig(96)
        rig.configure(.b) { ($0.media[1].codecs, $0.media[1].extensions) = (Self.codecs(from: 96), []) }
        let lost = try #require(rig.send(Self.media(1, 96, Format.all[0].keyFrame), from: .a).packet)
        rig.reportLost([lost.sequenceNumber])
        #expect(rig.repetitions(to: .b).count == 1 && rig.repeatedMids == [nil])
    }

    @Test func `a receiver without rtx gets the same packet again`() throws {
        var rig = BridgeRig()
        rig.configure(.b) { $0.media[1].codecs.removeAll(where: \.isRetransmission) }
        _ = rig.video(1)
        let lost = try #require(rig.video(2).packet)
        rig.reportLost([lost.sequenceNumber])
        #expect(rig.repetitions(to: .b) == [lost])
    }

    @Test func `a packet is repeated once per round trip, ten times, and within a second`() throws {
        var rig = BridgeRig()
        let lost = try #require(rig.video(1).packet).sequenceNumber
        func repetitions(after pause: Duration) -> Int {
            rig.clock.advance(by: pause)
            rig.reportLost([lost, lost])
            return rig.repetitions(to: .b).count
        }
        #expect(repetitions(after: .zero) == 1)
        #expect(repetitions(after: .milliseconds(9)) == 0)
        #expect((0..<12).map { _ in repetitions(after: .milliseconds(10)) }.reduce(0, +) == 9)
        let late = try #require(rig.video(2).packet).sequenceNumber
        rig.clock.advance(by: .milliseconds(1_001))
        rig.reportLost([late])
        #expect(rig.repetitions(to: .b).isEmpty)
        #expect(rig.feedback(to: .a).isEmpty, "its sender has forgotten it as well")
    }

    @Test func `a peer that takes no NACK, and audio, have nothing repeated`() throws {
        var rig = BridgeRig()
        rig.configure(.b) { leg in
            for codec in leg.media[1].codecs.indices { leg.media[1].codecs[codec].feedback = ["nack pli"] }
        }
        let video = try #require(rig.video(1).packet)
        let audio = try #require(rig.audio(1).packet)
        rig.reportLost([video.sequenceNumber])
        rig.reportLost([audio.sequenceNumber], ssrc: 0xB0)
        #expect(rig.repetitions(to: .b).isEmpty)
    }

    // MARK: Receivers without rtx

    /// A receiver that takes no rtx at all, or none of the format.
    private static func rig(_ firstOfReceiver: Int, without isLeftOut: @escaping (Codec) -> Bool) -> BridgeRig {
        var rig = rig(firstOfReceiver)
        rig.configure(.b) { leg in
            leg.media[1].codecs = codecs(from: firstOfReceiver).filter { !isLeftOut($0) }
            if !leg.media[1].codecs.contains(where: \.isRetransmission) { leg.media[1].localRetransmissionSSRC = nil }
        }
        return rig
    }

    private static func repair(
        _ number: UInt16, of original: UInt16, _ format: Format, _ payloadType: Int, marker: Bool = false
    ) -> [UInt8] {
        BridgeRig.packet(
            ssrc: 1003, number, timestamp: timestamp(original), payloadType: payloadType, marker: marker,
            payload: [UInt8(original >> 8), UInt8(original & 0xFF)] + format.payload)
    }

    /// Under the same numbers on both legs, and under others; without any rtx, and without that of the format.
    @Test(arguments: Array(Format.all.indices), [(96, true), (35, true), (96, false)])
    func `a receiver without rtx gets what its sender repeats as it would have come`(
        _ index: Int, _ receiver: (first: Int, takesNone: Bool)
    ) throws {
        let format = Format.all[index]
        let (sent, received) = (96 + 2 * index, receiver.first + 2 * index)
        var rig = Self.rig(receiver.first) { codec in
            codec.isRetransmission && (receiver.takesNone || codec.payloadType == PayloadType(received + 1))
        }
        let before = try #require(rig.send(Self.media(65_534, sent, format.keyFrame), from: .a).packet)
        let after = try #require(rig.send(Self.media(0, sent, format.payload), from: .a).packet)
        let missed = before.sequenceNumber &+ 1
        rig.reportLost([missed])
        #expect(rig.feedback(to: .a).count == 1)

        let repaired = try #require(
            rig.send(Self.repair(7, of: 65_535, format, sent + 1, marker: true), from: .a).packet)
        #expect(
            repaired
                == BridgeRig.Packet(
                    sequenceNumber: missed, timestamp: after.timestamp &- 3_000, ssrc: 0xB1, marker: true,
                    payloadType: received,
                    payload: format.payload))
        // It gets lost behind the gateway, which has it.
        rig.reportLost([missed])
        #expect(rig.feedback(to: .a).isEmpty)
        #expect(rig.repetitions(to: .b) == [repaired])
        // It comes again, and so does the original at last.
        #expect(rig.send(Self.repair(8, of: 65_535, format, sent + 1), from: .a) == .dropped(.noRetransmission))
        #expect(rig.send(Self.media(65_535, sent, format.payload), from: .a) == .dropped(.tooOld))
        // What got lost last has a place, too.
        let last = try #require(rig.send(Self.repair(9, of: 2, format, sent + 1), from: .a).packet)
        #expect(last.sequenceNumber == after.sequenceNumber &+ 2)
        let next = try #require(rig.send(Self.media(3, sent, format.payload), from: .a).packet)
        #expect(next.sequenceNumber == after.sequenceNumber &+ 3)
    }

    @Test func `a receiver without rtx is sent nothing twice, and no probes`() throws {
        let format = Format.all[0]
        var rig = Self.rig(96, without: \.isRetransmission)
        #expect(rig.send(Self.repair(1, of: 100, format, 97), from: .a) == .dropped(.staleRetransmission))
        for number in 100..<400 as Range<UInt16> where number != 390 {
            _ = try #require(rig.send(Self.media(number, 96, format.payload), from: .a).packet)
        }
        // What it got just now, what it got before the history reaches back, and what came before the first packet.
        for (number, original) in [(2, 399), (3, 389), (4, 101), (5, 99)] as [(UInt16, UInt16)] {
            #expect(rig.send(Self.repair(number, of: original, format, 97), from: .a) == .dropped(.noRetransmission))
        }
        var probe = BridgeRig.packet(ssrc: 1003, 6, payloadType: 97, payload: [0, 0, 0, 4])
        probe[0] |= 0x20
        #expect(rig.send(probe, from: .a) == .dropped(.noRetransmission))
        #expect(rig.send(Self.repair(7, of: 390, format, 97), from: .a).packet?.ssrc == 0xB1)
    }

    @Test func `an original behind a retransmission that was ahead of it is not sent under the same number`() throws {
        let format = Format.all[0]
        var rig = Self.rig(96, without: \.isRetransmission)
        let first = try #require(rig.send(Self.media(100, 96, format.keyFrame), from: .a).packet)
        let ahead = try #require(rig.send(Self.repair(1, of: 102, format, 97), from: .a).packet)
        #expect(ahead.sequenceNumber == first.sequenceNumber &+ 2)
        let next = try #require(rig.send(Self.media(101, 96, format.payload), from: .a).packet)
        #expect(next.sequenceNumber == first.sequenceNumber &+ 1)
        #expect(rig.send(Self.media(102, 96, format.payload), from: .a) == .dropped(.tooOld))
        let last = try #require(rig.send(Self.media(103, 96, format.payload), from: .a).packet)
        #expect(last.sequenceNumber == first.sequenceNumber &+ 3)
    }

    /// The sender sends a format that the receiver does not know, for most of a cycle of sequence numbers.
    @Test func `no number is used twice by a source that went on unheard`() throws {
        var rig = BridgeRig()
        let unknown = 98
        rig.configure(.a) { leg in
            var codec = leg.media[1].codecs[0]
            (codec.payloadType, codec.name) = (PayloadType(unknown)!, "VP9")
            leg.media[1].codecs.append(codec)
        }
        var used: Set<UInt16> = []
        for number in 0..<3_000 as Range<UInt16> { used.insert(try #require(rig.video(number).packet).sequenceNumber) }
        for number in 3_000..<60_000 as Range<UInt16> {
            #expect(rig.video(number, payloadType: unknown) == .dropped(.unknownPayloadType))
        }
        for number in 60_000..<63_000 as Range<UInt16> {
            #expect(used.insert(try #require(rig.video(number).packet).sequenceNumber).inserted)
        }
    }

    @Test func `padding stays at the end of what is repaired`() throws {
        let format = Format.all[0]
        var rig = Self.rig(96, without: \.isRetransmission)
        let first = try #require(rig.send(Self.media(100, 96, format.keyFrame), from: .a).packet)
        var repair = Self.repair(1, of: 101, format, 97) + [0, 0, 0, 4]
        repair[0] |= 0x20
        let repaired = try #require(rig.send(repair, from: .a).packet)
        #expect(repaired.payload == format.payload && repaired.sequenceNumber == first.sequenceNumber &+ 1)
    }

    @Test func `a receiver that takes no NACK is sent no repairs`() throws {
        let format = Format.all[0]
        var rig = Self.rig(96, without: \.isRetransmission)
        rig.configure(.b) { leg in
            leg.media[1].codecs = Self.codecs(from: 96).filter { !$0.isRetransmission }
            leg.media[1].localRetransmissionSSRC = nil
            for codec in leg.media[1].codecs.indices { leg.media[1].codecs[codec].feedback = [] }
        }
        _ = try #require(rig.send(Self.media(100, 96, format.keyFrame), from: .a).packet)
        #expect(rig.send(Self.repair(1, of: 101, format, 97), from: .a) == .dropped(.noRetransmission))
    }

    @Test func `packets that overtake each other are no repetitions`() throws {
        var rig = BridgeRig()
        let first = try #require(rig.video(100).packet)
        for number in [103, 101, 98, 102] as [UInt16] {
            #expect(rig.video(number).packet?.sequenceNumber == first.sequenceNumber &+ number &- 100)
        }
    }
}
