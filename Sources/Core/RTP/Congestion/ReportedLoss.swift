package import Primitives

/// The bit rate that the path to a receiver carries, estimated from its receiver reports (RFC 3550 §6.4.2). It is for
/// streams without transport-wide sequence numbers, where no feedback about single packets exists.
///
/// The estimate uses loss only. A queue is therefore noticed when it is full, and not when it grows as with
/// ``BandwidthEstimate``.
package struct ReportedLoss: Equatable, Sendable {
    /// The least bound, in bits per second.
    private static let minimum = 50_000.0
    /// The bound is dropped when the path has shown no congestion for this long.
    private static let patience = Duration.seconds(20)

    private var bound = LossBound()
    private var lastCongestion = MonotonicTime.zero
    /// Bytes sent since `start`.
    private var octets = 0
    private var start: MonotonicTime?

    /// Starts without a bound.
    package init() {}

    /// The bound in bits per second, headers included; `nil` while the path has shown no congestion.
    package var bitsPerSecond: UInt64? { bound.bitsPerSecond.map { UInt64(max(Self.minimum, $0)) } }

    /// Records that a packet of `count` bytes is sent to the receiver.
    package mutating func packetSent(octets count: Int) { octets &+= count }

    /// Takes a report of the receiver.
    ///
    /// - Parameters:
    ///   - lost: Packets sent since the report before that have not arrived.
    ///   - arrived: Packets sent since the report before that have arrived.
    ///   - now: The time of the report's arrival.
    package mutating func reportReceived(lost: Int, arrived: Int, at now: MonotonicTime) {
        if start == nil { restart(at: now) }
        bound.packetsCounted(lost: lost, arrived: arrived)
        if let start, now > start, let share = bound.nextShare(at: now) {
            let sent = Double(8 * octets) / (now - start).inSeconds
            if bound.adapt(to: share, arriving: sent * (1 - share)) { lastCongestion = now }
            restart(at: now)
        }
        if now - lastCongestion >= Self.patience { bound.forget() }
    }

    private mutating func restart(at now: MonotonicTime) { (start, octets) = (now, 0) }
}
