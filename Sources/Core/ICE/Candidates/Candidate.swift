package import Primitives

/// A candidate as descriptions carry it (RFC 8839 §5.1).
package struct Candidate: Hashable, Sendable {
    /// Where a transport address came from (RFC 8445 §4).
    package enum Kind: Hashable, Sendable {
        case host
        case serverReflexive
        case peerReflexive
        case relayed
        /// A type of a later specification.
        case other(String)
    }

    package enum Transport: Hashable, Sendable {
        case udp
        /// RFC 6544; of the three types the gateway has `passive`.
        case tcp
        case other(String)
    }

    /// A transport address; the address may be a name that nobody has resolved.
    package struct Endpoint: Hashable, Sendable {
        package var address: CandidateAddress
        package var port: UInt16

        package init(_ address: CandidateAddress, port: UInt16) {
            self.address = address
            self.port = port
        }
    }

    /// A name and a value this type gives no meaning to, such as `generation 0`.
    package struct Extension: Hashable, Sendable {
        package var name: String
        package var value: String

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// 1…32 ice-chars; equal for candidates of the same type, base address and protocol (RFC 8445 §5.1.1.3).
    package var foundation: String
    /// 1…256; 1 is RTP, and RTCP with it where they are multiplexed (RFC 5761).
    package var component: Int
    package var transport: Transport
    /// 1…2³¹−1.
    package var priority: UInt32
    package var endpoint: Endpoint
    package var kind: Kind
    /// `raddr` and `rport`: the base of a reflexive candidate, for diagnosis.
    package var related: Endpoint?
    /// In the order written; includes `tcptype`, `generation`, `ufrag`, `network-id`, …
    package var extensions: [Extension]

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

    /// The address and port, unless the address is a name.
    package var socketAddress: SocketAddress? {
        guard case .ip(let address) = endpoint.address else { return nil }
        return SocketAddress(address, port: endpoint.port)
    }

    /// `active`, `passive` or `so` (RFC 6544 §4.5).
    package var tcpType: String? { value(of: "tcptype") }
    /// The session a trickled candidate belongs to (RFC 8840).
    package var ufrag: String? { value(of: "ufrag") }
    /// Counts restarts; a browser's own extension.
    package var generation: Int? { value(of: "generation").flatMap { Int($0) } }

    private func value(of name: String) -> String? { extensions.first { $0.name == name }?.value }

    static let maximumPriority: UInt32 = 0x7FFF_FFFF
    package static let maximumExtensionCount = 32
}

/// The `connection-address` of a candidate.
package enum CandidateAddress: Hashable, Sendable {
    case ip(IPAddress)
    /// A domain name, in practice the mDNS name that hides a browser's own address (`….local`).
    case name(String)
}

extension CandidateAddress: CustomStringConvertible {
    package init?(_ text: some StringProtocol) {
        if let address = IPAddress(text) {
            self = .ip(address)
        } else if Self.isName(text) {
            self = .name(String(text))
        } else {
            return nil
        }
    }

    package var description: String {
        switch self {
        case .ip(let address): "\(address)"
        case .name(let name): name
        }
    }

    /// Letters, digits, hyphens and underscores between dots (RFC 1123 §2.1), with a letter somewhere: `1.2.3` is a typo.
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
    /// RFC 8839 §5.4.
    var isICEChar: Bool { isLetter || isDigit || self == UInt8(ascii: "+") || self == UInt8(ascii: "/") }
    /// Printable and no space (RFC 5234, B.1).
    var isVisible: Bool { (0x21...0x7E).contains(self) }
}
