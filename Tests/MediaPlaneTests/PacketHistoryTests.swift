import MediaPlane
import Primitives
import RTP
import TestSupport
import Testing

@Suite struct PacketHistoryTests {
    private static func packet(_ number: UInt16, count: Int) -> [UInt8] {
        var bytes = BridgeRig.packet(ssrc: 7, number, payloadType: 96, payload: [])
        while bytes.count < count { bytes.append(UInt8(truncatingIfNeeded: Int(number) &* 31 &+ bytes.count)) }
        return bytes
    }

    /// A small ring, so that laps and growth come soon.
    private static let small: PacketHistory.Configuration = {
        var configuration = PacketHistory.Configuration()
        configuration.initialBytes = 4_096
        configuration.maximumBytes = 32_768
        return configuration
    }()

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `what is recalled is what was kept, whatever the sizes, the rate and the growth`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        var history = PacketHistory(Self.small)
        var clock = VirtualClock()
        var sent: [(number: UInt16, bytes: [UInt8], at: MonotonicTime)] = []
        var found = 0
        let pause = Duration.microseconds(Int64(200 << (seed % 6)))
        var number = UInt16(truncatingIfNeeded: random.next())
        for _ in 0..<3_000 {
            // Some never come.
            number &+= random.next() % 10 == 0 ? 2 : 1
            let bytes = Self.packet(number, count: 12 + Int(random.next() % 1_300))
            history.keep(bytes.span, as: SequenceNumber(number), at: clock.now)
            sent.append((number, bytes, clock.now))
            clock.advance(by: pause)
            let asked = sent[max(0, sent.count - 1 - Int(random.next() % 80))]
            switch history.recall(SequenceNumber(asked.number), roundTrip: nil, at: clock.now) {
            case .found(let range):
                found += 1
                #expect(Array(history.bytes[range]) == asked.bytes)
                #expect(clock.now - asked.at <= .seconds(1))
            case .unknown, .expired, .withheld: break
            }
        }
        #expect(found > 300)
        #expect(history.bytes.count <= Self.small.maximumBytes)
    }

    @Test func `the newest half of the ring can always be recalled`() {
        var history = PacketHistory(Self.small)
        let clock = VirtualClock()
        for number in 0..<500 as Range<UInt16> {
            history.keep(Self.packet(number, count: 1_200).span, as: SequenceNumber(number), at: clock.now)
            for earlier in 0...1 where number >= earlier {
                let recalled = history.recall(SequenceNumber(number - UInt16(earlier)), roundTrip: nil, at: clock.now)
                if earlier == 0 { #expect(recalled != .unknown && recalled != .expired) }
            }
        }
        #expect(history.bytes.count == Self.small.maximumBytes)
    }

    @Test func `a slow stream keeps its small ring, and a fast one grows to its limit`() {
        for (pause, size) in [(Duration.seconds(1), 4_096), (.milliseconds(1), 32_768)] {
            var history = PacketHistory(Self.small)
            var clock = VirtualClock()
            for number in 0..<200 as Range<UInt16> {
                history.keep(Self.packet(number, count: 1_000).span, as: SequenceNumber(number), at: clock.now)
                clock.advance(by: pause)
            }
            #expect(history.bytes.count == size)
        }
    }

    @Test func `a number that was never kept is unknown, also where the ring has another packet in its place`() {
        var history = PacketHistory(Self.small)
        let clock = VirtualClock()
        #expect(history.recall(SequenceNumber(1), roundTrip: nil, at: clock.now) == .unknown)
        history.keep(Self.packet(1, count: 100).span, as: SequenceNumber(1), at: clock.now)
        #expect(history.recall(SequenceNumber(1 + 4_096), roundTrip: nil, at: clock.now) == .unknown)
    }

    /// One number must not go out with different bytes (RFC 3711 §9.1).
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `it lacks only what was not sent, and knows of all that went out a short while ago`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        var history = PacketHistory(Self.small)
        var clock = VirtualClock()
        var sent: Set<UInt16> = []
        let first = UInt16(truncatingIfNeeded: random.next())
        var number = first
        var repaired = 0
        #expect(!history.lacks(SequenceNumber(first)))
        for _ in 0..<2_000 {
            number &+= random.next() % 10 == 0 ? 2 : 1
            // Some are too large to be kept.
            let bytes = Self.packet(number, count: random.next() % 50 == 0 ? 1_600 : 12 + Int(random.next() % 1_300))
            history.keep(bytes.span, as: SequenceNumber(number), at: clock.now)
            sent.insert(number)
            clock.advance(by: .milliseconds(Int64(seed % 5)))
            let asked = number &- UInt16(random.next() % 100)
            if sent.contains(asked) {
                #expect(!history.lacks(SequenceNumber(asked)))
                #expect(history.mayHaveKept(SequenceNumber(asked)))
            } else if history.lacks(SequenceNumber(asked)) {
                repaired += 1
                sent.insert(asked)
                history.keep(Self.packet(asked, count: 100).span, as: SequenceNumber(asked), at: clock.now)
            }
        }
        #expect(repaired > 20)
        // Nobody knows what was before the first one.
        #expect(!history.lacks(SequenceNumber(first)))
        #expect(history.lacks(SequenceNumber(number &+ 1)) && !history.mayHaveKept(SequenceNumber(number &+ 1)))
    }

    /// docs/performance.md has these figures.
    @Test(
        arguments: [
            (0, 0), (50_000, 68), (500_000, 68), (1_000_000, 136), (2_000_000, 272), (8_000_000, 1_088),
            (50_000_000, 1_088),
        ] as [(Int, Int)])
    func `a history takes as many kilobytes as its rate needs, and no more than a bound`(
        _ bitsPerSecond: Int, _ kilobytes: Int
    ) {
        var history = PacketHistory()
        var clock = VirtualClock()
        let packet = Self.packet(1, count: 1_100)
        let packets = 20 * bitsPerSecond / (8 * packet.count)
        for number in 0..<packets {
            history.keep(packet.span, as: SequenceNumber(UInt16(truncatingIfNeeded: number)), at: clock.now)
            clock.advance(by: .seconds(20) / packets)
        }
        #expect(history.memory == kilobytes * 1_024)
    }
}
