import Primitives

/// The identity of a description that a leg sent, with which one that comes twice or too late is recognised.
package struct DescriptionIdentity: Equatable, Sendable {
    /// The kind of request that a description comes in.
    package enum Request: Equatable, Sendable {
        /// The one that starts the call.
        case start
        /// The one that answers the call.
        case answer
        /// An offer in the call.
        case offer
        /// An answer to such an offer.
        case response
    }

    /// The kind of request that the description came in.
    package let request: Request
    /// A digest of the whole description.
    private let digest: FowlerNollVo
    /// A digest of the session id in `o=`.
    private let origin: FowlerNollVo
    /// The version in `o=`.
    private let version: UInt64

    /// Makes `nil` if there is no `o=` line with a version: without it, descriptions cannot be told apart.
    package init?(_ request: Request, _ text: String) {
        // The second line (RFC 8866 §5). If it is malformed, the parser of the whole text reports that.
        let lines = text.split(maxSplits: 2, whereSeparator: \.isNewline)
        guard lines.count > 1, lines[1].hasPrefix("o="), case let fields = lines[1].split(separator: " "),
            fields.count > 2,
            let version = UInt64(fields[2])
        else { return nil }
        self.request = request
        self.version = version
        digest = FowlerNollVo(text)
        origin = FowlerNollVo(fields[1])
    }

    /// Whether the peer has counted up its version since the other description (RFC 3264 §8).
    func isNewer(than other: DescriptionIdentity) -> Bool { origin == other.origin && version > other.version }

    /// Whether the same peer has sent a newer description: a version never goes down (RFC 3264 §8).
    ///
    /// - Parameter own: the session id of the gateway towards that peer. Some agents repeat it in their answers, and
    ///   count independently in their offers; under this id, versions cannot be compared.
    func isOlder(than other: DescriptionIdentity, unlessFrom own: UInt64?) -> Bool {
        origin == other.origin && version < other.version && origin != own.map { FowlerNollVo(String($0)) }
    }
}
