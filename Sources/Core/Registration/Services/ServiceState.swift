import CallControl
import Primitives

/// What a registration has of the services besides calls: messages, presence, and what the user watches.
struct ServiceState: Equatable, Sendable {
    /// How often the user has sent messages, and changed the presence, of late.
    var sent = RateAllowance()
    /// The messages that are kept for the user.
    var inbox: MessageInbox
    /// When the oldest of them has been kept for long enough; `nil`: none is kept.
    var inboxEnd: MonotonicTime?
    /// What the user says of being there; `nil`: nothing, or the user has no subscription.
    var said: Presence?
    /// The presence that others were told last.
    var told = Presence.absent
    /// What is kept of the presence for the next process.
    var kept = StoredPresence(nil)
    /// The users who watch this one.
    var watchers: Watchers
    /// What the user watches.
    var interests: Interests

    /// Makes the state of a user of whom nothing is known.
    init(_ configuration: Registration.Configuration) {
        inbox = MessageInbox(configuration.messages)
        watchers = Watchers(limit: configuration.interests.maximumWatchers)
        interests = Interests(configuration.interests)
    }

    /// Whether nothing has to be remembered while the user has no subscription.
    var isIdle: Bool { sent.clearAt == nil && inbox.isEmpty && watchers.isEmpty && interests.isEmpty }

    /// The earliest time at which something of the services ends, and what that is; `nil`: nothing does. It holds with
    /// and without a subscription of the user.
    var nextDeadline: Deadline<Registration.Timer>? {
        var earliest = inboxEnd.map { Deadline($0, Registration.Timer.keptMessages) }
        if let end = interests.nextDeadline { earliest = .earlier(earliest, Deadline(end, .interests)) }
        if let end = watchers.nextDeadline { earliest = .earlier(earliest, Deadline(end, .watchers)) }
        return earliest
    }
}
