package import CallControl
package import Primitives

/// The notifications of one subscription. They are numbered, held back while requests are in flight, and kept until the
/// client is known to have received them, because the socket may have been dead when they were sent (spidr-wire §4.3,
/// §4.4).
///
///     append ──▶ waiting ── release ──▶ transmitted ── confirm ──▶ confirmed ── too old, too many ──▶ forgotten
///                                          │   ▲
///                                          └───┘ replay, under the original eventId
///
/// The order never changes: a notification that waits holds back all later ones. No more notifications are unconfirmed
/// at a time than a client recognises when they are sent again. So whatever happens to the socket, nothing is lost and
/// nothing is doubled.
package struct NotificationQueue: Equatable, Sendable {
    /// The limits of a queue.
    package struct Configuration: Equatable, Sendable {
        /// The most notifications that are remembered, 1 or more; a new one displaces the oldest.
        package var capacity: Int
        /// How long a notification is of use to a client that comes back.
        package var maximumAge: Duration
        /// The most notifications that are transmitted without being confirmed, 1 or more. They are sent again on the
        /// next socket. Clients recognise a duplicate among the last 50 or 100 that they have handled (spidr-wire
        /// §4.3), and would take an older one for a new one.
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
        /// The client is known to have received it.
        var isConfirmed = false

        var wasTransmitted: Bool { transmitted != nil }
        var isUnconfirmed: Bool { wasTransmitted && !isConfirmed }
    }

    private let configuration: Configuration
    private let user: UserAddress
    private let channel: ChannelID
    /// The number of the first notification that the subscription ever had.
    private let firstEventID: UInt64
    private var nextEventID: UInt64
    private var entries: [Entry] = []
    /// The number of entries that have been released. Later ones wait for requests to be answered, or for confirmation
    /// of earlier ones.
    private var releasedCount = 0
    /// The number of entries that were transmitted and are not confirmed.
    private var unconfirmedCount = 0
    /// The latest numbers of frames that were for one socket alone, in order.
    private var unkept: [UInt64] = []

    /// How many notifications are kept.
    var count: Int { entries.count }

    /// Makes an empty queue.
    ///
    /// - Parameter firstEventID: the number of the first notification. It is random, so that a client that outlives the
    ///   gateway does not take new notifications for old ones.
    package init(user: UserAddress, channel: ChannelID, firstEventID: UInt64, configuration: Configuration) {
        self.user = user
        self.channel = channel
        self.configuration = configuration
        self.firstEventID = firstEventID
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
            user: subscription.user, channel: subscription.channel, firstEventID: subscription.firstEventID,
            configuration: configuration)
        nextEventID = max(firstEventID, last &+ 1)
        // Older ones were displaced by these, after they had been transmitted.
        let frames = restored.frames.suffix(configuration.capacity)
        // What is confirmed is not stored. No more than these can be unconfirmed, and older ones count as confirmed:
        // the last process was there to find out.
        let transmitted = frames.filter { $0.eventID <= restored.transmitted }
        let firstUnconfirmed = transmitted.suffix(configuration.replayLimit).first?.eventID ?? 0
        entries = frames.map { frame in
            let time = now.monotonic - .milliseconds(max(0, now.epochMilliseconds - frame.time))
            let wasTransmitted = frame.eventID <= restored.transmitted
            return Entry(
                frame: frame, time: time, request: nil, transmitted: wasTransmitted ? time : nil,
                isConfirmed: wasTransmitted
                    && (frame.eventID < firstUnconfirmed || time + configuration.maximumAge <= now.monotonic))
        }
        releasedCount = entries.count
        unconfirmedCount = entries.count(where: \.isUnconfirmed)
    }

    /// The number of the oldest notification that is kept; that of the next one, if none is.
    package var firstKept: UInt64 { entries.first?.frame.eventID ?? nextEventID }

    /// Whether no notification waits for a request, a client or a confirmation any more.
    package var isReleased: Bool { releasedCount == entries.count }

    /// Whether nothing more can be sent before the client confirms something.
    package var isFull: Bool { unconfirmedCount >= configuration.replayLimit }

    /// Whether a notification may be added that could wait outside instead: half of what may be remembered is left for
    /// those that cannot.
    package var hasRoom: Bool { unconfirmedCount + entries.count - releasedCount < (configuration.capacity + 1) / 2 }

    /// Numbers a notification without keeping it, because it concerns one socket only.
    package mutating func frame(_ notice: Notice, at now: Moment) -> NotificationFrame {
        if unkept.count == configuration.capacity { unkept.removeFirst() }
        unkept.append(nextEventID)
        return numbered(notice, at: now)
    }

    private mutating func numbered(_ notice: Notice, at now: Moment) -> NotificationFrame {
        defer { nextEventID &+= 1 }
        return NotificationFrame(
            eventID: nextEventID, time: now.epochMilliseconds, user: user, channel: channel, notice: notice)
    }

    /// Adds a notification.
    ///
    /// - Parameter request: the newest open request, which is answered first, as are all older ones; `nil`: none is
    ///   open.
    /// - Returns: the numbered notification; and how many others were lost, by age or to make room, without having been
    ///   confirmed.
    package mutating func append(
        _ notice: Notice, behind request: UInt64?, at now: Moment
    ) -> (frame: NotificationFrame, lost: Int) {
        var lost = forgetOld(at: now.monotonic)
        lost += forget(max(0, entries.count - configuration.capacity + 1))
        let frame = numbered(notice, at: now)
        entries.append(Entry(frame: frame, time: now.monotonic, request: request))
        return (frame, lost)
    }

    /// Whether the client may not know yet that a session is over: the notification waits, or was sent only after
    /// `time`, or no client listens and it will be replayed.
    package func awaitsEnd(of session: SessionID, isListening: Bool, after time: MonotonicTime) -> Bool {
        entries.contains { entry in
            entry.frame.notice.endedSession == session
                && (!isListening && !entry.isConfirmed || entry.transmitted.map { $0 > time } ?? true)
        }
    }

    /// Takes out the notifications that may be sent now; to be called when requests have been answered, when something
    /// was added or confirmed, and after `replay`.
    ///
    /// - Parameters:
    ///   - isListening: whether a socket is open; without one, released notifications are kept for `replay`.
    ///   - isHeld: whether a notification about a session, made while a request was in flight, has to wait.
    package mutating func release(
        isListening: Bool, at now: MonotonicTime, unless isHeld: (_ request: UInt64?, _ session: SessionID?) -> Bool
    ) -> [Outgoing] {
        var outgoing: [Outgoing] = []
        while releasedCount < entries.count, !isListening || unconfirmedCount < configuration.replayLimit,
            !isHeld(entries[releasedCount].request, entries[releasedCount].frame.notice.session)
        {
            entries[releasedCount].transmitted = isListening ? now : nil
            if isListening {
                outgoing.append(Outgoing(entries[releasedCount].frame, isReplay: false))
                unconfirmedCount += 1
            }
            releasedCount += 1
        }
        return outgoing
    }

    /// The notifications that were transmitted and perhaps not received, in order, under their original numbers. To be
    /// called when a socket has opened, behind `forgetOld`. `release` then takes out those that have never been sent.
    package mutating func replay(at now: MonotonicTime) -> [Outgoing] {
        var outgoing: [Outgoing] = []
        for index in 0..<releasedCount where entries[index].isUnconfirmed {
            outgoing.append(Outgoing(entries[index].frame, isReplay: true))
            entries[index].transmitted = now
        }
        // What was released to nobody comes behind everything that was transmitted.
        releasedCount = entries[..<releasedCount].firstIndex { !$0.wasTransmitted } ?? releasedCount
        return outgoing
    }

    /// The client has received everything that was sent up to a number.
    package mutating func confirm(through number: UInt64) {
        guard unconfirmedCount > 0 else { return }
        for index in entries.indices where entries[index].isUnconfirmed && entries[index].frame.eventID <= number {
            entries[index].isConfirmed = true
            unconfirmedCount -= 1
        }
    }

    /// A client that opens the channel has everything up to a number, and nothing behind it: `replay` sends that again.
    ///
    /// - Returns: how many notifications behind the number were forgotten; `nil` if the number is none of this
    ///   subscription, and means nothing.
    package mutating func resume(after number: UInt64, at now: MonotonicTime) -> Int? {
        guard number >= firstEventID &- 1, number < nextEventID else { return nil }
        for index in entries.indices {
            let isKnown = entries[index].frame.eventID <= number
            if isKnown { entries[index].transmitted = entries[index].transmitted ?? now }
            entries[index].isConfirmed = isKnown
        }
        releasedCount = max(releasedCount, entries.prefix { $0.wasTransmitted }.count)
        unconfirmedCount = entries.count(where: \.isUnconfirmed)
        guard number &+ 1 < firstKept else { return 0 }
        return Int(firstKept - number - 1) - unkept.count { $0 > number && $0 < firstKept }
    }

    /// When all released notifications are too old to be kept; `nil`: there are none. Descriptions are large, and most
    /// channels are idle.
    package var nextDeadline: MonotonicTime? {
        releasedCount == 0 ? nil : entries[releasedCount - 1].time + configuration.maximumAge
    }

    /// Forgets the released notifications that are too old, and returns how many of them were not confirmed. Those that
    /// still wait for a request are kept: they are about to be sent.
    package mutating func forgetOld(at now: MonotonicTime) -> Int {
        forget(entries[..<releasedCount].prefix { $0.time + configuration.maximumAge <= now }.count)
    }

    /// Forgets the oldest entries, and returns how many of them were not confirmed.
    private mutating func forget(_ count: Int) -> Int {
        let lost = entries.prefix(count).count { !$0.isConfirmed }
        unconfirmedCount -= entries.prefix(count).count(where: \.isUnconfirmed)
        entries.removeFirst(count)
        releasedCount = max(0, releasedCount - count)
        return lost
    }
}
