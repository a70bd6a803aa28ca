import EventAPI
import Primitives
import TestSupport
import Testing

/// What one webhook is owed.
struct WebhookQueueTests {
    private typealias Delivery = WebhookQueue.Delivery

    private static let start: Int64 = 1_700_000_000_000
    private var random = SeededRandomSource(seed: 1)

    private func delivery(_ number: Int64, _ call: String) -> Delivery {
        Delivery(number: number, call: call, content: [UInt8(number)])
    }

    private func at(_ seconds: Int64) -> MonotonicTime { .zero + .seconds(seconds) }

    @Test func `the deliveries of a call leave one after the other, those of others do not wait`() throws {
        var (queue, random) = (WebhookQueue(), self.random)
        for each in [delivery(1, "a"), delivery(2, "a"), delivery(3, "b"), delivery(4, "a")] { queue.add(each) }
        #expect(queue.count == 4)
        #expect(queue.takeDue(at: at(0)).map(\.number) == [1, 3])
        #expect(queue.takeDue(at: at(0)).isEmpty)
        #expect(queue.ended(1, .delivered, at: at(0), time: Self.start, random: &random) == .delivered)
        #expect(queue.takeDue(at: at(0)).map(\.number) == [2])
        #expect(queue.ended(2, .delivered, at: at(0), time: Self.start, random: &random) == .delivered)
        #expect(queue.ended(2, .delivered, at: at(0), time: Self.start, random: &random) == nil, "it is over")
        #expect(queue.takeDue(at: at(0)).map(\.number) == [4])
        #expect(queue.count == 2 && queue.nextDeadline == nil)
    }

    @Test func `no more are on their way than may be`() {
        var configuration = WebhookQueue.Configuration()
        configuration.inFlight = 2
        var (queue, random) = (WebhookQueue(configuration), self.random)
        for number in 1...4 as ClosedRange<Int64> { queue.add(delivery(number, "call \(number)")) }
        #expect(queue.takeDue(at: at(0)).map(\.number) == [1, 2])
        #expect(queue.takeDue(at: at(0)).isEmpty)
        _ = queue.ended(2, .delivered, at: at(0), time: Self.start, random: &random)
        #expect(queue.takeDue(at: at(0)).map(\.number) == [3])
    }

    @Test func `calls take turns, each in its order, and one that was through starts anew`() {
        var configuration = WebhookQueue.Configuration()
        configuration.inFlight = 3
        var (queue, random) = (WebhookQueue(configuration), self.random)
        var left: [Int64] = []
        func send() {
            let taken = queue.takeDue(at: at(0)).map(\.number)
            left += taken
            for number in taken {
                #expect(queue.ended(number, .delivered, at: at(0), time: Self.start, random: &random) == .delivered)
            }
        }
        // Of seven calls each has nine: 1, 8, 15 and so on are of the first one.
        let numbers = Array(1...63 as ClosedRange<Int64>)
        for number in numbers { queue.add(Delivery(number: number, call: "call \(number % 7)", content: [])) }
        while queue.count > 0, left.count < numbers.count { send() }
        #expect(left == numbers && queue.count == 0)
        queue.add(delivery(64, "call 1"))
        send()
        #expect(left.last == 64 && queue.count == 0)
    }

    @Test func `of those that have failed the one whose wait is over first leaves first`() {
        var (queue, random) = (WebhookQueue(), self.random)
        for number in 1...3 as ClosedRange<Int64> { queue.add(delivery(number, "call \(number)")) }
        _ = queue.takeDue(at: at(0))
        for (number, seconds) in [(1, 90), (2, 30), (3, 60)] as [(Int64, Int64)] {
            _ = queue.ended(
                number, .failed(reason: "busy", after: .seconds(seconds)), at: at(0), time: Self.start, random: &random)
        }
        #expect(queue.nextDeadline == at(30))
        #expect(queue.takeDue(at: at(29)).isEmpty)
        #expect(queue.takeDue(at: at(60)).map(\.number) == [2, 3])
        #expect(queue.nextDeadline == at(90))
        #expect(queue.takeDue(at: at(90)).map(\.number) == [1])
        #expect(queue.nextDeadline == nil)
    }

    @Test func `without an answer one is on its way at a time, and with each answer twice as many`() throws {
        var configuration = WebhookQueue.Configuration()
        configuration.inFlight = 5
        var (queue, random) = (WebhookQueue(configuration), self.random)
        for number in 1...40 as ClosedRange<Int64> { queue.add(delivery(number, "call \(number)")) }
        var underway = Set(queue.takeDue(at: at(0)).map(\.number))
        #expect(underway == [1, 2, 3, 4, 5])
        func end(_ outcome: WebhookQueue.Outcome) throws {
            let number = try #require(underway.first)
            underway.remove(number)
            #expect(queue.ended(number, outcome, at: at(0), time: Self.start, random: &random) != nil)
            underway.formUnion(queue.takeDue(at: at(0)).map(\.number))
        }
        // Those that are on their way stay so.
        for left in [4, 3, 2, 1, 1, 1] {
            try end(.unanswered(reason: "no response in time"))
            #expect(underway.count == left)
        }
        for count in [2, 4, 5, 5] {
            try end(.delivered)
            #expect(underway.count == count)
        }
        // A status is an answer.
        try end(.unanswered(reason: "no connection"))
        #expect(underway.count == 4)
        for count in [3, 4, 5] {
            try end(.failed(reason: "status 500"))
            #expect(underway.count == count, "none leaves until there is room")
        }
    }

    @Test func `a failed one is tried again later and later, and its call waits`() throws {
        var (queue, random) = (WebhookQueue(), self.random)
        queue.add(delivery(1, "a"))
        queue.add(delivery(2, "a"))
        queue.add(delivery(3, "b"))
        var now = at(0)
        var waits: [Duration] = []
        for attempt in 1...12 {
            let taken = queue.takeDue(at: now).map(\.number)
            #expect(taken == (attempt == 1 ? [1, 3] : [1]))
            if attempt == 1 { _ = queue.ended(3, .delivered, at: now, time: Self.start, random: &random) }
            let verdict = queue.ended(1, .failed(reason: "no"), at: now, time: Self.start, random: &random)
            guard case .retried(let delivery) = verdict else {
                Issue.record("it is tried again")
                return
            }
            #expect(delivery.attempts == attempt && delivery.failingSince == Self.start && delivery.reason == "no")
            #expect(queue.takeDue(at: now).isEmpty)
            let next = try #require(queue.nextDeadline)
            waits.append(next - now)
            now = next
        }
        for (attempt, wait) in waits.enumerated() {
            let full = min(600, 2 << attempt)
            #expect(wait >= .seconds(full) / 2 && wait <= .seconds(full), "attempt \(attempt + 1)")
        }
        #expect(queue.takeDue(at: now).map(\.number) == [1])
        _ = queue.ended(1, .delivered, at: now, time: Self.start, random: &random)
        #expect(queue.takeDue(at: now).map(\.number) == [2])
    }

    @Test func `a receiver may ask for more time, but not for too much`() throws {
        var (queue, random) = (WebhookQueue(), self.random)
        queue.add(delivery(1, "a"))
        _ = queue.takeDue(at: at(0))
        _ = queue.ended(
            1, .failed(reason: "busy", after: .seconds(60)), at: at(0), time: Self.start, random: &random)
        #expect(queue.nextDeadline == at(60))
        _ = queue.takeDue(at: at(60))
        _ = queue.ended(
            1, .failed(reason: "busy", after: .seconds(86_400)), at: at(60), time: Self.start, random: &random)
        #expect(queue.nextDeadline == at(660))
    }

    @Test func `after its time it is parked, and the call goes on`() {
        var configuration = WebhookQueue.Configuration()
        configuration.retryTime = .seconds(10)
        var (queue, random) = (WebhookQueue(configuration), self.random)
        // Another process has tried it before.
        queue.add(
            Delivery(number: 1, call: "a", content: [], attempts: 3, failingSince: Self.start - 9_000, reason: "old"))
        queue.add(delivery(2, "a"))
        _ = queue.takeDue(at: at(0))
        let first = queue.ended(1, .failed(reason: "no"), at: at(0), time: Self.start, random: &random)
        guard case .retried = first, let next = queue.nextDeadline else {
            Issue.record("there is a second left")
            return
        }
        _ = queue.takeDue(at: next)
        let last = queue.ended(1, .failed(reason: "no"), at: next, time: Self.start + 1_000, random: &random)
        let parked = Delivery(
            number: 1, call: "a", content: [], attempts: 5, failingSince: Self.start - 9_000, reason: "no")
        #expect(last == .parked(parked))
        #expect(queue.takeDue(at: next).map(\.number) == [2] && queue.count == 1)
    }

    @Test func `a status says whether the event was taken`() {
        #expect(WebhookSignature.outcome(status: 204, after: nil) == .delivered)
        #expect(WebhookSignature.outcome(status: 302, after: .seconds(1)) == .failed(reason: "status 302"))
        #expect(
            WebhookSignature.outcome(status: 503, after: .seconds(7))
                == .failed(reason: "status 503", after: .seconds(7)))
        let cursor = EventCursor(log: "ab", number: 7)
        #expect(WebhookSignature.name(of: cursor) == "evt_ab-7")
        #expect(
            WebhookSignature.signedBytes(name: "evt_ab-7", seconds: 9, content: Array("{}".utf8))
                == Array("evt_ab-7.9.{}".utf8))
        #expect(WebhookSignature.field(codes: ["x", "y"]) == "v1,x v1,y")
    }
}
