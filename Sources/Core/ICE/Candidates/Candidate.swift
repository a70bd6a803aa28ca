package import Primitives

/// An ICE candidate as in a description (RFC 8839 §5.1).
package struct Candidate: Hashable, Sendable {
    /// The type of a candidate: how its transport address was obtained (RFC 8445 §4).
    package enum Kind: Hashable, Sendable {
        /// An address of the agent's own interface.
        case host
        /// The agent's address as a STUN or TURN server sees it.
        case serverReflexive
        /// The agent's address as its ICE peer sees it.
        case peerReflexive
        /// An address of a TURN server.
        case relayed
        /// A type of a later specification, with its name.
        case other(String)
    }

    /// The transport protocol of a candidate.
    package enum Transport: Hashable, Sendable {
        /// UDP.
        case udp
        /// TCP (RFC 6544). The gateway's own candidates are of the type `passive`.
        case tcp
        /// Another protocol, with its name.
        case other(String)
    }

    /// A transport address. Its address may be a domain name, which is not resolved.
    package struct Endpoint: Hashable, Sendable {
        /// The IP address or domain name.
        package var address: CandidateAddress
        /// The port.
        package var port: UInt16

        /// Makes an endpoint of its parts; each parameter is the property of that name.
        package init(_ address: CandidateAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    /// A name and a value at the end of a candidate, such as `generation 0`.
    package struct Extension: Hashable, Sendable {
        /// The name of the extension.
        package var name: String
        /// The value of the extension.
        package var value: String

        /// Makes an extension of its parts; each parameter is the property of that name.
        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The foundation, 1 to 32 ice-chars; equal for candidates of the same type, base address and protocol
    /// (RFC 8445 §5.1.1.3).
    package var foundation: String
    /// The component, 1…256. 1 is RTP, and also RTCP if they are multiplexed (RFC 5761).
    package var component: Int
    /// The transport protocol.
    package var transport: Transport
    /// The priority, 1…2³¹−1; a higher one is preferred.
    package var priority: UInt32
    /// The transport address that peers send to.
    package var endpoint: Endpoint
    /// The type of the candidate.
    package var kind: Kind
    /// `raddr` and `rport`, the base of a reflexive candidate, for diagnosis; `nil` if they are missing.
    package var related: Endpoint?
    /// The extensions in the order written, such as `tcptype`, `generation`, `ufrag` and `network-id`.
    package var extensions: [Extension]

    /// Makes a candidate of its parts; each parameter is the property of that name. Without the optional ones, it is
    /// for RTP over UDP.
    package init(
        foundation: String, component: Int = 1, transport: Transport = .udp, priority: UInt32, endpoint: Endpoint,
        kind: Kind,
        related: Endpoint? = nil, extensions: [Extension] = []
    ) {
        self.foundation = foundation
        self.component = component
        self.transport = transport
        self.priority = priority
        self.endpoint = endpoint
        self.kind = kind
        self.related = related
        self.extensions = extensions
    }

    /// The username fragment of the ICE session that a trickled candidate belongs to (RFC 8840); `nil` if it is
    /// missing.
    package var ufrag: String? { extensions.first { $0.name == "ufrag" }?.value }

    static let maximumPriority: UInt32 = 0x7FFF_FFFF
    /// The most extensions that are read.
    package static let maximumExtensionCount = 32
}

/// The `connection-address` of a candidate (RFC 8839 §5.1).
package enum CandidateAddress: Hashable, Sendable {
    /// An IP address.
    case ip(IPAddress)
    /// A domain name, in practice the mDNS name that hides a browser's own address (`….local`).
    case name(String)
}

extension CandidateAddress: CustomStringConvertible {
    /// Reads an address; `nil` if the text is neither an IP address nor a domain name.
    package init?(_ text: some StringProtocol) {
        if let address = IPAddress(text) {
            self = .ip(address)
        } else if Self.isName(text) {
            self = .name(String(text))
        } else {
            return nil
        }
    }

    /// The address as text, as in a candidate.
    package var description: String {
        switch self {
        case .ip(let address): "\(address)"
        case .name(let name): name
        }
    }

    /// Whether the text is a domain name: letters, digits, hyphens and underscores between dots (RFC 1123 §2.1). It
    /// needs a letter, because `1.2.3` is a mistyped address.
    private static func isName(_ text: some StringProtocol) -> Bool {
        guard (1...253).contains(text.utf8.count), text.utf8.contains(where: \.isLetter) else { return false }
        return text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).allSatisfy { label in
            (1...63).contains(label.count)
                && label.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
        }
    }
}

extension UInt8 {
    var isLetter: Bool { (0x41...0x5A).contains(self) || (0x61...0x7A).contains(self) }
    var isDigit: Bool { (0x30...0x39).contains(self) }
    /// Whether this is an `ice-char` (RFC 8839 §5.4).
    var isICEChar: Bool { isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
    /// Whether this is a printable character other than the space (RFC 5234, B.1).
    var isVisible: Bool { (0x21...0x7E).contains(self) }
}
