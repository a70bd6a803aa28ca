import MediaPlane
import Primitives
import Testing

/// How busy a worker is, and which one takes a new call.
@Suite struct `Load of media workers` {
    private var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var used = Duration.zero
    private var (received, dropped, corrupt) = (UInt64.max - 1, UInt32.max - 1, UInt64.max - 1)
    private var (calls, started) = (0, Int.max - 1)
    private lazy var load = WorkerLoad(measurement)

    private var measurement: WorkerLoad.Measurement {
        .init(
            time: now, used: used, received: received, dropped: dropped, corrupt: corrupt, calls: calls,
            started: started)
    }

    /// `corrupt`: so many of those that are dropped have a wrong checksum.
    private mutating func pass(
        _ seconds: Int, busy percent: Int, receiving count: UInt64 = 1_000, dropping datagrams: UInt32 = 0,
        corrupt wrong: UInt64 = 0
    ) -> UInt32 {
        _ = load
        now = now + .seconds(seconds)
        used += .milliseconds(seconds * percent * 10)
        received &+= count
        dropped &+= datagrams
        corrupt &+= wrong
        return load.take(measurement)
    }

    @Test mutating func `the load follows the use of the processor within seconds`() {
        #expect(load.percent == 0 && load.nextTime == nil)
        for _ in 0..<8 { #expect(pass(1, busy: 80) == 0) }
        #expect(load.percent >= 78 && load.percent <= 80)
        #expect(load.nextTime == now + .seconds(1))
        #expect(!load.isDue(at: now + .milliseconds(999)) && load.isDue(at: now + .seconds(1)))
    }

    @Test mutating func `a worker that does nothing is measured no more`() {
        for _ in 0..<8 { _ = pass(1, busy: 100) }
        for _ in 0..<8 { _ = pass(1, busy: 0) }
        #expect(load.percent == 0 && load.nextTime == nil)
        // The first measurement after a long sleep is over all of it.
        _ = pass(1_000, busy: 0)
        #expect(load.percent == 0)
    }

    @Test mutating func `a worker that is busy all the time is full within three seconds`() {
        for _ in 0..<3 { _ = pass(1, busy: 100) }
        #expect(load.percent >= 98)
        for _ in 0..<3 { _ = pass(1, busy: 100) }
        #expect(load.percent == 100)
    }

    @Test mutating func `a few lost datagrams, and wrong checksums, make no worker full`() {
        _ = pass(1, busy: 10)
        #expect(pass(1, busy: 10, receiving: 0, dropping: 99) == 99)
        #expect(load.percent <= 10)
        #expect(pass(1, busy: 10, receiving: 100_000, dropping: 900) == 900)
        #expect(load.percent <= 10)
        #expect(pass(1, busy: 10, dropping: 5_000, corrupt: 4_950) == 5_000)
        #expect(load.percent <= 10)
        // Other processes have such datagrams as well.
        #expect(pass(1, busy: 10, dropping: 50, corrupt: 70) == 50)
        #expect(load.percent <= 10)
    }

    @Test mutating func `a worker that loses many datagrams is full for five seconds`() {
        _ = pass(1, busy: 10)
        #expect(pass(1, busy: 10, receiving: 9_000, dropping: 100) == 100)
        #expect(load.percent == 100)
        _ = pass(4, busy: 10)
        #expect(load.percent == 100)
        _ = pass(1, busy: 10)
        #expect(load.percent <= 10)
    }

    @Test mutating func `calls that have ended share in the load that they have caused`() {
        _ = load
        started &+= 400
        calls = 1
        _ = pass(1, busy: 40)
        #expect((load.percent, load.servedCalls) == (30, 400))
        let busy = WorkerChoice.Candidate(load: 30, measuredCalls: 1, servedCalls: 400, calls: 101)
        #expect(busy.expected == 40)
        // The load of before fades, and the calls that it was of with it.
        for served in [200, 100, 50, 25] {
            _ = pass(1, busy: 0)
            #expect(load.servedCalls == served)
        }
        calls = 60
        started &+= 59
        _ = pass(1, busy: 0)
        #expect(load.servedCalls == 60)
    }

    // MARK: Choice

    private func place(_ workers: [(load: Int, measured: Int, calls: Int)], _ random: UInt64) -> Int {
        WorkerChoice.place(
            among: workers.map {
                .init(load: $0.load, measuredCalls: $0.measured, servedCalls: $0.measured, calls: $0.calls)
            }, random: random)
    }

    @Test func `a new call goes to the worker with the least load`() {
        for random in 0..<10 as Range<UInt64> {
            #expect(place([(60, 90, 90), (20, 30, 30), (40, 60, 60)], random) == 1)
        }
    }

    @Test func `workers with about the same load take turns at random`() {
        let places = (0..<10 as Range<UInt64>).map { place([(20, 30, 30), (50, 80, 80), (24, 30, 30)], $0) }
        #expect(Set(places) == [0, 2])
    }

    @Test func `calls that came since the measurement count`() {
        // The second worker has twice the calls that it was measured with.
        #expect((0..<10 as Range<UInt64>).allSatisfy { place([(30, 50, 50), (20, 30, 60)], $0) == 0 })
        // Idle workers of which one has taken many calls this second.
        #expect((0..<10 as Range<UInt64>).allSatisfy { place([(0, 0, 100), (0, 0, 0)], $0) == 1 })
    }
}
