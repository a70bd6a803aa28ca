/// A session description as written (RFC 8866 §5): every line kept, in order, known or not.
///
/// Says what stands there, not what it means; `PeerDescription` is the reading of it.
package struct SessionDescription: Equatable, Sendable {
    /// `o=`
    package var origin: Origin
    /// `s=`; `-` when the session has no name.
    package var name: String
    /// `i=`
    package var information: String?
    /// `u=`
    package var uri: String?
    /// `e=`
    package var emailAddresses: [String]
    /// `p=`
    package var phoneNumbers: [String]
    /// `c=`, the default for m-lines without their own.
    package var connection: Connection?
    /// `b=`
    package var bandwidths: [Bandwidth]
    /// `t=`, at least one.
    package var times: [ActiveTime]
    /// `k=`, obsolete (RFC 8866 §5.12): kept, never used.
    package var key: String?
    /// `a=` above the first m-line.
    package var attributes: [Attribute]
    /// `m=` and what follows each.
    package var media: [MediaDescription]

    /// A description with only what every description has; `t=0 0` is a session without bounds.
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

/// `o=`: who made the description, and which version of it this is (RFC 8866 §5.2).
package struct Origin: Hashable, Sendable {
    /// `-` when there is none.
    package var username: String
    /// Both numbers fit 63 bits (RFC 3264 §5).
    package var sessionID: UInt64
    package var version: UInt64
    package var address: Connection

    package init(username: String = "-", sessionID: UInt64, version: UInt64, address: Connection = .unspecified) {
        self.username = username
        self.sessionID = sessionID
        self.version = version
        self.address = address
    }
}

/// The network type, address type and address of `c=` and `o=` (RFC 8866 §5.7).
package struct Connection: Hashable, Sendable {
    package var networkType: String
    package var addressType: String
    /// An address or name; in `c=` with the multicast suffix, if any.
    package var address: String

    package init(networkType: String = "IN", addressType: String, address: String) {
        self.networkType = networkType
        self.addressType = addressType
        self.address = address
    }

    /// The placeholder where ICE says the address (RFC 8829 §5.2.1).
    package static let unspecified = Connection(addressType: "IP4", address: "0.0.0.0")
}

/// `b=`: a limit on what the describing side wants to receive (RFC 8866 §5.8).
package struct Bandwidth: Hashable, Sendable {
    /// `AS` in kbit/s, `TIAS` in bit/s (RFC 3890), or another type.
    package var type: String
    package var value: UInt64

    package init(type: String, value: UInt64) {
        self.type = type
        self.value = value
    }
}

/// `t=` with its `r=` and `z=` lines (RFC 8866 §5.9, §5.10, §5.11).
package struct ActiveTime: Hashable, Sendable {
    package var start: UInt64
    package var stop: UInt64
    /// The text of each `r=`.
    package var repeats: [String]
    /// The text of `z=`.
    package var zones: String?

    package init(start: UInt64, stop: UInt64, repeats: [String] = [], zones: String? = nil) {
        self.start = start
        self.stop = stop
        self.repeats = repeats
        self.zones = zones
    }

    package static let unbounded = ActiveTime(start: 0, stop: 0)
}
