package import Primitives

/// What the gateway writes about itself into every description of one leg.
package struct LegIdentity: Equatable, Sendable {
    /// The session id of `o=`, constant for the life of the leg; at most 63 bits (RFC 3264 §5).
    package var sessionID: UInt64
    /// The canonical name of the gateway's sources (RFC 3550 §6.5.1), random per leg (RFC 7022 §4.2).
    package var canonicalName: String
    /// The id of the stream that the gateway's tracks belong to (RFC 8830 §2).
    package var streamID: String
    /// The gateway's credentials for the first transport.
    package var credentials: ICECredentials
    /// The fingerprint of the gateway's DTLS certificate.
    package var fingerprint: Fingerprint
    /// All values of `a=candidate`; a lite agent has nothing to trickle.
    package let candidates: [String]
    /// The address and port for `c=` and `m=`: those of a UDP candidate, preferably not a loopback one and preferably
    /// IPv4 (RFC 8839 §4.2.1). Without one, they are the placeholders of RFC 8840 §4.1.
    let defaultDestination: Destination

    struct Destination: Equatable, Sendable {
        var connection: Connection
        var port: UInt16
        /// Whether only peers on this machine reach the address.
        var isLoopback = false
    }

    /// Makes an identity of its parts; each parameter is the property of that name. A session id of more than 63 bits
    /// is a programming error and traps.
    package init(
        sessionID: UInt64, canonicalName: String, streamID: String, credentials: ICECredentials,
        fingerprint: Fingerprint,
        candidates: [String]
    ) {
        precondition(sessionID <= UInt64(Int64.max), "the session id of o= has at most 63 bits")
        self.sessionID = sessionID
        self.canonicalName = canonicalName
        self.streamID = streamID
        self.credentials = credentials
        self.fingerprint = fingerprint
        self.candidates = candidates
        let destinations = candidates.compactMap(Destination.init(candidate:))
        let routable = destinations.filter { !$0.isLoopback }
        let preferred = routable.isEmpty ? destinations : routable
        defaultDestination =
            preferred.first { $0.connection.addressType == "IP4" } ?? preferred.first
            ?? Destination(connection: .unspecified, port: 9)
    }
}

extension LegIdentity {
    /// The ICE and DTLS attributes that RFC 8829 §5.2.1 and §5.3.1 want in every carried m-line.
    ///
    /// - Parameters:
    ///   - credentials: The credentials of the m-line's transport; `nil` for the leg's first transport.
    ///   - setup: The value of `a=setup`.
    func transportAttributes(_ credentials: ICECredentials? = nil, setup: SetupRole) -> [Attribute] {
        let credentials = credentials ?? self.credentials
        return [
            Attribute("ice-ufrag", credentials.ufrag), Attribute("ice-pwd", credentials.password.value),
            Attribute("fingerprint", fingerprint.value), Attribute("setup", setup.rawValue),
        ]
    }
}

extension LegIdentity.Destination {
    /// Reads `foundation component transport priority address port typ type …` (RFC 8839 §5.1); `nil` unless it is over
    /// UDP.
    fileprivate init?(candidate value: String) {
        let fields = value.split(separator: " ")
        guard fields.count >= 8, fields[2].lowercased() == "udp", let port = UInt16(decimal: fields[5].utf8) else {
            return nil
        }
        let type = fields[4].utf8.contains(UInt8(ascii: ":")) ? "IP6" : "IP4"
        self.init(
            connection: Connection(addressType: type, address: String(fields[4])), port: port,
            isLoopback: IPAddress(fields[4])?.isLoopback ?? false)
    }
}

extension ICECredentials {
    /// Draws new credentials. RFC 8839 §5.4 asks for 24 bits of randomness in the ufrag and 128 in the password.
    package init(using random: inout some RandomSource) {
        self.init(ufrag: random.nextToken(8, alphabet: .ice), password: random.nextToken(24, alphabet: .ice))
    }
}
