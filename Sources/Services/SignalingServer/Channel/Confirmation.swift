package import NIOCore

/// Finds out how much of what was sent on a WebSocket has been received: by pings that name the last notification
/// before them, since clients send no acknowledgements of their own (spidr-wire §4.1). A client answers each ping with
/// what it said (RFC 6455 §5.5.3), and frames arrive in order.
///
/// One ping is on its way at a time. An idle channel has none.
package struct Confirmation {
    /// When pings are sent.
    package struct Limits: Sendable {
        /// How long a notification waits for a ping at most.
        package var delay: TimeAmount
        /// After so many notifications a ping is sent at once, 1 or more.
        package var count: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(delay: TimeAmount, count: Int) {
            self.delay = delay
            self.count = count
        }
    }

    /// What a notification that was sent requires.
    package enum Need: Equatable {
        /// Nothing: a ping is on its way, or will be.
        case nothing
        /// A ping after ``Limits/delay``.
        case later
        /// A ping now.
        case now
    }

    private let limits: Limits
    /// The number of the last notification that was sent.
    private var latest: UInt64 = 0
    /// How many notifications were sent since the last ping.
    private var count = 0
    /// The number that the ping names that was not answered yet, and when it was sent; `nil`: none is on its way.
    private var ping: (number: UInt64, time: NIODeadline)?
    /// A ping has been asked for.
    private var isDue = false

    /// A client that sends keep-alive text, but no pong for so long, never answers pings. Its text confirms.
    private static let patience = TimeAmount.seconds(20)

    /// Makes the confirmation of a channel on which nothing was sent.
    package init(_ limits: Limits) { self.limits = limits }

    /// A notification was sent.
    package mutating func sent(_ number: UInt64) -> Need {
        (latest, count) = (number, count + 1)
        return need()
    }

    /// The payload of a ping that is sent now; `nil`: none has to be.
    package mutating func makePing(at now: NIODeadline) -> ByteBuffer? {
        isDue = false
        guard ping == nil, count > 0 else { return nil }
        ping = (latest, now)
        count = 0
        return ByteBuffer(integer: latest)
    }

    /// A pong has come.
    ///
    /// - Returns: the number up to which everything was received; `nil`: the pong answers no such ping.
    package mutating func pong(_ payload: ByteBuffer) -> UInt64? {
        guard let number = ping?.number, payload == ByteBuffer(integer: number) else { return nil }
        ping = nil
        return number
    }

    /// Keep-alive text has come.
    ///
    /// - Returns: the number up to which everything is taken for received; `nil`: none.
    package mutating func text(at now: NIODeadline) -> UInt64? {
        guard let (number, time) = ping, now - time > Self.patience else { return nil }
        ping = nil
        return number
    }

    /// What is required after a ping was answered.
    package mutating func need() -> Need {
        guard ping == nil, count > 0 else { return .nothing }
        if count >= limits.count { return .now }
        guard !isDue else { return .nothing }
        isDue = true
        return .later
    }
}
