import CallControl
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Login queue` {
    private var queue = LoginQueue<Int>(configuration)
    private var clock = VirtualClock()

    private static let configuration = {
        var configuration = LoginQueue<Int>.Configuration()
        configuration.threads = 2
        configuration.firstCost = .milliseconds(100)
        return configuration
    }()

    private static func network(_ text: String) -> SourceNetwork {
        guard let address = IPAddress(text) else { preconditionFailure("\(text) is an address") }
        return SourceNetwork(address)
    }

    private mutating func enter(_ ticket: Int, from network: String, isFamiliar: Bool = false) -> LoginQueue<Int>.Entry
    {
        let claim = LoginThrottle.Claim(address("user\(ticket)"), from: Self.network(network))
        return queue.enter(ticket, claim, isFamiliar: isFamiliar, at: clock.now, jitter: 0)
    }

    /// Who is checked next by one thread, in order.
    private mutating func served(_ count: Int) -> [Int] {
        (0..<count).compactMap { _ in
            let ticket = queue.next()
            if ticket != nil { queue.finished(after: .milliseconds(100)) }
            return ticket
        }
    }

    @Test mutating func `as many are checked at once as there are threads`() {
        for ticket in 1...3 { #expect(enter(ticket, from: "192.0.2.1") == .waits) }
        #expect([queue.next(), queue.next(), queue.next()] == [1, 2, nil])
        queue.finished(after: .milliseconds(100))
        #expect([queue.next(), queue.next()] == [3, nil])
    }

    @Test mutating func `networks take turns, so one that has just come waits for one check of each`() {
        for ticket in 1...4 { #expect(enter(ticket, from: "192.0.2.1") == .waits) }
        for ticket in 5...8 { #expect(enter(ticket, from: "192.0.2.2") == .waits) }
        #expect(enter(9, from: "192.0.2.3") == .waits)
        #expect(served(9) == [1, 5, 9, 2, 6, 3, 7, 4, 8])
    }

    @Test mutating func `of strangers a few per network wait, an IPv6 site counting as one`() {
        for ticket in 1...4 { #expect(enter(ticket, from: "2001:db8:1:\(ticket)::1") == .waits) }
        guard case .comesBack = enter(5, from: "2001:db8:1:5::1") else {
            Issue.record("the fifth comes back")
            return
        }
        #expect(enter(6, from: "2001:db8:2:1::1") == .waits)
    }

    @Test mutating func `familiar claims go first, and strangers get every fourth turn`() {
        for ticket in 1...4 { _ = enter(ticket, from: "192.0.2.1") }
        for ticket in 11...18 { _ = enter(ticket, from: "192.0.2.9", isFamiliar: true) }
        #expect(served(12) == [11, 12, 13, 1, 14, 15, 16, 2, 17, 18, 3, 4])
    }

    @Test(arguments: [10, 250, 2_000])
    mutating func `strangers of that many networks keep a familiar claim waiting for one check at most`(_ networks: Int)
    {
        for ticket in 1...networks { _ = enter(ticket, from: "10.0.\(ticket / 256).\(ticket % 256)") }
        _ = served(4)
        #expect(enter(0, from: "192.0.2.1", isFamiliar: true) == .waits)
        #expect(served(2).contains(0))
    }

    @Test mutating func `appointments follow each other as fast as logins are checked`() {
        for ticket in 1...4 { _ = enter(ticket, from: "192.0.2.1") }
        let delays = (5...104).compactMap { ticket -> Duration? in
            if case .comesBack(let delay) = enter(ticket, from: "192.0.2.1") { delay } else { nil }
        }
        #expect(delays.count == 100)
        #expect(zip(delays, delays.dropFirst()).allSatisfy { $1 - $0 == .milliseconds(55) })
        // Four wait already, and two threads take 100 ms for each.
        #expect(delays[0] == .milliseconds(305))
    }

    @Test mutating func `who asks before the time is told the same time`() {
        for ticket in 1...34 { _ = enter(ticket, from: "192.0.2.1") }
        guard case .comesBack(let delay) = enter(35, from: "192.0.2.1") else {
            Issue.record("there is no room")
            return
        }
        // So early that it does not count as kept.
        #expect(delay > .milliseconds(1_500))
        clock.advance(by: .milliseconds(100))
        #expect(enter(35, from: "192.0.2.1") == .comesBack(after: delay - .milliseconds(100)))
    }

    @Test mutating func `appointments end at the horizon`() {
        let delays = (1...20_000).compactMap { ticket -> Duration? in
            if case .comesBack(let delay) = enter(ticket, from: "192.0.2.1") { delay } else { nil }
        }
        #expect(delays.max() == .seconds(300))
    }

    @Test mutating func `a queue that is full gives appointments`() {
        var configuration = Self.configuration
        configuration.limit = 100
        queue = LoginQueue(configuration)
        let waiting = (1...200).filter { enter($0, from: "10.0.0.\($0)") == .waits }
        #expect(waiting.count == 100)
        #expect(queue.waitingCount == 100)
    }

    /// What the web client does: it repeats a request that was refused with 503 after the time it was told, three
    /// times, and then is gone.
    private struct Fleet {
        var queue: LoginQueue<Int>
        var now = VirtualClock().now
        var random: SeededRandomSource
        let cost: Duration
        var arrivals: [(time: MonotonicTime, user: Int, repetition: Int)]
        var finishes: [MonotonicTime] = []
        var returned = 0
        var lost = 0

        init(_ count: Int, cost: Duration, within spread: Duration, seed: UInt64) {
            var configuration = `Login queue`.configuration
            configuration.firstCost = .milliseconds(80)
            queue = LoginQueue(configuration)
            self.cost = cost
            random = SeededRandomSource(seed: seed)
            let start = now
            arrivals = []
            for user in 0..<count {
                arrivals.append((start + spread * (Double(random.next() % 1_000) / 1_000), user, 0))
            }
        }

        /// How long it takes until everybody is in or gone.
        mutating func run(areFamiliar: Bool, from network: (Int) -> SourceNetwork) -> Duration {
            let start = now
            arrivals.sort { $0.time > $1.time }
            while !arrivals.isEmpty || !finishes.isEmpty {
                finishes.sort(by: >)
                if let finish = finishes.last, finish <= arrivals.last?.time ?? finish {
                    now = finish
                    finishes.removeLast()
                    queue.finished(after: cost)
                    returned += 1
                } else if let arrival = arrivals.popLast() {
                    now = arrival.time
                    come(
                        arrival.user, arrival.repetition,
                        LoginThrottle.Claim(address("user\(arrival.user)"), from: network(arrival.user)), areFamiliar)
                }
                while queue.next() != nil { finishes.append(now + cost) }
            }
            return now - start
        }

        private mutating func come(_ user: Int, _ repetition: Int, _ claim: LoginThrottle.Claim, _ isFamiliar: Bool) {
            let jitter = Double(random.next() % 1_000) / 1_000
            guard case .comesBack(let delay) = queue.enter(user, claim, isFamiliar: isFamiliar, at: now, jitter: jitter)
            else { return }
            guard repetition < 3 else {
                lost += 1
                return
            }
            let time = now + delay + .milliseconds(Int64(random.next() % 50))
            let index = arrivals.lastIndex { $0.time > time }.map { $0 + 1 } ?? 0
            arrivals.insert((time, user, repetition + 1), at: index)
        }
    }

    @Test(arguments: [(300, true), (300, false), (1_500, true), (1_500, false), (5_000, true), (5_000, false)])
    func `after a restart a fleet behind one address comes back with three repetitions, none lost`(
        _ count: Int, _ areFamiliar: Bool
    ) {
        var fleet = Fleet(count, cost: .milliseconds(80), within: .seconds(5), seed: UInt64(count))
        let time = fleet.run(areFamiliar: areFamiliar) { _ in Self.network("192.0.2.1") }
        #expect(fleet.lost == 0)
        #expect(fleet.returned == count)
        // Two threads, 80 ms each, and a tenth in reserve.
        #expect(time <= .milliseconds(44) * count * 1.15 + .seconds(5))
    }

    @Test func `a fleet of many networks comes back, none lost`() {
        var fleet = Fleet(3_000, cost: .milliseconds(80), within: .seconds(5), seed: 11)
        let time = fleet.run(areFamiliar: true) { Self.network("10.0.\($0 % 12).\($0 % 250)") }
        #expect(fleet.lost == 0)
        #expect(time <= .milliseconds(44) * 3_000 * 1.3 + .seconds(5))
    }

    @Test func `checks that take twice as long as thought lose nobody`() {
        var fleet = Fleet(2_000, cost: .milliseconds(160), within: .seconds(5), seed: 12)
        _ = fleet.run(areFamiliar: true) { _ in Self.network("192.0.2.1") }
        #expect(fleet.lost == 0)
    }
}
