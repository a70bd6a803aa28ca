import MediaPlane
import Primitives
import Testing

/// When a worker looks at its sockets again.
@Suite struct `Pacing of wake-ups` {
    private var pacing = WakeUpPacing(isEnabled: true)
    private var now = MonotonicTime(nanoseconds: 1_000_000_000_000)

    /// Turns that start this far apart and receive so many packets each, for 100 ms. Returns the last answer, as the
    /// time from the start of the turn.
    private mutating func run(_ packets: Int, every gap: Duration, turn: Duration = .microseconds(20)) -> Duration? {
        var wait: Duration?
        let end = now + .milliseconds(100)
        while now < end {
            pacing.noteMedia(packets)
            wait = pacing.endTurn(startedAt: now, now: now + turn).map { [now] in $0 - now }
            now = now + gap
        }
        return wait
    }

    @Test mutating func `turns start half a millisecond apart where packets come often`() {
        #expect(run(1, every: .microseconds(100)) == .microseconds(500))
        #expect(run(5, every: .microseconds(500)) == .microseconds(500), "the pause does not end itself")
    }

    @Test mutating func `nothing waits where packets are rare`() {
        #expect(run(1, every: .microseconds(300)) == nil)
        #expect(run(1, every: .microseconds(200)) == .microseconds(500))
        #expect(run(1, every: .milliseconds(1)) == nil, "and no more once they are rare again")
    }

    @Test mutating func `nothing waits after a turn that took as long`() {
        #expect(run(40, every: .microseconds(600), turn: .microseconds(499)) == .microseconds(500))
        #expect(run(40, every: .microseconds(600), turn: .microseconds(500)) == nil)
    }

    @Test mutating func `nothing waits while a handshake goes on`() {
        _ = run(1, every: .microseconds(100))
        pacing.noteHandshake(at: now)
        for _ in 0..<199 {
            pacing.noteMedia()
            #expect(pacing.endTurn(startedAt: now, now: now + .microseconds(20)) == nil)
            now = now + .microseconds(100)
        }
        pacing.noteMedia()
        #expect(pacing.endTurn(startedAt: now, now: now + .microseconds(100)) != nil)
    }

    @Test mutating func `nothing waits after a check, once`() {
        _ = run(1, every: .microseconds(100))
        pacing.noteCheck()
        #expect(pacing.endTurn(startedAt: now, now: now + .microseconds(20)) == nil)
        #expect(pacing.endTurn(startedAt: now, now: now + .microseconds(20)) != nil)
    }

    @Test mutating func `a quiet worker waits for nothing after it was busy`() {
        _ = run(1, every: .microseconds(100))
        now = now + .seconds(5)
        pacing.noteMedia()
        #expect(pacing.endTurn(startedAt: now, now: now + .microseconds(20)) == nil)
    }

    @Test mutating func `it can be switched off`() {
        pacing = WakeUpPacing(isEnabled: false)
        #expect(run(1, every: .microseconds(100)) == nil)
    }
}
