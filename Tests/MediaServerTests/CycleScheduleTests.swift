import MediaServer
import Primitives
import Testing

/// When cycles of an audio engine are due.
struct CycleScheduleTests {
    /// A multiple of the step.
    private static let origin = MonotonicTime(nanoseconds: 1_000_000_000)

    private static func schedule(from start: Duration = .zero) -> CycleSchedule {
        var schedule = CycleSchedule()
        schedule.setNeeded(true, at: origin + start)
        return schedule
    }

    /// Milliseconds from the origin to the next cycle.
    private static func next(of schedule: CycleSchedule) -> Int64? {
        schedule.next.map { ($0 - origin).wholeNanoseconds / 1_000_000 }
    }

    @Test(arguments: [(0, 0), (1, 2), (1_999, 2), (2_000, 2), (2_001, 4), (19_000, 20)] as [(Int64, Int64)])
    func `cycles are due every 20 ms, at multiples of the step`(_ microseconds: Int64, _ first: Int64) {
        var schedule = Self.schedule(from: .microseconds(microseconds))
        #expect(Self.next(of: schedule) == first)
        for cycle in 1...5 {
            _ = schedule.start(at: Self.origin + .milliseconds(20 * cycle))
            #expect(Self.next(of: schedule) == first + Int64(20 * cycle))
        }
    }

    @Test func `what is needed goes on, and what is not needed ends`() {
        var schedule = Self.schedule()
        schedule.setNeeded(true, at: Self.origin + .milliseconds(7))
        #expect(Self.next(of: schedule) == 0)
        schedule.setNeeded(false, at: Self.origin + .milliseconds(8))
        #expect(schedule.next == nil)
        schedule.setNeeded(true, at: Self.origin + .milliseconds(9))
        #expect(Self.next(of: schedule) == 10)
    }

    @Test(arguments: [(0, 0, 0), (19, 0, 0), (100, 0, 0), (101, 100, 5), (119, 100, 5), (1_000, 1_000, 50)])
    func `cycles that are far too late are left out`(_ lateness: Int, _ due: Int, _ skipped: Int) {
        var schedule = Self.schedule()
        let started = schedule.start(at: Self.origin + .milliseconds(lateness))
        #expect(started.due == Self.origin + .milliseconds(due))
        #expect(started.skipped == skipped)
        #expect(Self.next(of: schedule) == Int64(due + 20))
    }

    @Test(
        arguments: [
            (0, 0), (1, 2), (9, 10), (10, 10), (11, -8), (19, 0), (20, 0), (25, 6), (-3, -2), (-13, 8), (1_007, 8),
        ] as [(Int, Int64)])
    func `cycles move to a time by half a cycle at most`(_ time: Int, _ due: Int64) {
        var schedule = Self.schedule()
        schedule.move(to: Self.origin + .milliseconds(time), at: Self.origin)
        #expect(Self.next(of: schedule) == due)
        #expect(schedule.start(at: Self.origin + .milliseconds(10)).due == Self.origin + .milliseconds(due))
        #expect(Self.next(of: schedule) == due + 20)
    }

    @Test func `cycles move once a second, whatever a peer does`() {
        var schedule = Self.schedule()
        schedule.move(to: Self.origin + .milliseconds(8), at: Self.origin)
        #expect(Self.next(of: schedule) == 8)
        var now = Self.origin
        for _ in 1...500 {
            now = schedule.start(at: schedule.next ?? now).due
            schedule.move(to: now + .milliseconds(30), at: now)
        }
        // Ten seconds, in which cycles move by up to 10 ms each second.
        #expect(abs((now - Self.origin).wholeNanoseconds - 9_988_000_000) <= 120_000_000)
    }

    @Test func `where there are no cycles nothing moves`() {
        var schedule = CycleSchedule()
        schedule.move(to: Self.origin, at: Self.origin)
        #expect(schedule.next == nil)
    }
}
