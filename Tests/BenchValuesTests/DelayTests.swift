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
}
