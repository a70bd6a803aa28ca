package import Primitives

/// Picture counts of one video source: all pictures, key frames, and freezes.
///
/// A gateway that does not decode sees when pictures arrive, and not whether they can be shown. A picture counts with
/// its first packet, whether or not it is complete.
package struct PictureStatistics: Equatable, Sendable {
    /// The most and the fewest pictures for the mean interval (the values that libwebrtc uses for `freezeCount`).
    private static let memory = 30
    private static let enough = 5
    /// Nanoseconds by which an interval exceeds the mean in a freeze (W3C webrtc-stats, `freezeCount`).
    private static let noticeable: UInt64 = 150_000_000
    /// Nanoseconds; a longer interval is an intended pause and no freeze (W3C webrtc-stats, `pauseCount`).
    private static let intended: UInt64 = 5_000_000_000

    /// Pictures received.
    package private(set) var frames: UInt64 = 0
    /// Key frames received.
    package private(set) var keyFrames: UInt64 = 0
    /// Intervals of at least three times the mean that exceed the mean by at least 150 ms.
    package private(set) var freezes: UInt64 = 0
    /// The duration of all freezes.
    package var frozen: Duration { .nanoseconds(Int64(clamping: frozenNanoseconds)) }

    private var frozenNanoseconds: UInt64 = 0
    /// Whether `source`, `timestamp` and `started` are those of an earlier picture.
    private var isRunning = false
    private var source = SSRC(0)
    private var timestamp = RTPTimestamp(0)
    private var started = MonotonicTime.zero
    private var lastKeyFrame = RTPTimestamp(0)
    /// The last intervals in nanoseconds: a ring whose oldest element is at `place` once it is full; empty before the
    /// first picture.
    private var intervals: [UInt64] = []
    private var known = 0
    private var place = 0
    private var sum: UInt64 = 0

    /// Starts without a picture.
    package init() {}

    /// Takes a packet of video. A packet of another source than before starts the intervals again.
    package mutating func packetReceived(
        from ssrc: SSRC, timestamp now: RTPTimestamp, startsKeyFrame: Bool, at moment: MonotonicTime
    ) {
        if isRunning, ssrc.rawValue != source.rawValue { restart() }
        // In a key frame of several slices, each slice states that it starts one.
        if startsKeyFrame, keyFrames == 0 || lastKeyFrame.rawValue != now.rawValue {
            lastKeyFrame = now
            keyFrames &+= 1
        }
        if isRunning {
            guard now.isNewer(than: timestamp) else { return }
            note(moment.nanoseconds &- started.nanoseconds)
        }
        frames &+= 1
        (isRunning, source, timestamp, started) = (true, ssrc, now, moment)
    }

    /// Ends the current interval, because the source has started again or was on hold: the time that has passed is no
    /// freeze.
    package mutating func restart() {
        isRunning = false
        (known, place, sum) = (0, 0, 0)
    }

    private mutating func note(_ interval: UInt64) {
        guard interval <= Self.intended else { return restart() }
        if known >= Self.enough {
            let mean = sum / UInt64(known)
            if interval >= max(3 * mean, mean + Self.noticeable) {
                freezes &+= 1
                frozenNanoseconds &+= interval
            }
        }
        if intervals.isEmpty { intervals = [UInt64](repeating: 0, count: Self.memory) }
        if known == Self.memory { sum -= intervals[place] } else { known += 1 }
        sum += interval
        intervals[place] = interval
        place = place + 1 == Self.memory ? 0 : place + 1
    }
}
