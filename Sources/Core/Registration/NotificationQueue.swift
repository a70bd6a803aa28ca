package import CallControl
package import Primitives

/// The notifications of one subscription. They are numbered, held back while requests are in flight, and kept for a
/// while after they were sent, because the socket may have been dead at that time (spidr-wire §4.3, §4.4).
///
///     append ──▶ waiting ── release ──▶ kept ── too old, too many ──▶ forgotten
///                                        │ ▲
///                                        └─┘ replay, under the original eventId
///
/// The order never changes: a notification that waits holds back all later ones.
package struct NotificationQueue: Equatable, Sendable {
    /// The limits of a queue.
    package struct Configuration: Equatable, Sendable {
        /// The most notifications that are remembered, 1 or more; a new one displaces the oldest.
        package var capacity: Int
        /// How long a notification is of use to a client that comes back.
        package var maximumAge: Duration
        /// The most notifications that have been transmitted already and are sent again. Clients recognise a duplicate
        /// among the last 50 or 100 that they have handled (spidr-wire §4.3), and would take an older one for a new
        /// one.
        package var replayLimit: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(capacity: Int = 100, maximumAge: Duration = .seconds(60), replayLimit: Int = 50) {
            self.capacity = capacity
            self.maximumAge = maximumAge
            self.replayLimit = replayLimit
        }
    }

    /// A frame that is sent now.
    package struct Outgoing: Equatable, Sendable {
        /// The frame.
        package var frame: NotificationFrame
        /// The frame was transmitted before, perhaps without being received.
        package var isReplay: Bool

        /// Makes a value of its parts.
        package init(_ frame: NotificationFrame, isReplay: Bool) {
            self.frame = frame
            self.isReplay = isReplay
        }
    }

    private struct Entry: Equatable, Sendable {
        var frame: NotificationFrame
        var time: MonotonicTime
        /// The newest request that was in flight when the notification was made; `nil`: none was.
        var request: UInt64?
        /// When it was last sent; `nil`: it was not, or no client listened.
        var transmitted: MonotonicTime?

        var wasTransmitted: Bool { transmitted != nil }
    }

    private let configuration: Configuration
    private let user: UserAddress
    private let channel: ChannelID
    private var nextEventID: UInt64
    private var entries: [Entry] = []
    /// The number of entries that have been released. Later ones wait for requests to be answered.
    private var releasedCount = 0

    /// Makes an empty queue.
    ///
    /// - Parameter firstEventID: the number of the first notification. It is random, so that a client that outlives the
    ///   gateway does not take new notifications for old ones.
    package init(user: UserAddress, channel: ChannelID, firstEventID: UInt64, configuration: Configuration) {
        self.user = user
        self.channel = channel
        self.configuration = configuration
        nextEventID = firstEventID
    }

    /// Makes the queue of a subscription that has outlived a process.
    ///
    /// - Parameter restored: what is left of it. Notifications that are too old are dropped with the next call of
    ///   `forgetOld`.
    package init(restoring restored: RestoredSubscription, configuration: Configuration, at now: Moment) {
        let subscription = restored.subscription
        let last = max(restored.numbered, restored.transmitted, restored.frames.last?.eventID ?? 0)
        self.init(
            user: subscription.user, channel: subscription.channel,
            firstEventID: max(subscription.firstEventID, last &+ 1), configuration: configuration)
        // Older ones were displaced by these, after they had been transmitted.
        entries = restored.frames.suffix(configuration.capacity).map { frame in
            let time = now.monotonic - .milliseconds(max(0, now.epochMilliseconds - frame.time))
            return Entry(
                frame: frame, time: time, request: nil,
                transmitted: frame.eventID <= restored.transmitted ? time : nil)
        }
        releasedCount = entries.count
    }

    /// The number of the last notification; 0: there is none.
    package var lastEventID: UInt64 { entries.last?.frame.eventID ?? 0 }

    /// The number of the last notification that was transmitted; 0: none was.
    package var lastTransmitted: UInt64 { entries.last { $0.wasTransmitted }?.frame.eventID ?? 0 }

    /// The number of the oldest notification that is kept; that of the next one, if none is.
    package var firstKept: UInt64 { entries.first?.frame.eventID ?? nextEventID }

    /// Whether no notification waits for a request or a client any more.
    package var isReleased: Bool { releasedCount == entries.count }

    /// Numbers a notification without keeping it, because it concerns one socket only.
    package mutating func frame(_ notice: Notice, at now: Moment) -> NotificationFrame {
        defer { nextEventID &+= 1 }
        return NotificationFrame(
            eventID: nextEventID, time: now.epochMilliseconds, user: user, channel: channel, notice: notice)
    }

    /// Adds a notification.
    ///
    /// - Parameter request: the newest open request, which is answered first, as are all older ones; `nil`: none is
    ///   open.
    /// - Returns: the numbered notification; and how many others were lost, by age or to make room, without ever having
    ///   been transmitted.
    package mutating func append(
        _ notice: Notice, behind request: UInt64?, at now: Moment
    ) -> (frame: NotificationFrame, lost: Int) {
        var lost = forgetOld(at: now.monotonic)
        lost += forget(max(0, entries.count - configuration.capacity + 1))
        let frame = frame(notice, at: now)
        entries.append(Entry(frame: frame, time: now.monotonic, request: request))
        return (frame, lost)
    }

    /// Whether the client may not know yet that a session is over: the notification waits, or was sent only after
    /// `time`, or no client listens and it will be replayed.
    package func awaitsEnd(of session: SessionID, isListening: Bool, after time: MonotonicTime) -> Bool {
        entries.contains { entry in
            entry.frame.notice.endedSession == session && (!isListening || entry.transmitted.map { $0 > time } ?? true)
        }
    }

    /// Takes out the notifications that may be sent now; to be called when requests have been answered or something was
    /// added.
    ///
    /// - Parameters:
    ///   - isListening: whether a socket is open; without one, released notifications are kept for `replay`.
    ///   - isHeld: whether a notification about a session, made while a request was in flight, has to wait.
    package mutating func release(
        isListening: Bool, at now: MonotonicTime, unless isHeld: (_ request: UInt64?, _ session: SessionID?) -> Bool
    ) -> [Outgoing] {
        var outgoing: [Outgoing] = []
        while releasedCount < entries.count,
            !isHeld(entries[releasedCount].request, entries[releasedCount].frame.notice.session)
        {
            entries[releasedCount].transmitted = isListening ? now : nil
            if isListening { outgoing.append(Outgoing(entries[releasedCount].frame, isReplay: false)) }
            releasedCount += 1
        }
        return outgoing
    }

    /// The notifications that a socket that has just opened may have missed, in order, under their original numbers;
    /// and the number of notifications that were lost by age.
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
            entries[index].transmitted = now
        }
        return (outgoing, lost)
    }

    /// When all released notifications are too old to be kept; `nil`: there are none. Descriptions are large, and most
    /// channels are idle.
    package var nextDeadline: MonotonicTime? {
        releasedCount == 0 ? nil : entries[releasedCount - 1].time + configuration.maximumAge
    }

    /// Forgets the released notifications that are too old, and returns how many of them were never transmitted. Those
    /// that still wait for a request are kept: they are about to be sent.
    package mutating func forgetOld(at now: MonotonicTime) -> Int {
        forget(entries[..<releasedCount].prefix { $0.time + configuration.maximumAge <= now }.count)
    }

    /// Forgets the oldest entries, and returns how many of them were never transmitted.
    private mutating func forget(_ count: Int) -> Int {
        let lost = entries.prefix(count).count { !$0.wasTransmitted }
        entries.removeFirst(count)
        releasedCount = max(0, releasedCount - count)
        return lost
    }
}
