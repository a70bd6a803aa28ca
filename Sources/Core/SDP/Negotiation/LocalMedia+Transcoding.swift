import Primitives

/// Codecs that the gateway can code itself: offered where the other side did not, so that two peers without a common codec
/// can talk all the same.
extension LocalMedia {
    /// Adds to an offer of audio what the gateway can turn the other side's audio into.
    ///
    /// - Parameter taken: payload types of all m-lines; one number means one format in a whole BUNDLE group (RFC 9143 §9.1).
    mutating func addTranscodable(_ policy: MediaPolicy, taken: inout PayloadTypeSet) {
        guard kind == .audio, !isRejected, codecs.contains(where: policy.canTranscode) else { return }
        for codec in policy.transcodable where !codecs.contains(where: { $0.isSameEncoding(as: codec) }) {
            guard let payloadType = taken.firstFree(preferring: codec.payloadType) else { break }
            taken.insert(payloadType)
            var added = codec
            added.payloadType = payloadType
            codecs.append(added)
        }
        decodable = PayloadTypeSet(codecs.filter(policy.canTranscode))
    }

    /// What is answered to an offer of audio that has no codec in common with the other side's answer: the first one that the
    /// gateway can code, and the keys and the comfort noise that count like it.
    static func transcoded(_ offered: [Codec], policy: MediaPolicy) -> [Codec] {
        guard let codec = offered.first(where: policy.canTranscode) else { return [] }
        // None of the other side's codecs has two channels.
        return [codec.withoutStereo]
            + offered.filter { ($0.isTelephoneEvent || $0.isNamed("CN")) && $0.clockRate == codec.clockRate }
    }
}

extension MediaPolicy {
    /// Whether audio of this codec can be decoded and coded anew.
    package func canTranscode(_ codec: Codec) -> Bool {
        codec.carriesMedia && transcodable.contains { $0.isSameEncoding(as: codec) }
    }

    /// The relay, and transcoding where two peers share no audio codec.
    package static let engine: MediaPolicy = {
        var policy = relay
        policy.transcodable = [
            Codec(
                payloadType: .init(maskingHeaderByte: 111), name: "opus", clockRate: 48_000, channels: 2,
                parameters: "useinbandfec=1"),
            Codec(payloadType: .init(maskingHeaderByte: 9), name: "G722", clockRate: 8_000),
            Codec(payloadType: .init(maskingHeaderByte: 0), name: "PCMU", clockRate: 8_000),
            Codec(payloadType: .init(maskingHeaderByte: 8), name: "PCMA", clockRate: 8_000),
            Codec(
                payloadType: .init(maskingHeaderByte: 126), name: "telephone-event", clockRate: 8_000,
                parameters: "0-15"),
        ]
        return policy
    }()
}

extension PayloadTypeSet {
    /// A payload type that is not in the set: the preferred one, or one of the dynamic ones (RFC 3551 §3, RFC 5761 §4).
    func firstFree(preferring preferred: PayloadType) -> PayloadType? {
        if !contains(preferred) { return preferred }
        // The second range is used only when the first is full.
        for number in Array(96...127) + Array(35...63) {
            if let payloadType = PayloadType(number), !contains(payloadType) { return payloadType }
        }
        return nil
    }
}
