package import Primitives

/// How busy a media worker is, as a share of one processor.
///
/// The worker measures itself once a second while it has something to do. A worker whose sockets lose many datagrams
/// counts as full, whatever its thread has used: other processes may have taken its time.
package struct WorkerLoad: Sendable {
    /// The time between two measurements.
    package static let interval = Duration.seconds(1)
    /// How long a worker counts as full after its sockets have lost many datagrams.
    package static let lossTime = Duration.seconds(5)
    /// How many lost datagrams between two measurements are many, if they are a hundredth of all as well.
    package static let manyLost = 100

    /// What a worker knows of itself at one time.
    package struct Measurement: Sendable {
        /// When it was measured.
        package var time: MonotonicTime
        /// The processor time that the worker's thread has used so far.
        package var used: Duration
        /// The datagrams that the worker has received so far.
        package var received: UInt64
        /// The datagrams that the kernel has dropped so far, because the receive buffer of a socket was full or the
        /// checksum was wrong; it wraps at 2³².
        package var dropped: UInt32
        /// The datagrams of all processes that the kernel has dropped so far because the checksum was wrong.
        package var corrupt: UInt64
        /// The calls that the worker has.
        package var calls: Int
        /// The calls that the worker has started so far; it wraps.
        package var started: Int

        /// Makes a measurement; each parameter is the property of that name.
        package init(
            time: MonotonicTime, used: Duration, received: UInt64, dropped: UInt32, corrupt: UInt64, calls: Int,
            started: Int
        ) {
            self.time = time
            self.used = used
            self.received = received
            self.dropped = dropped
            self.corrupt = corrupt
            self.calls = calls
            self.started = started
        }
    }

    /// The processor time used lately, in percent of one processor, 0...100. A measurement that is higher than those
    /// before it counts for three quarters, any other one for half.
    package private(set) var percent = 0
    /// The calls that have caused this load, those that have ended included: a second of many short calls says little
    /// about what a call costs that goes on.
    package private(set) var servedCalls = 0
    private var latest: Measurement
    /// The same in thousandths.
    private var share = 0
    private var fullUntil = MonotonicTime.zero

    /// Starts with a worker that has done nothing.
    package init(_ first: Measurement) { latest = first }

    /// When the next measurement is due; `nil` while the worker does nothing, so that it can sleep.
    package var nextTime: MonotonicTime? { percent > 0 ? latest.time + Self.interval : nil }

    /// Whether a measurement is due.
    package func isDue(at now: MonotonicTime) -> Bool { now >= latest.time + Self.interval }

    /// Takes a measurement. Returns how many datagrams were dropped since the one before.
    package mutating func take(_ measurement: Measurement) -> UInt32 {
        let elapsed = max(1, (measurement.time - latest.time).wholeNanoseconds)
        let used = max(0, (measurement.used - latest.used).wholeNanoseconds)
        let dropped = measurement.dropped &- latest.dropped
        // Anybody can send wrong checksums, and nobody suffers from them.
        let lost = max(0, Int(dropped) - Int(clamping: measurement.corrupt &- latest.corrupt))
        let received = Int(clamping: measurement.received &- latest.received)
        // The load of before is halved at most, and with it the calls that it was of.
        servedCalls = max(servedCalls / 2, latest.calls + (measurement.started &- latest.started))
        latest = measurement
        let new = Int(min(1_000, used * 1_000 / elapsed))
        share = new > share ? (share + 3 * new + 2) / 4 : (share + new) / 2
        if lost >= Self.manyLost, lost >= (received + lost) / 100 { fullUntil = measurement.time + Self.lossTime }
        percent = measurement.time < fullUntil ? 100 : (share + 5) / 10
        return dropped
    }
}
