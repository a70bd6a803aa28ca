package import CallControl
package import Registration

/// The open WebSockets, as the owners of registrations see them. All functions return at once and keep the order per
/// socket. A socket that is gone is ignored.
package protocol ChannelPort: Sendable {
    /// Prepares what is sent of notifications, so that little is left to do when they may be sent. Those of one socket
    /// are sent in their order.
    ///
    /// - Returns: sends them; to be called once, on any thread.
    func transmission(of frames: [AddressedFrame]) -> @Sendable () -> Void

    /// Sends what was transmitted before, then a close frame with this code.
    func close(_ socket: SocketID, _ code: ChannelCloseCode)
}

/// A notification, and where it is sent.
package struct AddressedFrame: Equatable, Sendable {
    /// The notification.
    package var frame: NotificationFrame
    /// The socket that it is sent to.
    package var socket: SocketID

    /// Makes a value of its parts.
    package init(_ frame: NotificationFrame, to socket: SocketID) {
        self.frame = frame
        self.socket = socket
    }
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
