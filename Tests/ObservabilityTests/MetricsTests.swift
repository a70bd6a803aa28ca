import Testing

import Observability

@Suite struct MetricsTests {
    @Test func `counters add up over many tasks`() async {
        let counter = Counter()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask { for _ in 0..<1_000 { counter.increment() } }
            }
        }
        counter.increment(by: 5)
        #expect(counter.value == 8_005)
    }

    @Test func `a gauge goes up and down`() {
        let gauge = Gauge()
        gauge.increment()
        gauge.increment(by: 3)
        gauge.decrement(by: 2)
        #expect(gauge.value == 2)
        gauge.set(-1)
        #expect(gauge.value == -1)
    }

    @Test(
        arguments: [
            (.zero, [1, 1, 1]),
            (.milliseconds(100), [1, 1, 1]),
            (.milliseconds(101), [0, 1, 1]),
            (.seconds(1), [0, 1, 1]),
            (.seconds(2), [0, 0, 1]),
        ] as [(Duration, [UInt64])])
    func `a histogram counts what is at most as long as its bound`(_ duration: Duration, _ counts: [UInt64]) {
        let histogram = Histogram(bounds: [.milliseconds(100), .seconds(1)])
        histogram.observe(duration)
        #expect(histogram.cumulativeCounts == counts)
        #expect(histogram.sum == duration)
    }

    @Test func `a negative duration counts as zero`() {
        let histogram = Histogram(bounds: [.seconds(1)])
        histogram.observe(.seconds(-5))
        #expect(histogram.sum == .zero)
        #expect(histogram.cumulativeCounts == [1, 1])
    }

    @Test func `a family keeps its labels apart`() {
        let family = CounterFamily<PacketDropReason>()
        family[.late].increment()
        family[.malformed].increment(by: 2)
        #expect(family[.late].value == 1)
        #expect(family[.malformed].value == 2)
        #expect(family[.overload].value == 0)
    }

    @Test(
        arguments: [
            (101, .informational), (200, .success), (304, .redirection), (404, .clientError), (503, .serverError),
            (0, .serverError),
        ] as [(Int, HTTPStatusClass)])
    func `a status belongs to its class`(_ status: Int, _ expected: HTTPStatusClass) {
        #expect(HTTPStatusClass(status: status) == expected)
    }
}
