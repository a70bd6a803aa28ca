import BenchValues
import Testing

@Suite struct DelayTests {
    private func delays(_ microseconds: [UInt64]) -> DelayHistogram {
        var delays = DelayHistogram()
        for each in microseconds { delays.record(nanoseconds: each * 1_000) }
        return delays
    }

    @Test func `a percentile is the delay that so many did not exceed`() {
        let all = delays(Array(1...100))
        #expect(all.percentile(0.5) == 50)
        #expect(all.percentile(0.99) == 99)
        #expect(all.percentile(1) == 100)
        #expect(delays([]).percentile(0.5) == 0)
    }

    @Test func `delays of more than a tenth of a second are told by the millisecond`() {
        let all = delays([250_400, 1_200_000, 1_200_000])
        #expect(all.percentile(0.1) == 250_999)
        #expect(all.milliseconds(0.1) == "251.00")
        #expect(all.percentile(1) == 1_200_000)
    }

    @Test func `delays of more than ten seconds are told to be more than that`() {
        let all = delays([10, 20_000_000])
        #expect(all.milliseconds(0.5) == "0.01")
        #expect(all.milliseconds(0.99) == "more than 10000")
        #expect(all.percentile(0.99) == 20_000_000)
        #expect(all.maximum == 20_000_000)
    }

    @Test func `the delays of two rounds are those of both`() {
        var all = delays([10, 20])
        all += delays([30, 20_000_000])
        #expect(all.count == 4)
        #expect(all.percentile(0.75) == 30)
        #expect(all.maximum == 20_000_000)
    }

    @Test func `a generator in time has no fault`() {
        var state = GeneratorState()
        #expect(state.fault == nil)
        for _ in 0..<99 { state.lateness.record(nanoseconds: 5_000_000) }
        // One packet in a hundred may be as late as it likes.
        state.lateness.record(nanoseconds: 90_000_000)
        #expect(state.fault == nil)
    }

    @Test func `a generator that was late or lossy says so`() {
        var late = GeneratorState()
        for _ in 0..<98 { late.lateness.record(nanoseconds: 0) }
        for _ in 0..<2 { late.lateness.record(nanoseconds: 6_000_000) }
        #expect(late.fault == "the peers were late (p99 6.00 ms, at most 5 ms; latest 6.0 ms)")
        var lossy = GeneratorState()
        lossy.dropped = 3
        #expect(lossy.fault == "the peers were lossy (3 packets found their receive buffer full)")
        lossy += late
        lossy.unsent = 2
        #expect(lossy.fault?.contains("late (p99 6.00 ms") == true)
        #expect(lossy.fault?.contains("unable to send 2 packets and lossy (3") == true)
    }
}
