import Primitives

/// The payload types of one leg, m-line by m-line.
///
/// All m-lines have one numbering, but where the leg's peer gives one number two meanings, as it may on m-lines with transports of
/// their own (RFC 9143 §9.1 is about those that share one). The call's other legs share one, and there one number means one thing: of such
/// m-lines each but the first has a numbering of its own.
package struct LegNumbering: Hashable, Sendable {
    /// Of every m-line without its own.
    package var common = PayloadNumbering.identity
    private var own: [String: PayloadNumbering] = [:]

    package init() {}

    /// No m-line needs another number than the call has.
    package var isIdentity: Bool { common.isIdentity && own.isEmpty }

    /// The numbering of the m-line with this mid.
    package subscript(mid: String) -> PayloadNumbering {
        get { own[mid] ?? common }
        set { own[mid] = newValue }
    }
}

extension PeerDescription {
    /// An offer of the leg's peer in the numbers of the call: what is ambiguous there gets free ones, and `numberings` says which.
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
