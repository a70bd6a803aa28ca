import Primitives

/// The bit rate that a path carries, as estimated from loss (draft-ietf-rmcat-gcc-02 §6). Little loss lets the bound
/// grow, much loss lets it fall, and in between it is kept. There is no bound before the first excessive loss.
struct LossBound: Equatable, Sendable {
    struct Configuration: Equatable, Sendable {
        /// The interval in which loss is evaluated.
        var interval = Duration.seconds(1)
        var packets = 20
        /// Fractions of lost packets: below the lower one the bound grows, above the upper one it falls.
        var bounds = 0.02...0.10
        /// The factor by which the bound grows with each evaluation.
        var increase = 1.05
        /// A bound beyond this multiple of the arriving bit rate does not grow, because more has not been tried.
        var reach = 1.5
    }

    private let configuration: Configuration
    private(set) var bitsPerSecond: Double?
    private var start: MonotonicTime?
    private var lost = 0
    private var arrived = 0

    init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    mutating func packetsCounted(lost: Int, arrived: Int) {
        self.lost += lost
        self.arrived += arrived
    }

    /// The fraction of packets lost since the last evaluation; `nil` if the next one is not due yet.
    mutating func nextShare(at now: MonotonicTime) -> Double? {
        let started = start ?? now
        start = started
        let count = lost + arrived
        guard now - started >= configuration.interval, count >= configuration.packets else { return nil }
        defer { (start, lost, arrived) = (now, 0, 0) }
        return Double(lost) / Double(count)
    }

    /// Adapts the bound to an evaluation. Returns whether the loss shows congestion.
    mutating func adapt(to share: Double, arriving rate: Double) -> Bool {
        if share > configuration.bounds.upperBound {
            // The bit rate sent is the bit rate that arrived, plus what was lost of it.
            bitsPerSecond = min(bitsPerSecond ?? .infinity, rate / (1 - min(share, 0.9))) * (1 - 0.5 * share)
            return true
        }
        if share < configuration.bounds.lowerBound {
            bitsPerSecond = bitsPerSecond.map {
                Self.grown($0, by: configuration.increase, to: configuration.reach * rate)
            }
        }
        return false
    }

    mutating func forget() { bitsPerSecond = nil }

    /// The bound after growth, limited by `reach`. A bound that exceeds `reach` already is kept.
    static func grown(_ bound: Double, by factor: Double, to reach: Double) -> Double {
        max(bound, min(bound * factor, reach))
    }
}
