import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// What the gateway finds out of the ways to those who see a sender, and tells the sender.
struct ReceiverPathTests {
    /// On the sender's leg, and on the receivers'.
    private static let (sent, received): (UInt8, UInt8) = (5, 9)
    private static let c = LegIndex(2)

    private static func count(_ leg: inout NegotiatedLeg, as id: UInt8, _ direction: MediaDirection = .sendReceive) {
        for line in leg.media.indices {
            leg.media[line].extensions.append(
                HeaderExtension(id: id, uri: HeaderExtension.transportSequenceNumber, direction: direction))
            leg.media[line].codecs[0].feedback.append(Codec.transportFeedback)
        }
    }

    /// Peer a sends; peer b, and c if it is there, receive.
    private static func rig(
        receiver id: UInt8 = received, _ change: (inout NegotiatedLeg) -> Void = { _ in }
    ) -> BridgeRig {
        var rig = BridgeRig(ready: false)
        rig.configure(.a) { count(&$0, as: sent) }
        rig.configure(.b) { leg in
            count(&leg, as: id)
            change(&leg)
        }
        for side in LegIndex.allCases { rig.peerReady(side) }
        _ = rig.feedback(to: .a) + rig.feedback(to: .b)
        return rig
    }

    private static func addThird(to rig: inout BridgeRig) {
        precondition(rig.bridge.addLeg(random: &rig.random) == c, "legs take the first free places")
        var leg = BridgeRig.leg(.b)
        count(&leg, as: received)
        for line in leg.media.indices {
            leg.media[line].remoteSources = []
            leg.media[line].localSSRC = SSRC(0xC0 + UInt32(line))
        }
        rig.bridge.configure(c, leg, random: &rig.random, at: rig.clock.now)
        for kind in [MediaKind.audio, .video] { rig.bridge.setSource(.leg(.a), of: kind, for: c, at: rig.clock.now) }
        rig.bridge.peerReady(c, at: rig.clock.now)
        rig.collect()
    }

    // MARK: Numbers

    /// A packet of a with a number, and an audio level before it.
    private static func packet(
        _ number: UInt16, _ payloadType: Int = BridgeRig.vp8, ssrc: UInt32 = 1002, twoByte: Bool = false,
        octets: Int = 4
    ) -> [UInt8] {
        let elements: [UInt8] =
            twoByte ? [1, 1, 0x55, sent, 2, 0xAB, 0xCD, 0] : [0x10, 0x55, sent << 4 | 1, 0xAB, 0xCD, 0, 0, 0]
        var bytes = BridgeRig.packet(
            ssrc: ssrc, number, timestamp: UInt32(number) * 3_000, payloadType: payloadType,
            payload: [UInt8](repeating: 7, count: octets))
        bytes[0] |= 0x10
        bytes.insert(contentsOf: (twoByte ? [0x10, 0x00, 0, 2] : [0xBE, 0xDE, 0, 2]) + elements, at: 12)
        return bytes
    }

    /// The packet as it leaves for the first receiver; `nil` if it does not.
    private static func relayed(_ packet: [UInt8], _ rig: inout BridgeRig) -> [UInt8]? { spread(packet, &rig).first }

    /// The packet as it leaves for each of the receivers.
    private static func spread(_ packet: [UInt8], _ rig: inout BridgeRig) -> [[UInt8]] {
        guard case .media(let arrival) = rig.bridge.receive(packet.span, from: .a, at: rig.clock.now) else { return [] }
        var sent: [[UInt8]] = []
        for receiver in 0..<arrival.receiverCount {
            var buffer = packet
            var span = buffer.mutableSpan
            let relaying = rig.bridge.relay(
                arrival, toReceiver: receiver, in: &span, count: packet.count, at: rig.clock.now)
            if case .relay = relaying { sent.append(buffer) }
        }
        rig.collect()
        return sent
    }

    private static func number(_ packet: [UInt8]?, _ id: UInt8 = received) throws -> UInt16? {
        let packet = try #require(packet)
        let header = try header(packet)
        return header.extensionElement(id, in: packet.span).map {
            UInt16(packet[$0.lowerBound]) << 8 | UInt16(packet[$0.lowerBound + 1])
        }
    }

    private static func header(_ packet: [UInt8]?) throws -> RTPHeader {
        let packet = try #require(packet)
        return try RTPHeader(parsing: packet.span)
    }

    @Test(arguments: [false, true], [received, sent])
    func `what a receiver gets has numbers of the gateway's own, without gaps`(_ twoByte: Bool, _ id: UInt8) throws {
        var rig = Self.rig(receiver: id)
        let first = try #require(Self.relayed(Self.packet(7, twoByte: twoByte), &rig))
        #expect(try Self.number(first, id) == 1)
        // A gap before the gateway is none behind it, and what is not sent has no number.
        #expect(Self.relayed(Self.packet(8, 99), &rig) == nil)
        #expect(try Self.number(Self.relayed(Self.packet(12, twoByte: twoByte), &rig), id) == 2)
        let audio = Self.packet(1, BridgeRig.opus, ssrc: 1001, twoByte: twoByte)
        #expect(try Self.number(Self.relayed(audio, &rig), id) == 3)
        let header = try Self.header(first)
        let level = header.extensionElement(1, in: first.span)
        #expect(level?.count == 1, "what stands beside it stays")
        #expect(Array(first[header.payloadRange]) == [7, 7, 7, 7])
    }

    @Test func `an id that does not fit the header, or that is not agreed for the m-line, numbers nothing`() throws {
        var rig = Self.rig(receiver: 20)
        #expect(try Self.number(Self.relayed(Self.packet(7), &rig), 20) == nil)
        #expect(try Self.number(Self.relayed(Self.packet(8, twoByte: true), &rig), 20) == 1)
        var half = Self.rig { $0.media[0].codecs[0].feedback = [] }
        #expect(try Self.number(Self.relayed(Self.packet(1, BridgeRig.opus, ssrc: 1001), &half)) == nil)
        #expect(try Self.number(Self.relayed(Self.packet(7), &half)) == 1)
    }

    @Test(arguments: [true, false])
    func `a packet that is sent again has another number in the stream of rtx, and otherwise the same bytes`(
        _ hasRTX: Bool
    ) throws {
        var rig = Self.rig { leg in
            leg.media[1].codecs[1].parameters = "apt=\(BridgeRig.vp8)"
            if !hasRTX { leg.media[1].codecs.remove(at: 1) }
        }
        let sent = Self.relayed(Self.packet(7), &rig)
        let lost = try Self.header(sent)
        let nack = GenericNACK(sender: SSRC(9), media: SSRC(0xB1), lost: [lost.sequenceNumber])
        rig.bridge.receiveControl(RTCPCompound([.genericNACK(nack)]).bytes.span, from: .b, at: rig.clock.now)
        var again: [[UInt8]] = []
        while let output = rig.bridge.poll() {
            if case .transmitMedia(let bytes, _, _) = output { again.append(bytes) }
        }
        #expect(again.count == 1)
        #expect(try Self.header(again.first).ssrc == SSRC(hasRTX ? 0xB2 : 0xB1))
        #expect(try Self.number(again.first) == (hasRTX ? 2 : 1))
        if !hasRTX { #expect(again.first == sent, "a number is used twice only with the same bytes") }
        #expect(try Self.number(Self.relayed(Self.packet(8), &rig)) == (hasRTX ? 3 : 2))
    }

    // MARK: Limits

    private static func limits(_ rig: inout BridgeRig, to side: LegIndex = .a) -> [EstimatedMaximumBitrate] {
        rig.feedback(to: side).compactMap {
            if case .estimatedMaximumBitrate(let estimate) = $0 { estimate } else { nil }
        }
    }

    /// A second of 800 kbit/s of which each receiver says how it came over a link of its capacity. Returns what the
    /// sender was told.
    private static func second(
        _ rig: inout BridgeRig, _ links: inout [SlowLink], from number: inout UInt16
    ) -> [UInt64] {
        var told: [UInt64] = []
        for step in 0..<100 {
            let packet = packet(number, octets: 980)
            number &+= 1
            for (receiver, sent) in spread(packet, &rig).enumerated() {
                guard let transport = try? Self.number(sent) else { continue }
                links[receiver].put(transport, octets: sent.count, at: rig.clock.now)
            }
            rig.advance(by: .milliseconds(10))
            if step % 10 == 9 {
                for receiver in links.indices {
                    for feedback in links[receiver].feedback(at: rig.clock.now) {
                        rig.receive(.transportFeedback(feedback), from: links[receiver].leg)
                    }
                }
            }
            told += limits(&rig).map(\.bitsPerSecond)
        }
        return told
    }

    private struct SlowLink {
        var leg: LegIndex
        var capacity: Double
        private var isClear = MonotonicTime.zero
        private var under: [(SequenceNumber, MonotonicTime)] = []
        private var arrivals = TransportArrivals()

        init(_ leg: LegIndex, capacity: Double) { (self.leg, self.capacity) = (leg, capacity) }

        mutating func put(_ number: UInt16, octets: Int, at now: MonotonicTime) {
            let start = max(now, isClear)
            guard start - now < .milliseconds(300) else { return }
            isClear = start + .nanoseconds(Int64(Double(8 * octets) / capacity * 1e9))
            under.append((SequenceNumber(number), isClear))
        }

        mutating func feedback(at now: MonotonicTime) -> [TransportFeedback] {
            while let (number, arrival) = under.first, arrival <= now {
                arrivals.packetReceived(number, at: arrival)
                under.removeFirst()
            }
            var made: [TransportFeedback] = []
            while let feedback = arrivals.nextFeedback(sender: SSRC(9), media: SSRC(0xB1)) { made.append(feedback) }
            return made
        }
    }

    @Test func `a sender is told when a receiver's way is too narrow for it, and again when it is not any more`() throws
    {
        var rig = Self.rig()
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 4_000_000)])
        for _ in 0..<3 { #expect(Self.second(&rig, &links, from: &number) == []) }
        links[0].capacity = 300_000
        let told = (0..<3).flatMap { _ in Self.second(&rig, &links, from: &number) }
        #expect(try #require(told.last) < 300_000)
        #expect(told.count <= 12, "at once, and then once a second")
        links[0].capacity = 4_000_000
        let later = (0..<30).flatMap { _ in Self.second(&rig, &links, from: &number) }
        #expect(try #require(later.last) > 800_000)
        #expect(later.count > 20, "what was told is told again")
    }

    @Test func `of several ways the narrowest counts, until whoever is behind it leaves`() throws {
        var rig = Self.rig()
        Self.addThird(to: &rig)
        _ = Self.limits(&rig)
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 4_000_000), SlowLink(Self.c, capacity: 300_000)])
        let told = (0..<3).flatMap { _ in Self.second(&rig, &links, from: &number) }
        #expect(try #require(told.last) < 300_000)
        rig.bridge.removeLeg(Self.c, at: rig.clock.now)
        rig.collect()
        links.removeLast()
        let later = (0..<3).flatMap { _ in Self.second(&rig, &links, from: &number) }
        #expect(try #require(later.last) > 800_000)
    }

    @Test func `the lesser of what a receiver says and what the gateway finds out counts`() throws {
        var rig = Self.rig()
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 300_000)])
        for _ in 0..<3 { _ = Self.second(&rig, &links, from: &number) }
        let cases: [(UInt64, ClosedRange<UInt64>)] = [
            (100_000, 100_000...100_000), (5_000_000, 150_000...300_000),
        ]
        for (said, expected) in cases {
            let report = EstimatedMaximumBitrate(sender: SSRC(9), bitsPerSecond: said, sources: [SSRC(0xB1)])
            rig.receive(.estimatedMaximumBitrate(report), from: .b)
            #expect(expected.contains(try #require(Self.limits(&rig).last).bitsPerSecond))
        }
    }

    @Test func `what a receiver said ten seconds ago bounds nobody`() throws {
        var rig = Self.rig()
        _ = Self.relayed(Self.packet(1), &rig)
        let report = EstimatedMaximumBitrate(sender: SSRC(9), bitsPerSecond: 100_000, sources: [SSRC(0xB1)])
        rig.receive(.estimatedMaximumBitrate(report), from: .b)
        #expect(Self.limits(&rig).map(\.bitsPerSecond) == [100_000])
        rig.advance(by: .seconds(8))
        let repeated = Self.limits(&rig).map(\.bitsPerSecond)
        #expect(repeated.count >= 4 && repeated.allSatisfy { $0 == 100_000 })
        rig.advance(by: .seconds(5))
        #expect(try #require(Self.limits(&rig).last).bitsPerSecond == 1 << 30)
    }

    @Test func `a sender that takes no REMB is told nothing`() {
        var rig = Self.rig()
        rig.configure(.a) { leg in
            Self.count(&leg, as: Self.sent)
            leg.media[1].codecs[0].feedback = ["nack", Codec.transportFeedback]
        }
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 300_000)])
        for _ in 0..<3 { #expect(Self.second(&rig, &links, from: &number) == []) }
    }

    // MARK: Limits by receiver reports

    /// A receiver that says nothing of single packets, and of whose packets a share gets lost.
    private struct Reporter {
        /// Of a hundred, before the gateway and behind it.
        var lostBefore = 0
        var lostBehind = 0
        /// Every packet that is lost behind the gateway is asked for, and comes.
        var repairs = false
        var number = UInt16(1)
        var lost: Int32 = 0

        /// A second of 800 kbit/s, and a report. Returns what the sender was told.
        mutating func second(_ rig: inout BridgeRig, _ make: (UInt16) -> [UInt8]) -> [UInt64] {
            var highest = UInt16(0)
            for step in 0..<100 {
                defer { number &+= 1 }
                rig.advance(by: .milliseconds(10))
                guard step >= lostBefore || step == 0 else {
                    lost += 1
                    continue
                }
                guard let sent = rig.send(make(number), from: .a).packet else { continue }
                highest = sent.sequenceNumber
                guard step > 99 - lostBehind else { continue }
                if repairs { rig.reportLost([sent.sequenceNumber]) } else { lost += 1 }
            }
            let block = ReportBlock(ssrc: SSRC(0xB1), cumulativeLost: lost, extendedHighestSequence: UInt32(highest))
            rig.receive(.receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [block])), from: .b)
            _ = rig.repetitions(to: .b)
            return limits(&rig).map(\.bitsPerSecond)
        }
    }

    private static func plain(_ number: UInt16) -> [UInt8] {
        BridgeRig.packet(
            ssrc: 1002, number, timestamp: UInt32(number) * 3_000, payloadType: BridgeRig.vp8,
            payload: [UInt8](repeating: 7, count: 988))
    }

    @Test(arguments: [false, true])
    func `where packets have no numbers, what a receiver reports as lost bounds the sender`(_ repairs: Bool) throws {
        var rig = BridgeRig()
        if repairs { rig.configure(.b) { $0.media[1].codecs.removeAll(where: \.isRetransmission) } }
        var receiver = Reporter(repairs: repairs)
        for _ in 0..<3 { #expect(receiver.second(&rig, Self.plain) == []) }
        receiver.lostBehind = 5
        for _ in 0..<3 { #expect(receiver.second(&rig, Self.plain) == [], "that is not too much") }
        receiver.lostBehind = 20
        // Half of the lost share less with every second.
        let told = (0..<5).flatMap { _ in receiver.second(&rig, Self.plain) }
        // What is sent again counts as well.
        let (sent, first, last) = repairs ? (960_000.0, 0.917, 0.647) : (800_000, 0.9, 0.59)
        #expect(abs(Double(try #require(told.first)) / sent - first) < 0.02, "\(told)")
        #expect(abs(Double(try #require(told.last)) / sent - last) < 0.02, "\(told)")
        receiver.lostBehind = 0
        let later = (0..<25).flatMap { _ in receiver.second(&rig, Self.plain) }
        #expect(try #require(later.last) == 1 << 30)
        #expect(later.contains { (600_000...1_300_000).contains($0) }, "it grows until then")
    }

    @Test func `what got lost before the gateway bounds nobody`() {
        var rig = BridgeRig()
        var receiver = Reporter(lostBefore: 30)
        for _ in 0..<5 { #expect(receiver.second(&rig, Self.plain) == []) }
        receiver.lostBehind = 30
        #expect(!(0..<3).flatMap { _ in receiver.second(&rig, Self.plain) }.isEmpty)
    }

    @Test func `reports do not count where a receiver says what came of every packet`() {
        var rig = Self.rig()
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 4_000_000)])
        for second in 1...5 as ClosedRange<Int32> {
            #expect(Self.second(&rig, &links, from: &number) == [])
            let block = ReportBlock(
                ssrc: SSRC(0xB1), cumulativeLost: 40 * second, extendedHighestSequence: UInt32(100 * second))
            rig.receive(.receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [block])), from: .b)
            #expect(Self.limits(&rig).isEmpty)
        }
    }

    /// Such as when a transfer or a mix shows it somebody else.
    @Test func `a bound out of feedback is forgotten when there is no feedback any more`() throws {
        var rig = Self.rig()
        var (number, links) = (UInt16(1), [SlowLink(.b, capacity: 300_000)])
        let told = (0..<3).flatMap { _ in Self.second(&rig, &links, from: &number) }
        #expect(try #require(told.last) < 300_000)
        rig.advance(by: .seconds(15))
        let later = Self.limits(&rig).map(\.bitsPerSecond)
        #expect(later.last == 1 << 30, "\(later)")
    }
}
