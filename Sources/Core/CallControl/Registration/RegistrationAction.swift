/// What a registration wants done.
package enum RegistrationAction: Equatable, Sendable {
    case transmit(NotificationFrame, to: SocketID)
    /// Was transmitted before; the client recognises its `eventId`.
    case replay(NotificationFrame, to: SocketID)
    /// After everything transmitted before.
    case close(SocketID, ChannelClosure)
    /// The user's devices have changed in the eyes of this leg of a call.
    case inform(CallID, Leg, DeviceChange)
    /// Notifications were given up before any socket was there to take them.
    case discarded(Int, of: SubscriptionID)
    /// Subscriptions have begun (positive) or ended.
    case subscriptionsChanged(by: Int)
}

/// Why a socket is closed.
package enum ChannelClosure: Equatable, Sendable {
    /// The client does not come back.
    case subscriptionEnded
    /// Another socket listens now; the subscription lives on.
    case replaced
}
