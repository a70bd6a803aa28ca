import Primitives
import RTP
import TestSupport
import Testing

/// A sender that does as it is told, a link, and the gateway's estimate of what the link carries.
private struct Link {
    /// Bits per second.
    var capacity: Double
    /// Of the packets, a share.
    var loss = 0.0
    /// Bits per second that the sender would like to send.
    var wish = 2_000_000.0
    private(set) var estimate = BandwidthEstimate()
    private(set) var clock = VirtualClock()
    private var random: SeededRandomSource
    private var arrivals = TransportArrivals()
    /// When the link has carried all that was put on it.
    private var isClear = MonotonicTime.zero
    private var under: [(number: SequenceNumber, arrival: MonotonicTime)] = []
    private(set) var delays: [Duration] = []
    /// What may wait before the link; more is lost.
    private let queue = Duration.milliseconds(500)

    init(capacity: Double, seed: UInt64 = 1) {
        self.capacity = capacity
        random = SeededRandomSource(seed: seed)
    }

    var bound: Double? { estimate.bitsPerSecond.map { Double($0) } }

    /// Pictures come 25 times a second, their packets within 10 ms; feedback every 100 ms.
    mutating func run(for duration: Duration) {
        let end = clock.now + duration
        var next = clock.now
        var nextFeedback = clock.now
        delays = []
        while next < end {
            let rate = min(wish, bound ?? .infinity)
            var rest = rate / 25 / 8
            let packets = max(1, Int((rest / 1_100).rounded(.up)))
            for index in 0..<packets {
                clock.advance(to: next + .milliseconds(10) * index / packets)
                send(octets: max(60, Int(min(rest, 1_100))))
                rest -= 1_100
            }
            next = next + .milliseconds(40)
            clock.advance(to: next)
            if next >= nextFeedback {
                report()
                nextFeedback = next + .milliseconds(100)
            }
        }
    }

    private mutating func send(octets: Int) {
        let number = estimate.packetSent(octets: octets, at: clock.now)
        let start = max(clock.now, isClear)
        guard start - clock.now < queue else { return }
        isClear = start + .nanoseconds(Int64(Double(octets * 8) / capacity * 1e9))
        guard Double(random.next() >> 11) / Double(1 << 53) >= loss else { return }
        delays.append(isClear - clock.now)
        under.append((number, isClear + .milliseconds(20)))
    }

    private mutating func report() {
        while let packet = under.first, packet.arrival <= clock.now {
            arrivals.packetReceived(packet.number, at: packet.arrival)
            under.removeFirst()
        }
        while let feedback = arrivals.nextFeedback(sender: SSRC(1), media: SSRC(2)) {
            estimate.feedbackReceived(feedback, roundTrip: .milliseconds(40), at: clock.now)
        }
    }
}

@Suite struct BandwidthEstimateTests {
    @Test func `a way that carries all has no bound`() {
        var link = Link(capacity: 20_000_000)
        link.run(for: .seconds(30))
        #expect(link.bound == nil)
    }

    @Test(arguments: [300_000.0, 1_000_000])
    func `a narrow way is known after twelve seconds, and its queue stays short`(_ capacity: Double) throws {
        var link = Link(capacity: capacity)
        link.run(for: .seconds(12))
        for _ in 0..<60 {
            link.run(for: .seconds(1))
            let bound = try #require(link.bound)
            #expect(bound > 0.6 * capacity && bound < 1.2 * capacity, "\(bound)")
        }
        let delays = link.delays.sorted()
        #expect(delays[delays.count * 9 / 10] < .milliseconds(250))
    }

    @Test func `the bound follows a link that gets narrower, and one that is lifted`() throws {
        var link = Link(capacity: 1_000_000)
        link.run(for: .seconds(20))
        link.capacity = 300_000
        link.run(for: .seconds(5))
        #expect(try #require(link.bound) < 350_000)
        link.capacity = 10_000_000
        link.run(for: .seconds(30))
        #expect(link.bound.map { $0 > 1_500_000 } ?? true, "\(String(describing: link.bound))")
        link.run(for: .seconds(30))
        #expect(link.bound == nil)
    }

    @Test(arguments: [(0.01, false), (0.05, false), (0.30, true)])
    func `what gets lost by chance bounds the sender when it is more than a tenth`(
        _ loss: Double, _ isBounded: Bool
    ) throws {
        var link = Link(capacity: 20_000_000)
        link.loss = loss
        link.wish = 1_000_000
        link.run(for: .seconds(15))
        #expect((link.bound != nil) == isBounded)
        if isBounded { #expect(try #require(link.bound) < 500_000) }
    }

    @Test func `no bound is lower than the least`() throws {
        var link = Link(capacity: 10_000)
        link.run(for: .seconds(20))
        #expect(link.bound == 50_000)
    }

    @Test func `feedback about what was never sent, or was told before, changes nothing`() {
        var estimate = BandwidthEstimate()
        let told = TransportFeedback(
            sender: SSRC(1), media: SSRC(2), base: SequenceNumber(7), reference: 5, count: 0, deltas: [1, nil, 400])
        for second in 1...5 as ClosedRange<UInt64> {
            estimate.feedbackReceived(told, roundTrip: nil, at: MonotonicTime(nanoseconds: second * 1_000_000_000))
            #expect(estimate.bitsPerSecond == nil)
        }
    }

    @Test func `the receiver's clock may wrap`() throws {
        // 24 bits of 64 ms: the last reference time before it, and the first behind it.
        var estimate = BandwidthEstimate()
        var now = MonotonicTime(nanoseconds: 1_000_000_000)
        for step in 0..<200 {
            let number = estimate.packetSent(octets: 1_000, at: now)
            let reference = Int32(truncatingIfNeeded: (0x7F_FFFF - 50 + step) << 8) >> 8
            let feedback = TransportFeedback(
                sender: SSRC(1), media: SSRC(2), base: number, reference: reference,
                count: UInt8(truncatingIfNeeded: step), deltas: [0])
            estimate.feedbackReceived(feedback, roundTrip: nil, at: now)
            now = now + .milliseconds(64)
        }
        #expect(estimate.bitsPerSecond == nil)
    }
}

@Suite struct SentPacketsTests {
    private static let start = MonotonicTime(nanoseconds: 5_000_000_000)

    @Test func `a packet arrives once, and is lost once`() {
        var sent = SentPackets()
        let numbers = (0..<3).map { sent.packetSent(octets: 100 + $0, at: Self.start + .milliseconds($0)) }
        #expect(numbers.map(\.rawValue) == [1, 2, 3])
        let arrivals = [1, 1].map { sent.packetArrived(numbers[$0]) }
        #expect(arrivals[0]?.sentAt == 5_001_000 && arrivals[0]?.octets == 101)
        #expect(arrivals[1] == nil)
        let losses = [1, 0, 0].map { sent.packetLost(numbers[$0]) }
        #expect(losses == [false, true, false])
        let late = sent.packetArrived(numbers[0])
        #expect(late?.octets == 100, "not lost after all")
        for unknown in [0, 4, 40_000].map(SequenceNumber.init) {
            let (arrival, isLost) = (sent.packetArrived(unknown), sent.packetLost(unknown))
            #expect(arrival == nil && !isLost)
        }
    }

    @Test func `numbers wrap, and what is older than the ring is forgotten`() {
        var sent = SentPackets()
        for _ in 0..<70_000 { _ = sent.packetSent(octets: 1_200, at: Self.start) }
        let newest = SequenceNumber(UInt16(truncatingIfNeeded: 70_000))
        let places = [1 - SentPackets.capacity, -SentPackets.capacity, 1, 0]
        let known = places.map { sent.packetArrived(newest + $0) != nil }
        #expect(known == [true, false, false, true])
    }
}
