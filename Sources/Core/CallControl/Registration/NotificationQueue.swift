package import Primitives

/// The notifications of one subscription: numbered, held back behind requests, and kept for a while after they were
/// sent, because a socket may have been dead when they were (spidr-wire §4.3, §4.4).
///
///     append ──▶ waiting ── release ──▶ kept ── too old, too many ──▶ forgotten
///                                        │ ▲
///                                        └─┘ replay, under the original eventId
///
/// Order never changes: what waits blocks what comes after it.
package struct NotificationQueue: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Notifications remembered at a time, 1 or more; the oldest makes room.
        package var capacity: Int
        /// How long a notification is worth anything to a client that comes back.
        package var maximumAge: Duration
        /// How many notifications that have been transmitted already are sent again. Clients recognise a duplicate among
        /// the last 50 or 100 they have handled (spidr-wire §4.3); an older one they would take for new.
        package var replayLimit: Int

        package init(capacity: Int = 100, maximumAge: Duration = .seconds(60), replayLimit: Int = 50) {
            self.capacity = capacity
            self.maximumAge = maximumAge
            self.replayLimit = replayLimit
        }
    }

    /// A frame that goes out now.
    package struct Outgoing: Equatable, Sendable {
        package var frame: NotificationFrame
        /// It was transmitted before, perhaps to nobody.
        package var isReplay: Bool

        package init(_ frame: NotificationFrame, isReplay: Bool) {
            self.frame = frame
            self.isReplay = isReplay
        }
    }

    private struct Entry: Equatable, Sendable {
        var frame: NotificationFrame
        var time: MonotonicTime
        /// The newest request that had begun before this notification; `nil` if none was open.
        var request: UInt64?
        var wasTransmitted = false
    }

    private let configuration: Configuration
    private let user: UserAddress
    private let channel: ChannelID
    private var nextEventID: UInt64
    private var entries: [Entry] = []
    /// Entries from here on wait for requests to be answered.
    private var releasedCount = 0

    /// - Parameter firstEventID: random, so that a client which outlives the gateway does not take new events for old ones.
    package init(user: UserAddress, channel: ChannelID, firstEventID: UInt64, configuration: Configuration) {
        self.user = user
        self.channel = channel
        self.configuration = configuration
        nextEventID = firstEventID
    }

    /// Whether nothing waits for a request or a client any more.
    package var isReleased: Bool { releasedCount == entries.count }

    /// Numbers a notification without keeping it: it concerns one socket only.
    package mutating func frame(_ notification: Notification, at now: Moment) -> NotificationFrame {
        defer { nextEventID &+= 1 }
        return NotificationFrame(
            eventID: nextEventID, time: now.epochMilliseconds, user: user, channel: channel, notification: notification)
    }

    /// Takes a notification in.
    ///
    /// - Parameter request: the newest open request; it and all older ones are answered first.
    /// - Returns: how many notifications were lost by age or to make room, having never been transmitted.
    package mutating func append(_ notification: Notification, behind request: UInt64?, at now: Moment) -> Int {
        var lost = forgetOld(at: now.monotonic)
        lost += forget(max(0, entries.count - configuration.capacity + 1))
        entries.append(Entry(frame: frame(notification, at: now), time: now.monotonic, request: request))
        return lost
    }

    /// Requests have been answered, or something was appended: what may go out now.
    ///
    /// - Parameters:
    ///   - isListening: Whether a socket is open; without one the released notifications are kept for `replay`.
    ///   - isHeld: Whether a notification about a session waits, which came behind a request.
    package mutating func release(isListening: Bool, unless isHeld: (_ request: UInt64?, _ session: SessionID?) -> Bool)
        -> [Outgoing]
    {
        var outgoing: [Outgoing] = []
        while releasedCount < entries.count,
            !isHeld(entries[releasedCount].request, entries[releasedCount].frame.notification.session)
        {
            entries[releasedCount].wasTransmitted = isListening
            if isListening { outgoing.append(Outgoing(entries[releasedCount].frame, isReplay: false)) }
            releasedCount += 1
        }
        return outgoing
    }

    /// A socket has opened: everything it may have missed, in order, under the original numbers.
    package mutating func replay(at now: MonotonicTime) -> (outgoing: [Outgoing], lost: Int) {
        let lost = forgetOld(at: now)
        var surplus = max(0, entries[..<releasedCount].count { $0.wasTransmitted } - configuration.replayLimit)
        var outgoing: [Outgoing] = []
        for index in 0..<releasedCount {
            if entries[index].wasTransmitted, surplus > 0 {
                surplus -= 1
                continue
            }
            outgoing.append(Outgoing(entries[index].frame, isReplay: entries[index].wasTransmitted))
            entries[index].wasTransmitted = true
        }
        return (outgoing, lost)
    }

    /// When nothing that has gone out is worth keeping any more: descriptions are large, and most channels are idle.
    package var nextDeadline: MonotonicTime? {
        releasedCount == 0 ? nil : entries[releasedCount - 1].time + configuration.maximumAge
    }

    /// Forgets what is too old, and returns how much of it was never transmitted. Notifications that still wait for a
    /// request are spared: they are about to go out.
    package mutating func forgetOld(at now: MonotonicTime) -> Int {
        forget(entries[..<releasedCount].prefix { $0.time + configuration.maximumAge <= now }.count)
    }

    private mutating func forget(_ count: Int) -> Int {
        let lost = entries.prefix(count).count { !$0.wasTransmitted }
        entries.removeFirst(count)
        releasedCount = max(0, releasedCount - count)
        return lost
    }
}
