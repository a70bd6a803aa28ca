import Primitives

extension Candidate {
    /// Parses the text after `a=` or after `a=candidate:` (RFC 8839 §5.1).
    ///
    /// - Throws: The first field that is missing or malformed.
    package init(parsing text: some StringProtocol) throws(CandidateError) {
        var fields = text.split(separator: " ", omittingEmptySubsequences: true).map { String($0) }[...]
        if let first = fields.first, first.hasPrefix(Self.prefix) {
            fields[fields.startIndex] = String(first.dropFirst(Self.prefix.count))
        }
        guard let foundation = fields.popFirst(), (1...32).contains(foundation.utf8.count),
            foundation.utf8.allSatisfy(\.isICEChar)
        else { throw .malformedFoundation }
        guard let component = fields.popFirst().flatMap({ Self.number($0, upTo: 256) }), component >= 1 else {
            throw .malformedComponent
        }
        guard let transport = fields.popFirst().flatMap({ Transport(parsing: $0) }) else { throw .malformedTransport }
        guard let priority = fields.popFirst().flatMap({ Self.number($0, upTo: Int(Self.maximumPriority)) }),
            priority >= 1
        else { throw .malformedPriority }
        guard let address = fields.popFirst().flatMap({ CandidateAddress($0) }) else { throw .malformedAddress }
        guard let port = fields.popFirst().flatMap({ Self.port($0) }) else { throw .malformedPort }
        guard fields.popFirst() == "typ", let kind = fields.popFirst().flatMap({ Kind(parsing: $0) }) else {
            throw .malformedType
        }

        self.init(
            foundation: foundation, component: component, transport: transport, priority: UInt32(priority),
            endpoint: Endpoint(address, port: port), kind: kind
        )
        related = try Self.parseRelated(&fields)
        extensions = try Self.parseExtensions(fields)
    }

    /// Reads `raddr` and `rport`, which have to be together at this place; `nil` if there is neither.
    private static func parseRelated(_ fields: inout ArraySlice<String>) throws(CandidateError) -> Endpoint? {
        guard fields.first == "raddr" || fields.first == "rport" else { return nil }
        guard fields.popFirst() == "raddr", let address = fields.popFirst().flatMap({ CandidateAddress($0) }),
            fields.popFirst() == "rport", let port = fields.popFirst().flatMap({ port($0) })
        else { throw .malformedRelatedAddress }
        return Endpoint(address, port: port)
    }

    private static func parseExtensions(_ fields: ArraySlice<String>) throws(CandidateError) -> [Extension] {
        guard fields.count <= 2 * maximumExtensionCount else { throw .limitExtensions }
        guard fields.count.isMultiple(of: 2), fields.allSatisfy({ $0.utf8.allSatisfy(\.isVisible) }) else {
            throw .malformedExtension
        }
        return stride(from: fields.startIndex, to: fields.endIndex, by: 2).map { Extension(fields[$0], fields[$0 + 1]) }
    }

    /// Reads one to ten decimal digits without sign; `nil` for other texts and numbers above `limit`.
    private static func number(_ text: String, upTo limit: Int) -> Int? {
        guard (1...10).contains(text.utf8.count), text.utf8.allSatisfy(\.isDigit), let value = Int(text), value <= limit
        else { return nil }
        return value
    }

    private static func port(_ text: String) -> UInt16? { number(text, upTo: Int(UInt16.max)).map { UInt16($0) } }

    private static let prefix = "candidate:"
}

extension Candidate: CustomStringConvertible {
    /// The candidate with the prefix `candidate:`, as in an RTCIceCandidate and in an `a=` line.
    package var description: String { Self.prefix + attributeValue }

    /// The text after `a=candidate:` (RFC 8839 §5.1).
    package var attributeValue: String {
        var fields = [
            foundation, "\(component)", transport.text, "\(priority)", "\(endpoint.address)", "\(endpoint.port)", "typ",
            kind.text,
        ]
        if let related { fields += ["raddr", "\(related.address)", "rport", "\(related.port)"] }
        for item in extensions { fields += [item.name, item.value] }
        return fields.joined(separator: " ")
    }
}

extension Candidate.Transport {
    /// Reads the name of a transport without regard to case; some peers write `UDP`, others `udp`.
    fileprivate init?(parsing text: String) {
        switch text.lowercased() {
        case "udp": self = .udp
        case "tcp": self = .tcp
        default:
            guard isToken(text) else { return nil }
            self = .other(text)
        }
    }

    fileprivate var text: String {
        switch self {
        case .udp: "udp"
        case .tcp: "tcp"
        case .other(let name): name
        }
    }
}

extension Candidate.Kind {
    fileprivate init?(parsing text: String) {
        switch text {
        case "host": self = .host
        case "srflx": self = .serverReflexive
        case "prflx": self = .peerReflexive
        case "relay": self = .relayed
        default:
            guard isToken(text) else { return nil }
            self = .other(text)
        }
    }

    fileprivate var text: String {
        switch self {
        case .host: "host"
        case .serverReflexive: "srflx"
        case .peerReflexive: "prflx"
        case .relayed: "relay"
        case .other(let name): name
        }
    }
}

/// Whether the text is a `token` of RFC 8866 §9: visible characters without separators.
private func isToken(_ text: String) -> Bool {
    let separators = Array("\"(),/:;<=>?@[\\]".utf8)
    return !text.isEmpty && text.utf8.allSatisfy { $0.isVisible && !separators.contains($0) }
}

/// Why a text is not a candidate (RFC 8839 §5.1): the field that is missing or malformed.
package enum CandidateError: Error, Hashable, Sendable {
    /// The foundation is not 1 to 32 ice-chars.
    case malformedFoundation
    /// The component is not a number of 1…256.
    case malformedComponent
    /// The transport is not a token.
    case malformedTransport
    /// The priority is not a number of 1…2³¹−1.
    case malformedPriority
    /// The address is neither an IP address nor a domain name.
    case malformedAddress
    /// The port is not a number of 0…65,535.
    case malformedPort
    /// `typ` with a candidate type is missing.
    case malformedType
    /// `raddr` and `rport` are incomplete or malformed.
    case malformedRelatedAddress
    /// An extension name has no value, or an extension has characters that are not visible.
    case malformedExtension
    /// The candidate has more extensions than `Candidate.maximumExtensionCount`.
    case limitExtensions
}
