package import Primitives

/// Pictures of one video source: how many came, how many of them stand for themselves, and how often they stood still.
///
/// A gateway that does not decode sees when pictures come, and not whether they can be shown: a picture counts with its first
/// packet, and what is missing of it is not asked for.
package struct PictureStatistics: Equatable, Sendable {
    /// As many pictures as the mean interval is taken of, and as few as one can be taken of (what libwebrtc uses for `freezeCount`).
    private static let memory = 30
    private static let enough = 5
    /// Nanoseconds; so much longer than the mean is a freeze (W3C webrtc-stats, `freezeCount`).
    private static let noticeable: UInt64 = 150_000_000
    /// Nanoseconds; a longer pause is one that somebody wanted, and no freeze (W3C webrtc-stats, `pauseCount`).
    private static let intended: UInt64 = 5_000_000_000

    package private(set) var frames: UInt64 = 0
    package private(set) var keyFrames: UInt64 = 0
    /// Intervals of three times the mean and more, that exceed it by 150 ms and more.
    package private(set) var freezes: UInt64 = 0
    /// How long all freezes were.
    package var frozen: Duration { .nanoseconds(Int64(clamping: frozenNanoseconds)) }

    private var frozenNanoseconds: UInt64 = 0
    /// Whether `source`, `timestamp` and `begun` are those of a picture before.
    private var isRunning = false
    private var source = SSRC(0)
    private var timestamp = RTPTimestamp(0)
    private var begun = MonotonicTime.zero
    private var lastKeyFrame = RTPTimestamp(0)
    /// The last intervals in nanoseconds: a ring, the oldest at `place` once it is full; empty before the first picture.
    private var intervals: [UInt64] = []
    private var known = 0
    private var place = 0
    private var sum: UInt64 = 0

    package init() {}

    /// Takes a packet in; another source than before begins anew.
    package mutating func packetReceived(
        from ssrc: SSRC, timestamp now: RTPTimestamp, beginsKeyFrame: Bool, at moment: MonotonicTime
    ) {
        if isRunning, ssrc.rawValue != source.rawValue { restart() }
        // In a key frame of several slices each says so.
        if beginsKeyFrame, keyFrames == 0 || lastKeyFrame.rawValue != now.rawValue {
            lastKeyFrame = now
            keyFrames &+= 1
        }
        if isRunning {
            guard now.isNewer(than: timestamp) else { return }
            note(moment.nanoseconds &- begun.nanoseconds)
        }
        frames &+= 1
        (isRunning, source, timestamp, begun) = (true, ssrc, now, moment)
    }

    /// The source began anew, or was held: the time that went by is nobody's freeze.
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
