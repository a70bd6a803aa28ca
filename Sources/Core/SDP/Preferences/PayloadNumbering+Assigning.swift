import Primitives

extension PayloadNumbering {
    /// The numbers a leg gets so that its codecs have those that are wanted for them.
    ///
    /// A number that another codec has is swapped with it, as the reference guide does. The codecs are those of all m-lines that
    /// share a transport: there one number means one format (RFC 9143 §9.1). A wish takes the first codec it fits that no wish
    /// before it has taken; one that fits none, and one for a codec with a static number (RFC 3551 §6), changes nothing.
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

    /// Below stand the numbers that RFC 3551 §6 gave away.
    private static let firstDynamic: UInt8 = 35

    /// Whether the numbers in the format of `red` (RFC 2198 §5) change. They stand in each of its packets too, which the relay
    /// does not look into, so such a codec cannot be used on the leg.
    package func breaksRedundancy(_ codec: Codec) -> Bool {
        guard !isIdentity, codec.isNamed("red") else { return false }
        return (0...127).lazy.compactMap(PayloadType.init).contains {
            codec.requiredPayloadTypes.contains($0) && onLeg($0) != $0
        }
    }
}
