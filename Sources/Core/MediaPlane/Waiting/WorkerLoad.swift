package import Primitives

/// How busy a media worker is, as a share of one processor.
///
/// The worker measures itself once a second while it has something to do. A worker whose sockets have lost datagrams
/// counts as full, whatever its thread has used: other processes may have taken its time.
package struct WorkerLoad: Sendable {
    /// The time between two measurements.
    package static let interval = Duration.seconds(1)
    /// How long a worker counts as full after its sockets have lost datagrams.
    package static let lossTime = Duration.seconds(5)

    /// What a worker knows of itself at one time.
    package struct Measurement: Sendable {
        /// When it was measured.
        package var time: MonotonicTime
        /// The processor time that the worker's thread has used so far.
        package var used: Duration
        /// The datagrams that the kernel has dropped so far, because the receive buffer of a socket was full; it wraps
        /// at 2³².
        package var lost: UInt32

        /// Makes a measurement; each parameter is the property of that name.
        package init(time: MonotonicTime, used: Duration, lost: UInt32) {
            self.time = time
            self.used = used
            self.lost = lost
        }
    }

    /// The processor time used lately, in percent of one processor, 0...100. A measurement counts for half, those
    /// before it for the other half.
    package private(set) var percent = 0
    private var latest: Measurement
    private var share = 0
    private var fullUntil = MonotonicTime.zero

    /// Starts with a worker that has done nothing.
    package init(_ first: Measurement) { latest = first }

    /// When the next measurement is due; `nil` while the worker does nothing, so that it can sleep.
    package var nextTime: MonotonicTime? { percent > 0 ? latest.time + Self.interval : nil }

    /// Whether a measurement is due.
    package func isDue(at now: MonotonicTime) -> Bool { now >= latest.time + Self.interval }

    /// Takes a measurement. Returns how many datagrams were lost since the one before.
    package mutating func take(_ measurement: Measurement) -> UInt32 {
        let elapsed = max(1, (measurement.time - latest.time).wholeNanoseconds)
        let used = max(0, (measurement.used - latest.used).wholeNanoseconds)
        let lost = measurement.lost &- latest.lost
        latest = measurement
        share = (share + Int(min(100, used * 100 / elapsed))) / 2
        if lost > 0 { fullUntil = measurement.time + Self.lossTime }
        percent = measurement.time < fullUntil ? 100 : share
        return lost
    }
}
