import Primitives

/// The time of a playout in samples of 48 kHz: the current time, and the positions of RTP timestamps.
///
/// Positions do not wrap. The first timestamp of a stream is at position 0, or where the caller continues it.
struct SampleClock: Sendable {
    /// The position of a packet, and its time of arrival.
    private struct Mark {
        var timestamp: RTPTimestamp
        var position: Int64
        var clockRate: Int
        var time: MonotonicTime
    }

    /// The position of a timestamp.
    enum Placement: Equatable {
        case at(Int64)
        /// The timestamps have jumped: the stream starts again at 0.
        case restart
    }

    /// A jump of more than five seconds, in samples, starts the stream again.
    private static let restartJump: Int64 = 240_000

    /// The time of the first call, which is the clock's zero.
    private var start: MonotonicTime?
    /// The packet with the latest timestamp.
    private var latest: Mark?

    /// The current time in samples since the first call.
    mutating func samples(at now: MonotonicTime) -> Int64 {
        guard let start else {
            self.start = now
            return 0
        }
        return (now - start).inSamples
    }

    /// Places a packet that has just arrived.
    ///
    /// - Parameters:
    ///   - clockRate: Ticks per second of its timestamp, a divisor of 48,000.
    ///   - end: The position at which a stream continues whose timestamps have changed their rate.
    mutating func place(_ timestamp: RTPTimestamp, clockRate: Int, at now: MonotonicTime, following end: Int64)
        -> Placement
    {
        guard let latest, latest.clockRate == clockRate else {
            self.latest = Mark(timestamp: timestamp, position: end, clockRate: clockRate, time: now)
            return .at(end)
        }
        let jump = Int64(timestamp - latest.timestamp) * Int64(48_000 / max(1, clockRate))
        guard Self.goesOn(jump: jump, elapsed: (now - latest.time).inSamples) else {
            self.latest = Mark(timestamp: timestamp, position: 0, clockRate: clockRate, time: now)
            return .restart
        }
        let position = latest.position + jump
        if jump > 0 { self.latest = Mark(timestamp: timestamp, position: position, clockRate: clockRate, time: now) }
        return .at(position)
    }

    /// Whether a packet belongs to the stream before it. It does not if its timestamp jumps by more than five seconds.
    ///
    /// In a pause the timestamps advance by the time that passes (RFC 3550 §5.1), however long it is.
    ///
    /// - Parameters:
    ///   - jump: From the latest timestamp to this one, in samples.
    ///   - elapsed: The samples of the time between both.
    static func goesOn(jump: Int64, elapsed: Int64) -> Bool {
        abs(jump) <= restartJump || abs(jump - elapsed) <= restartJump
    }

    /// Forgets the timestamps, because the next packet is of another stream.
    mutating func forgetStream() { latest = nil }
}
