package import CallControl

/// What a subscription is told: an event of a call, a fact of another service, or one about its own channel.
///
/// All subscriptions that are told the same share what is large of it, so that a copy of a notice is one reference.
package enum Notice: Equatable, Sendable {
    /// An event of a call, with its place in the call's log; it has an audience.
    indirect case call(LoggedEvent)
    /// What a service other than calls has to tell.
    indirect case service(ServiceNotice)
    /// The subscription is over.
    case gone
    /// Another socket has taken over the channel (spidr-wire §4.4).
    case overridden
    /// The client should extend the subscription now: clients on phones do so only then (spidr-wire §3.4, §4.2).
    case ping
    /// So many notifications were given up before the client could be sent them.
    case lost(Int)

    /// What it is about that the answer to a request of the client has named: the user's session, or a message that
    /// the user has sent, as if that were a session; `nil`: neither.
    package var session: SessionID? {
        switch self {
        case .call(let entry): entry.event.audience?.session
        case .service(let notice): notice.sentMessage.map { SessionID($0) }
        case .gone, .overridden, .ping, .lost: nil
        }
    }

    /// The user's session that is over with it; `nil`: none.
    package var endedSession: SessionID? {
        guard case .call(let entry) = self, case .released = entry.event.fact else { return nil }
        return entry.event.audience?.session
    }
}

/// A notice on its way to one subscription. It is numbered and stamped once, so that a replay is recognised.
package struct NotificationFrame: Equatable, Sendable {
    /// The number of the notice: unique within the subscription, decimal digits on the wire (spidr-wire §4.3).
    package var eventID: UInt64
    /// When it was made, milliseconds since 1970.
    package var time: Int64
    /// The user whose subscription it is for.
    package var user: UserAddress
    /// The channel that it goes to.
    package var channel: ChannelID
    /// What the client is told.
    package var notice: Notice

    /// Makes a frame of its parts; each parameter is the property of that name.
    package init(eventID: UInt64, time: Int64, user: UserAddress, channel: ChannelID, notice: Notice) {
        self.eventID = eventID
        self.time = time
        self.user = user
        self.channel = channel
        self.notice = notice
    }
}
