import Primitives
import TestSupport

/// Datagrams on their way, in virtual time: some are lost, some doubled, all arrive after a latency of their own, so
/// that they overtake each other.
struct VirtualNetwork<Datagram> {
    struct Conditions {
        /// 0…1
        var loss = 0.0
        var duplication = 0.0
        var latency = Duration.milliseconds(20)
        /// Added at random, up to this.
        var jitter = Duration.zero
    }

    var conditions: Conditions
    private var random: SeededRandomSource
    private var underway: [(arrival: MonotonicTime, number: Int, datagram: Datagram)] = []
    private var sent = 0

    init(_ conditions: Conditions, seed: UInt64) {
        self.conditions = conditions
        random = SeededRandomSource(seed: seed)
    }

    mutating func send(_ datagram: Datagram, at now: MonotonicTime) {
        let copies = chance(conditions.loss) ? 0 : chance(conditions.duplication) ? 2 : 1
        for _ in 0..<copies {
            let extra = conditions.jitter * Double(random.next() % 1_000) / 1_000
            underway.append((now + conditions.latency + extra, sent, datagram))
            sent += 1
        }
    }

    var nextArrival: MonotonicTime? { underway.map(\.arrival).min() }

    /// What has arrived by now, in the order of arrival.
    mutating func receive(at now: MonotonicTime) -> [Datagram] {
        let arrived = underway.filter { $0.arrival <= now }.sorted { ($0.arrival, $0.number) < ($1.arrival, $1.number) }
        underway.removeAll { $0.arrival <= now }
        return arrived.map(\.datagram)
    }

    private mutating func chance(_ probability: Double) -> Bool {
        Double(random.next() % 1_000_000) < probability * 1_000_000
    }
}
