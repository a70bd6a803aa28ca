/// The description of a peer, read and typed: what a `SessionDescription` means to the gateway.
///
/// Attributes that may stand at either level are resolved per m-line. Transport attributes of bundled m-lines come from
/// the tagged one (RFC 9143 §7.1.3). Each m-line says whether the gateway can carry it and, if not, why.
package struct PeerDescription: Equatable, Sendable {
    /// Whether a description is an offer or an answer (RFC 3264 §4).
    package enum Role: Equatable, Sendable {
        /// The describing side proposes a session, or a change of it.
        case offer
        /// The describing side responds to an offer.
        case answer
    }

    /// Whether this is an offer or an answer. `a=setup`, `a=bundle-only` and port 0 have other meanings in each.
    package var role: Role
    /// `a=ice-lite` (RFC 8839 §5.3). Two lite agents cannot connect, so the gateway refuses such a peer.
    package var isLite: Bool
    /// The BUNDLE groups (RFC 9143 §5) as m-line indices, tagged m-line first. An m-line outside of all groups has a
    /// transport of its own.
    package var groups: [[Int]]
    /// The payload types that the peer's application wants in the first offer made on its behalf.
    package var payloadNumbers: [PayloadNumber] = []
    /// For an offer, how payload types of the call map to those that its peer writes, by mid. It contains only m-lines
    /// whose payload types were changed on reading beyond the leg's numbering.
    package var numberings: [String: PayloadNumbering] = [:]
    /// The m-lines in their order, with refused ones.
    package var media: [PeerMedia]

    /// The m-lines of the BUNDLE group that contains the first usable m-line; empty if that one is in no group.
    package var bundle: [Int] {
        guard let first = media.first(where: { $0.refusal == nil }) else { return [] }
        return groups.first { $0.contains(first.index) } ?? []
    }

    /// The m-line whose transport is the first one of a new leg: the first usable m-line in the order of its group
    /// (RFC 9143 §7.3.1); `nil` if no m-line is usable.
    package var transportMedia: PeerMedia? {
        guard let first = media.indices.first(where: { media[$0].refusal == nil }) else { return nil }
        return sharers(of: first).lazy.map { media[$0] }.first { $0.refusal == nil }
    }

    /// The m-lines that the gateway can carry.
    package var usableMedia: [PeerMedia] { media.filter { $0.refusal == nil } }
}
