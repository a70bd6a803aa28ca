/// Delays by the microsecond, up to a tenth of a second; what is longer counts as that.
struct DelayHistogram {
    private static let limit = 100_000
    private var counts = [Int](repeating: 0, count: DelayHistogram.limit + 1)
    private(set) var count = 0
    /// The longest, in microseconds, however long.
    private(set) var maximum = 0

    mutating func record(nanoseconds: UInt64) {
        let microseconds = Int(clamping: nanoseconds / 1_000)
        counts[min(microseconds, Self.limit)] += 1
        count += 1
        maximum = max(maximum, microseconds)
    }

    /// The delay that this share of the packets did not exceed, in microseconds.
    func percentile(_ share: Double) -> Int {
        var left = Int((Double(count) * share).rounded(.up))
        for (microseconds, count) in counts.enumerated() {
            left -= count
            if left <= 0 { return microseconds }
        }
        return maximum
    }

    static func += (total: inout Self, more: Self) {
        for index in total.counts.indices { total.counts[index] += more.counts[index] }
        total.count += more.count
        total.maximum = max(total.maximum, more.maximum)
    }
}
