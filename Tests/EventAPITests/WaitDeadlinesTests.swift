import EventAPI
import Primitives
import Testing

/// When waits for events are over.
struct WaitDeadlinesTests {
    private func time(_ milliseconds: Int64) -> MonotonicTime { .zero + .milliseconds(milliseconds) }

    @Test func `a wait is over at its time or less than a step later, and the first ones come first`() {
        var deadlines = WaitDeadlines()
        #expect(deadlines.earliest == nil)
        #expect(deadlines.set(time(1_000), for: 3) == time(1_000))
        #expect(deadlines.set(time(101), for: 2) == time(150))
        #expect(deadlines.set(time(150), for: 1) == time(150))
        #expect(deadlines.earliest == time(150))
        #expect(deadlines.takeDue(at: time(149)) == [])
        #expect(deadlines.takeDue(at: time(150)) == [1, 2])
        #expect(deadlines.earliest == time(1_000))
        #expect(deadlines.takeDue(at: time(5_000)) == [3])
        #expect(deadlines.earliest == nil && deadlines.takeDue(at: time(9_000)) == [])
    }

    @Test func `a wait that has ended is not over again, and one that is set again has its new time`() {
        var deadlines = WaitDeadlines()
        _ = deadlines.set(time(100), for: 1)
        _ = deadlines.set(time(100), for: 2)
        deadlines.remove(1)
        deadlines.remove(7)
        _ = deadlines.set(time(200), for: 2)
        #expect(deadlines.earliest == time(200))
        #expect(deadlines.takeDue(at: time(199)) == [] && deadlines.takeDue(at: time(200)) == [2])
    }

    @Test func `many waits that end before leave nothing behind`() {
        var deadlines = WaitDeadlines()
        for wait in 0..<10_000 as Range<UInt64> {
            _ = deadlines.set(time(15_000 + Int64(wait)), for: wait)
            deadlines.remove(wait)
        }
        #expect(deadlines.earliest == nil)
    }

    @Test func `a time at the end of the clock is one`() {
        var deadlines = WaitDeadlines()
        let end = MonotonicTime(nanoseconds: .max)
        #expect(deadlines.set(end, for: 1) == end)
        #expect(deadlines.takeDue(at: end) == [1])
    }
}
