import Primitives

extension PayloadNumbering {
    /// Makes the numbering with which the leg's codecs have the payload types that are wanted for them.
    ///
    /// If another codec has the wanted payload type, the two swap theirs, as in the reference guide. The codecs are
    /// those of all m-lines that share a transport, where a payload type means one format (RFC 9143 §9.1). A wish
    /// applies to the first matching codec that no earlier wish has taken. A wish that matches none has no effect, and
    /// neither has one for a codec with a static payload type (RFC 3551 §6).
    package init(assigning wishes: [PayloadNumber], to codecs: [Codec]) {
        self.init()
        var settled = PayloadTypeSet()
        for wish in wishes where !settled.contains(wish.payloadType) {
            let codec = codecs.first { codec in
                codec.payloadType.rawValue >= Self.firstDynamic && !settled.contains(onLeg(codec.payloadType))
                    && wish.matches(codec)
            }
            guard let codec else { continue }
            swapOnLeg(onLeg(codec.payloadType), wish.payloadType)
            settled.insert(wish.payloadType)
        }
    }

    /// The first dynamic payload type; RFC 3551 §6 assigned those below.
    private static let firstDynamic: UInt8 = 35

    /// Whether the payload types in the format of `red` (RFC 2198 §5) change. Each red packet contains them too, and
    /// the relay does not rewrite its payload, so such a codec cannot be used on the leg.
    package func breaksRedundancy(_ codec: Codec) -> Bool {
        guard !isIdentity, codec.isNamed("red") else { return false }
        return (0...127).lazy.compactMap(PayloadType.init).contains {
            codec.requiredPayloadTypes.contains($0) && onLeg($0) != $0
        }
    }
}
