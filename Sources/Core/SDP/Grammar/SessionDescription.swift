/// A session description as written (RFC 8866 §5). Every line is kept in order, also one that the gateway does not
/// know.
///
/// This type is the text without its meaning; `PeerDescription` is the meaning.
package struct SessionDescription: Equatable, Sendable {
    /// `o=`.
    package var origin: Origin
    /// `s=`; `-` if the session has no name.
    package var name: String
    /// `i=`; `nil` if it is missing.
    package var information: String?
    /// `u=`; `nil` if it is missing.
    package var uri: String?
    /// The `e=` lines.
    package var emailAddresses: [String]
    /// The `p=` lines.
    package var phoneNumbers: [String]
    /// `c=`, the default for m-lines without their own; `nil` if it is missing.
    package var connection: Connection?
    /// The `b=` lines of the session level.
    package var bandwidths: [Bandwidth]
    /// The `t=` lines, at least one.
    package var times: [ActiveTime]
    /// `k=`, obsolete (RFC 8866 §5.12); it is kept but never used.
    package var key: String?
    /// The `a=` lines above the first m-line.
    package var attributes: [Attribute]
    /// The m-lines, each with the lines below it.
    package var media: [MediaDescription]

    /// Makes a description with only the mandatory lines. Its `t=0 0` means a session without time limits.
    package init(origin: Origin, name: String = "-", attributes: [Attribute] = [], media: [MediaDescription] = []) {
        self.origin = origin
        self.name = name
        self.emailAddresses = []
        self.phoneNumbers = []
        self.bandwidths = []
        self.times = [.unbounded]
        self.attributes = attributes
        self.media = media
    }
}

/// `o=`: the session that the description belongs to, and the version of the description (RFC 8866 §5.2).
package struct Origin: Hashable, Sendable {
    /// The user name; `-` if there is none.
    package var username: String
    /// The session id, at most 63 bits (RFC 3264 §5).
    package var sessionID: UInt64
    /// The version of the description, at most 63 bits. It increases by one with each changed description
    /// (RFC 3264 §8).
    package var version: UInt64
    /// The address of the describing side. It only makes the session id unique.
    package var address: Connection

    /// Makes an origin of its parts; each parameter is the property of that name.
    package init(username: String = "-", sessionID: UInt64, version: UInt64, address: Connection = .unspecified) {
        self.username = username
        self.sessionID = sessionID
        self.version = version
        self.address = address
    }
}

/// The network type, address type and address of `c=` and `o=` (RFC 8866 §5.7).
package struct Connection: Hashable, Sendable {
    /// The network type, `IN`.
    package var networkType: String
    /// The address type, `IP4` or `IP6`.
    package var addressType: String
    /// The address or host name; in `c=` with the multicast suffix, if any.
    package var address: String

    /// Makes a connection of its parts; each parameter is the property of that name.
    package init(networkType: String = "IN", addressType: String, address: String) {
        self.networkType = networkType
        self.addressType = addressType
        self.address = address
    }

    /// The placeholder 0.0.0.0 that is written where ICE supplies the address (RFC 8829 §5.2.1).
    package static let unspecified = Connection(addressType: "IP4", address: "0.0.0.0")
}

/// `b=`: a limit on what the describing side wants to receive (RFC 8866 §5.8).
package struct Bandwidth: Hashable, Sendable {
    /// `AS` for kbit/s, `TIAS` for bit/s (RFC 3890), or another type.
    package var type: String
    /// The limit, in the unit of the type.
    package var value: UInt64

    /// Makes a limit of its parts; each parameter is the property of that name.
    package init(type: String, value: UInt64) {
        self.type = type
        self.value = value
    }
}

/// `t=` with its `r=` and `z=` lines (RFC 8866 §5.9, §5.10, §5.11).
package struct ActiveTime: Hashable, Sendable {
    /// The start, in seconds since 1900 (RFC 8866 §5.9); 0 if it is not limited.
    package var start: UInt64
    /// The end, in seconds since 1900 (RFC 8866 §5.9); 0 if it is not limited.
    package var stop: UInt64
    /// The text of each `r=`.
    package var repeats: [String]
    /// The text of `z=`; `nil` if it is missing.
    package var zones: String?

    /// Makes a time of its parts; each parameter is the property of that name.
    package init(start: UInt64, stop: UInt64, repeats: [String] = [], zones: String? = nil) {
        self.start = start
        self.stop = stop
        self.repeats = repeats
        self.zones = zones
    }

    /// `t=0 0`, a session without time limits.
    package static let unbounded = ActiveTime(start: 0, stop: 0)
}
