import Primitives

/// The payload types of one leg, by m-line.
///
/// All m-lines share one numbering unless the leg's peer gives a payload type two meanings. It may do so on m-lines
/// with transports of their own; RFC 9143 §9.1 concerns only m-lines that share one. The call's other legs may share a
/// transport, where a payload type means one thing. Each of such m-lines except the first therefore has its own
/// numbering.
package struct LegNumbering: Hashable, Sendable {
    /// The numbering of every m-line without its own.
    package var common = PayloadNumbering.identity
    private var own: [String: PayloadNumbering] = [:]

    /// Makes a numbering that changes nothing.
    package init() {}

    /// Whether every m-line has the payload types of the call.
    package var isIdentity: Bool { common.isIdentity && own.isEmpty }

    /// The numbering of the m-line with this mid; setting it gives the m-line its own.
    package subscript(mid: String) -> PayloadNumbering {
        get { own[mid] ?? common }
        set { own[mid] = newValue }
    }
}

extension PeerDescription {
    /// An offer of the leg's peer in the payload types of the call. Ambiguous payload types are replaced by free ones,
    /// and `numberings` contains the mapping of each changed m-line.
    func numberedApart(from numbering: LegNumbering) -> PeerDescription {
        var apart = self
        var taken = PayloadTypeSet(media.flatMap(\.codecs))
        for index in media.indices.dropFirst() where media[index].refusal == nil {
            let sharers = sharers(of: index)
            let others = apart.media[..<index].filter { $0.refusal == nil && !sharers.contains($0.index) }.flatMap(
                \.codecs)
            let ambiguous = media[index].codecs.filter { codec in
                others.codec(for: codec.payloadType).map { !$0.isSameFormat(as: codec) } ?? false
            }
            guard !ambiguous.isEmpty else { continue }
            var own = numbering[media[index].mid]
            let onLeg = own.onLeg(media[index].codecs)
            var unplaced = PayloadTypeSet()
            for codec in ambiguous {
                guard let free = taken.firstFree(preferring: codec.payloadType) else {
                    unplaced.insert(codec.payloadType)
                    continue
                }
                taken.insert(free)
                own.swapOnLeg(own.onLeg(codec.payloadType), own.onLeg(free))
            }
            apart.media[index].codecs = own.inCall(onLeg).filter {
                !unplaced.contains($0.payloadType) && !own.breaksRedundancy($0)
            }
            .withoutOrphans()
            apart.numberings[media[index].mid] = own
            if !apart.media[index].codecs.contains(where: \.carriesMedia) {
                apart.media[index].refusal = .ambiguousPayloadTypes
            }
        }
        return apart
    }
}
