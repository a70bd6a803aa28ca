/// One call between a caller and a callee; never leaves the gateway.
package struct CallID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
    package var description: String { String(rawValue, radix: 16) }
}

/// `sessionData`: one user's leg of a call, and the last path segment of its resource (spidr-wire §5.1).
package struct SessionID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }
}

/// The last path segment of a subscription (spidr-wire §3.1).
package struct SubscriptionID: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
    package var description: String { rawValue }
}

/// The unguessable last path segment of a notification channel; whoever knows it may listen (spidr-wire §4).
package struct ChannelID: Hashable, Sendable {
    package let rawValue: String
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

/// One accepted WebSocket; never reused while the process lives.
package struct SocketID: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}

extension CallID {
    /// What the gateway calls itself in RTCP and `a=ssrc` lines of this call: random, as short-lived as the call (RFC 7022 §4.2).
    package var canonicalName: String { "orbweaver-\(description)" }
}
