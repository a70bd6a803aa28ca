internal import Foundation

/// Delays by the microsecond up to a tenth of a second, and by the millisecond up to ten seconds. Of longer ones only
/// the number and the longest are known.
package struct DelayHistogram: Equatable, Sendable {
    private static let fine = 100_000
    private static let limit = 10_000_000
    private static let places = fine + (limit - fine) / 1_000 + 1
    private var counts = [Int](repeating: 0, count: DelayHistogram.places)
    /// How many delays there are.
    package private(set) var count = 0
    /// The longest, in microseconds, however long.
    package private(set) var maximum = 0

    /// Makes one without delays.
    package init() {}

    /// Adds a delay.
    package mutating func record(nanoseconds: UInt64) {
        let microseconds = Int(clamping: nanoseconds / 1_000)
        counts[Self.place(of: microseconds)] += 1
        count += 1
        maximum = max(maximum, microseconds)
    }

    /// The delay that this share of them did not exceed, in microseconds; the longest of all where it is more than ten
    /// seconds, and 0 if there are none.
    ///
    /// - Parameter share: From 0 to 1.
    package func percentile(_ share: Double) -> Int {
        place(of: share).map { min(maximum, Self.delay(at: $0)) } ?? maximum
    }

    /// The same in milliseconds, as text: `0.52`, or `more than 10000`.
    package func milliseconds(_ share: Double) -> String {
        guard let found = place(of: share) else { return "more than \(Self.limit / 1_000)" }
        return String(format: "%.2f", Double(min(maximum, Self.delay(at: found))) / 1_000)
    }

    /// Adds all delays of another one.
    package static func += (total: inout Self, more: Self) {
        for index in total.counts.indices { total.counts[index] += more.counts[index] }
        total.count += more.count
        total.maximum = max(total.maximum, more.maximum)
    }

    /// `nil`: among the longest, of which nothing else is known.
    private func place(of share: Double) -> Int? {
        guard count > 0 else { return 0 }
        var left = Int((Double(count) * share).rounded(.up))
        for (place, count) in counts.dropLast().enumerated() {
            left -= count
            if left <= 0 { return place }
        }
        return nil
    }

    private static func place(of microseconds: Int) -> Int {
        if microseconds < fine { return microseconds }
        return fine + (min(microseconds, limit) - fine) / 1_000
    }

    private static func delay(at place: Int) -> Int {
        place < fine ? place : fine + (place - fine) * 1_000 + 999
    }
}
