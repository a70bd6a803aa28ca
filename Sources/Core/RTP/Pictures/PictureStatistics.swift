package import Primitives

/// Pictures of one video source: how many came, how many of them stand for themselves, and how often they stood still.
///
/// A gateway that does not decode sees when pictures come, and not whether they can be shown: a picture counts with its first
/// packet, and what is missing of it is not asked for.
package struct PictureStatistics: Equatable, Sendable {
    /// As many pictures as the mean interval is taken of, and as few as one can be taken of (what libwebrtc uses for `freezeCount`).
    private static let memory = 30
    private static let enough = 5
    /// So much longer than the mean is a freeze (W3C webrtc-stats, `freezeCount`).
    private static let noticeable = Duration.milliseconds(150)
    /// A longer pause is one that somebody wanted, and no freeze (W3C webrtc-stats, `pauseCount`).
    private static let intended = Duration.seconds(5)

    package private(set) var frames: UInt64 = 0
    package private(set) var keyFrames: UInt64 = 0
    /// Intervals of three times the mean and more, that exceed it by 150 ms and more.
    package private(set) var freezes: UInt64 = 0
    /// How long all freezes were.
    package private(set) var frozen = Duration.zero

    private var timestamp: RTPTimestamp?
    private var lastKeyFrame: RTPTimestamp?
    private var begun = MonotonicTime.zero
    /// The last intervals in nanoseconds: a ring, the oldest at `place` once it is full.
    private var intervals = [Int64](repeating: 0, count: memory)
    private var known = 0
    private var place = 0
    private var sum: Int64 = 0

    package init() {}

    /// Takes a packet of the source.
    package mutating func packetReceived(timestamp now: RTPTimestamp, beginsKeyFrame: Bool, at moment: MonotonicTime) {
        // In a key frame of several slices each says so.
        if beginsKeyFrame, lastKeyFrame != now {
            lastKeyFrame = now
            keyFrames &+= 1
        }
        guard let last = timestamp else { return begin(now, at: moment) }
        guard now.isNewer(than: last) else { return }
        note(moment - begun)
        begin(now, at: moment)
    }

    /// The source began anew, or was held: the time that went by is nobody's freeze.
    package mutating func restart() {
        timestamp = nil
        (known, place, sum) = (0, 0, 0)
    }

    private mutating func begin(_ now: RTPTimestamp, at moment: MonotonicTime) {
        frames &+= 1
        timestamp = now
        begun = moment
    }

    private mutating func note(_ interval: Duration) {
        guard interval <= Self.intended else { return restart() }
        let nanoseconds = interval.wholeNanoseconds
        if known >= Self.enough {
            let mean = Duration.nanoseconds(sum / Int64(known))
            if interval >= max(mean * 3, mean + Self.noticeable) {
                freezes &+= 1
                frozen += interval
            }
        }
        sum += nanoseconds - (known == Self.memory ? intervals[place] : 0)
        known = min(known + 1, Self.memory)
        intervals[place] = nanoseconds
        place = (place + 1) % Self.memory
    }
}
