package import CallControl

/// An action that a registration asks its owner to carry out.
package enum RegistrationAction: Equatable, Sendable {
    /// Keep this change where it outlives the process, before any action is carried out. The changes of one input are
    /// kept together or not at all.
    case store(RegistrationChange)
    /// Send this frame, which has not been sent before.
    case transmit(NotificationFrame, to: SocketID)
    /// Send this frame again; the client recognises its `eventId`.
    case replay(NotificationFrame, to: SocketID)
    /// Close the socket after everything that was sent to it.
    case close(SocketID, ChannelClosure)
    /// Inform this leg of a call about a change of the user's devices.
    case inform(CallID, LegID, DeviceChange)
    /// Tell another user's registration something about a service. That it is to be told is kept together with the
    /// changes of the same input.
    case tell(UserAddress, ServiceMessage)
    /// Push this to the user's devices that it is for. That it is owed is kept together with the changes of the same
    /// input.
    case push(SilentPush)
    /// Count messages that are kept from now on (positive), or no more (negative).
    case keptMessagesChanged(by: Int)
    /// Count notifications that were given up without ever having been transmitted.
    case discarded(Int, of: SubscriptionID)
    /// Count subscriptions that have started (positive) or ended (negative).
    case subscriptionsChanged(by: Int)
    /// Count a subscription for another network than before, or no more. The network that it was made from has counted
    /// it already (``NetworkTable/enter(_:at:)``).
    case networkChanged(NetworkChange)
}

/// Why a socket is closed.
package enum ChannelClosure: Equatable, Sendable {
    /// The subscription has ended, and the client does not come back.
    case subscriptionEnded
    /// Another socket has opened on the channel; the subscription continues.
    case replaced
}
