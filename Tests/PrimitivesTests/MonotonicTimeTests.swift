import Primitives
import Testing

@Suite struct MonotonicTimeTests {
    private static let longest = Duration(attoseconds: .max)
    private static let shortest = Duration(attoseconds: .min)

    @Test(
        arguments: [
            (0, .zero, 0), (5, .nanoseconds(3), 8), (5, .nanoseconds(-3), 2), (5, .nanoseconds(-5), 0),
            (5, .nanoseconds(-6), 0), (.max - 1, .nanoseconds(1), .max), (.max - 1, .nanoseconds(2), .max),
            (.max, .nanoseconds(-1), .max - 1), (0, longest, UInt64(Int64.max)), (1 << 63, longest, .max),
            (7, shortest, 0),
            (1, .seconds(Int64.max), UInt64(Int64.max) + 1), (9, .seconds(Int64.min), 0),
        ] as [(UInt64, Duration, UInt64)])
    func `adding saturates`(_ start: UInt64, _ duration: Duration, _ end: UInt64) {
        #expect(MonotonicTime(nanoseconds: start) + duration == MonotonicTime(nanoseconds: end))
    }

    @Test(
        arguments: [
            (5, .nanoseconds(3), 2), (5, .nanoseconds(6), 0), (5, .nanoseconds(-3), 8), (.max, .nanoseconds(-1), .max),
            (7, longest, 0), (0, shortest, 1 << 63), (3, .seconds(Int64.min), Int64.min.magnitude + 3),
            (3, .seconds(Int64.max), 0),
        ] as [(UInt64, Duration, UInt64)])
    func `subtracting saturates`(_ start: UInt64, _ duration: Duration, _ end: UInt64) {
        #expect(MonotonicTime(nanoseconds: start) - duration == MonotonicTime(nanoseconds: end))
    }

    @Test(
        arguments: [
            (8, 5, 3), (5, 8, -3), (5, 5, 0), (.max, 0, .max), (0, .max, -.max),
        ] as [(UInt64, UInt64, Int64)])
    func `differences have a sign and saturate`(_ a: UInt64, _ b: UInt64, _ nanoseconds: Int64) {
        #expect(MonotonicTime(nanoseconds: a) - MonotonicTime(nanoseconds: b) == .nanoseconds(nanoseconds))
    }

    @Test(
        arguments: [
            (.seconds(1), 1_000_000_000), (.milliseconds(-20), -20_000_000), (Duration(attoseconds: 999_999_999), 0),
            (longest, .max), (shortest, .min), (.seconds(Int64.max), .max), (.seconds(Int64.min), .min),
        ] as [(Duration, Int64)])
    func `durations are clamped to 64 bits of nanoseconds`(_ duration: Duration, _ nanoseconds: Int64) {
        #expect(duration.wholeNanoseconds == nanoseconds)
    }

    @Test func `the earlier deadline wins and the first of equals stays`() {
        let soon = Deadline(MonotonicTime(nanoseconds: 1), "soon")
        let late = Deadline(MonotonicTime(nanoseconds: 2), "late")
        let also = Deadline(MonotonicTime(nanoseconds: 1), "also")
        #expect(Deadline.earlier(soon, late) == soon)
        #expect(Deadline.earlier(late, soon) == soon)
        #expect(Deadline.earlier(soon, also) == soon)
        #expect(Deadline.earlier(nil, late) == late)
        #expect(Deadline.earlier(late, nil) == late)
        #expect(Deadline<String>.earlier(nil, nil) == nil)
    }
}
