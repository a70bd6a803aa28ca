/// What a peer said, read and typed: the meaning of a `SessionDescription` to the gateway.
///
/// Attributes that may stand at either level are resolved per m-line, transport attributes of bundled m-lines
/// come from the tagged one (RFC 9143 §7.1.3), and each m-line says whether and why not the gateway can carry it.
package struct PeerDescription: Equatable, Sendable {
    package enum Role: Equatable, Sendable {
        case offer
        case answer
    }

    package var role: Role
    /// `a=ice-lite` (RFC 8839 §5.3)
    package var isLite: Bool
    /// The m-lines of the BUNDLE group that the gateway takes part in, by index, tagged m-line first; empty without one.
    package var bundle: [Int]
    /// The payload types that the peer's application wants in the first offer made on its behalf.
    package var payloadNumbers: [PayloadNumber] = []
    /// One entry per m-line.
    package var media: [PeerMedia]

    /// The m-line whose transport serves the leg: the first usable one, in the order of the group (RFC 9143 §7.3.1).
    package var transportMedia: PeerMedia? {
        let candidates = bundle.isEmpty ? Array(media.indices) : bundle
        return candidates.lazy.map { media[$0] }.first { $0.refusal == nil }
    }

    /// The m-lines the gateway can carry.
    package var usableMedia: [PeerMedia] { media.filter { $0.refusal == nil } }
}
