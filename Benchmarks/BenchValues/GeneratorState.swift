internal import Foundation

/// How well a load generator kept up while something else was measured. A generator that was late, or that lost packets
/// by itself, sent another load than it says: what the server cost meanwhile is then no figure.
package struct GeneratorState: Equatable, Sendable {
    /// The lateness up to which the 99th percentile counts as in time, in microseconds.
    package static let bound = 5_000

    /// How late each packet was sent, by the generator's own schedule.
    package var lateness = DelayHistogram()
    /// Packets that found the generator's send buffer full.
    package var unsent = 0
    /// Packets that the kernel dropped because the generator's receive buffer was full.
    package var dropped = 0

    /// Makes one that has been in time, and has lost nothing.
    package init() {}

    /// Adds what another round had.
    package static func += (total: inout Self, more: Self) {
        total.lateness += more.lateness
        total.unsent += more.unsent
        total.dropped += more.dropped
    }

    /// Why no cost can be told, for people; `nil`: it can.
    package var fault: String? {
        var faults: [String] = []
        if lateness.percentile(0.99) > Self.bound {
            faults.append(
                "late (p99 \(lateness.milliseconds(0.99)) ms, at most \(Self.bound / 1_000) ms; "
                    + String(format: "latest %.1f ms)", Double(lateness.maximum) / 1_000))
        }
        if unsent > 0 { faults.append("unable to send \(unsent) packets") }
        if dropped > 0 { faults.append("lossy (\(dropped) packets found their receive buffer full)") }
        return faults.isEmpty ? nil : "the peers were " + faults.joined(separator: " and ")
    }
}
