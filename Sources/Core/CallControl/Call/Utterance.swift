import SDP

/// A description an end sent, as far as it takes to know it again: when it comes twice, and when it comes too late.
struct Utterance: Equatable, Sendable {
    enum Request: Equatable, Sendable {
        case start
        case answer
        case offer
        case response
    }

    private let request: Request
    private let digest: Int
    /// A digest of the session id in `o=`.
    private let origin: Int
    private let version: UInt64

    /// `nil` if there is no `o=` with a version: then nothing tells a description from the next one.
    init?(_ request: Request, _ text: String) {
        // The second line (RFC 8866 §5); what is wrong with it, if anything, is found by whoever reads the whole text.
        let lines = text.split(maxSplits: 2, whereSeparator: \.isNewline)
        guard lines.count > 1, lines[1].hasPrefix("o="), case let fields = lines[1].split(separator: " "),
            fields.count > 2,
            let version = UInt64(fields[2])
        else { return nil }
        self.request = request
        self.version = version
        digest = text.hashValue
        origin = String(fields[1]).hashValue
    }

    /// Whether the same peer has said something newer: a version never goes down (RFC 3264 §8).
    ///
    /// - Parameter own: the session id of the gateway towards that peer. Agents that repeat it in their answers count anew in their offers,
    ///   so that under this id no version says which is the newer one.
    func isOlder(than other: Utterance, unlessFrom own: UInt64?) -> Bool {
        origin == other.origin && version < other.version && origin != own.map { String($0).hashValue }
    }
}
