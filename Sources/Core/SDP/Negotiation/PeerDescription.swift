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
    /// The BUNDLE groups (RFC 9143 §5) as m-lines by index, tagged m-line first. An m-line outside of them has a transport
    /// of its own.
    package var groups: [[Int]]
    /// The payload types that the peer's application wants in the first offer made on its behalf.
    package var payloadNumbers: [PayloadNumber] = []
    /// Of an offer, the m-lines (by mid) that have other payload types here than their peer writes, besides the leg's numbering.
    package var numberings: [String: PayloadNumbering] = [:]
    /// One entry per m-line.
    package var media: [PeerMedia]

    /// The m-lines of the BUNDLE group that the first usable m-line is in; empty if it is in none.
    package var bundle: [Int] {
        guard let first = media.first(where: { $0.refusal == nil }) else { return [] }
        return groups.first { $0.contains(first.index) } ?? []
    }

    /// The m-line whose transport is a new leg's first: the first usable one, in the order of its group (RFC 9143
    /// §7.3.1).
    package var transportMedia: PeerMedia? {
        guard let first = media.indices.first(where: { media[$0].refusal == nil }) else { return nil }
        return sharers(of: first).lazy.map { media[$0] }.first { $0.refusal == nil }
    }

    /// The m-lines the gateway can carry.
    package var usableMedia: [PeerMedia] { media.filter { $0.refusal == nil } }
}
