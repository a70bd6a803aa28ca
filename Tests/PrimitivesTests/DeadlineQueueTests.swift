import Primitives
import TestSupport
import Testing

struct DeadlineQueueTests {
    private func at(_ seconds: Int) -> MonotonicTime { .zero + .seconds(seconds) }

    @Test func `the earliest comes first, a deadline that was moved at its new time, one that was cancelled never`() {
        var queue = DeadlineQueue()
        for (id, seconds) in [(1, 5), (2, 3), (3, 4)] as [(UInt64, Int)] { queue.set(at(seconds), for: id) }
        queue.set(at(6), for: 2)
        queue.set(nil, for: 3)
        #expect(queue.earliest == at(5))
        #expect(queue.popDue(at: at(4)) == nil)
        #expect(queue.popDue(at: at(6)) == 1)
        #expect(queue.popDue(at: at(6)) == 2)
        #expect(queue.popDue(at: at(60)) == nil && queue.earliest == nil)
    }

    /// Two queues get the same, and one of them discards what was moved after each step.
    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `what was moved is discarded without any effect on the others`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        var (queue, other) = (DeadlineQueue(), DeadlineQueue())
        for _ in 0..<2_000 {
            let id = random.next() % 20
            // No two have the same time, so that there is one order.
            let time = random.next() % 4 == 0 ? nil : MonotonicTime(nanoseconds: random.next() >> 1)
            queue.set(time, for: id)
            other.set(time, for: id)
            queue.discardMoved()
            #expect(queue.earliest == other.earliest)
        }
        while let id = other.popDue(at: MonotonicTime(nanoseconds: .max)) {
            #expect(queue.popDue(at: MonotonicTime(nanoseconds: .max)) == id)
        }
        #expect(queue.earliest == nil)
    }
}
