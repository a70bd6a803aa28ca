/// The name of a call within the gateway; no client ever sees it.
package struct CallID: Hashable, Sendable, CustomStringConvertible {
    /// The number. Its remainder modulo the number of media workers is the worker that carries the call.
    package let rawValue: UInt64
    /// Makes an identifier of its number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    /// The number in hexadecimal digits, for logs.
    package var description: String { String(rawValue, radix: 16) }
}

/// `sessionData`: the name of one user's leg of a call, and the last path segment of its resource (spidr-wire §5.1).
package struct SessionID: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is on the wire.
    package let rawValue: String
    /// Makes an identifier of its name on the wire.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The name as it is on the wire.
    package var description: String { rawValue }
}

/// The name of a subscription: the last path segment of its resource (spidr-wire §3.1).
package struct SubscriptionID: Hashable, Sendable, CustomStringConvertible {
    /// The name as it is on the wire.
    package let rawValue: String
    /// Makes an identifier of its name on the wire.
    package init(_ rawValue: String) { self.rawValue = rawValue }
    /// The name as it is on the wire.
    package var description: String { rawValue }
}

/// The unguessable last path segment of a notification channel. Any client that knows it may listen (spidr-wire §4).
package struct ChannelID: Hashable, Sendable {
    /// The name as it is on the wire. It is a secret: never logged.
    package let rawValue: String
    /// Makes an identifier of its name on the wire.
    package init(_ rawValue: String) { self.rawValue = rawValue }

    /// Whether two names are the same. Names of one length take the same time, wherever they differ.
    package static func == (one: Self, other: Self) -> Bool {
        let (one, other) = (one.rawValue.utf8, other.rawValue.utf8)
        return one.count == other.count && zip(one, other).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// One accepted WebSocket. A number is never reused while the process lives.
package struct SocketID: Hashable, Sendable {
    /// The number of the socket, unique in the process.
    package let rawValue: UInt64
    /// Makes an identifier of its number.
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

extension CallID {
    /// The CNAME of the gateway in RTCP and in the `a=ssrc` lines of this call: random, and as short-lived as the call
    /// (RFC 7022 §4.2).
    package var canonicalName: String { "orbweaver-\(description)" }
}
