package import Primitives

/// How long a media worker leaves its sockets alone after a turn, so that one wake-up serves several packets.
///
/// Waking a thread costs more than relaying a packet. A hundred calls send a packet every 0.1 ms, so that nearly each
/// of them wakes its worker. A worker that starts its turns half a millisecond apart finds five packets at a time, and
/// needs less processor time for each. A packet waits for half of the interval on average, and for the whole of it at
/// most.
///
/// Nothing waits
///   - while packets are so rare that an interval would hold fewer than two of them;
///   - after a turn that took as long as the interval, since more packets are there already;
///   - for 20 ms after a handshake's datagram, since its answer is awaited;
///   - after a turn with a connectivity check.
package struct WakeUpPacing: Sendable {
    /// The shortest time from the start of a turn to the start of the next one.
    package static let interval = Duration.microseconds(500)
    /// The rate from which turns are paced: two packets in an interval.
    package static let threshold = 4_000
    /// How long after a handshake's datagram turns are not paced: the time of the way to a peer nearby and back.
    package static let handshakeTime = Duration.milliseconds(20)
    /// The time over which the rate is counted.
    private static let window = Duration.milliseconds(20)

    private let isEnabled: Bool
    private var windowStart = MonotonicTime.zero
    private var count = 0
    private var handshakeEnd = MonotonicTime.zero
    private var hadCheck = false
    /// Whether packets come often enough.
    package private(set) var isPacing = false

    /// Makes the pacing of a worker that has received nothing yet.
    ///
    /// - Parameter isEnabled: `false`: nothing ever waits.
    package init(isEnabled: Bool) { self.isEnabled = isEnabled }

    /// Notes packets of media.
    package mutating func noteMedia(_ packets: Int = 1) { count += packets }

    /// Notes a connectivity check.
    package mutating func noteCheck() { hadCheck = true }

    /// Notes a datagram of a handshake.
    package mutating func noteHandshake(at now: MonotonicTime) { handshakeEnd = now + Self.handshakeTime }

    /// Ends a turn.
    ///
    /// - Parameters:
    ///   - start: when the turn started.
    ///   - now: when it ended.
    /// - Returns: when the next turn starts at the earliest; `nil`: as soon as something arrives.
    package mutating func endTurn(startedAt start: MonotonicTime, now: MonotonicTime) -> MonotonicTime? {
        guard isEnabled else { return nil }
        measure(now)
        defer { hadCheck = false }
        let next = start + Self.interval
        guard isPacing, !hadCheck, next > now, now >= handshakeEnd else { return nil }
        return next
    }

    private mutating func measure(_ now: MonotonicTime) {
        let length = now - windowStart
        guard length >= Self.window else { return }
        isPacing = Int64(count) * 1_000_000_000 >= Int64(Self.threshold) * length.wholeNanoseconds
        (windowStart, count) = (now, 0)
    }
}
