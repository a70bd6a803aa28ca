package import CallControl
package import Registration

/// The open WebSockets, as the owners of registrations see them. All functions return at once and keep the order per
/// socket. A socket that is gone is ignored.
package protocol ChannelPort: Sendable {
    /// Prepares what is sent of a notification, so that little is left to do when it may be sent.
    ///
    /// - Returns: sends it; to be called once, on any thread.
    func transmission(of frame: NotificationFrame, to socket: SocketID) -> @Sendable () -> Void

    /// Sends what was transmitted before, then a close frame with this code.
    func close(_ socket: SocketID, _ code: ChannelCloseCode)
}

/// WebSocket close codes (RFC 6455 §7.4.1), with the meaning that clients give them (spidr-wire §4.4).
package enum ChannelCloseCode: UInt16, Sendable {
    /// The subscription is over; the client does not come back.
    case normal = 1000
    /// The gateway is stopping; the client reconnects.
    case goingAway = 1001
    /// Another socket has taken over the channel, or the client broke a rule.
    case policyViolation = 1008
}
