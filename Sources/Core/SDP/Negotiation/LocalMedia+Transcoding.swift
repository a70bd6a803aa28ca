import Primitives

/// Codecs that the gateway can transcode. They are offered although the other side did not offer them, so that two
/// peers without a common codec can talk.
extension LocalMedia {
    /// Adds the codecs to an audio offer that the gateway can transcode the other side's audio to.
    ///
    /// - Parameters:
    ///   - policy: Says which codecs these are.
    ///   - taken: The payload types of all m-lines; a payload type means one format in a whole BUNDLE group
    ///     (RFC 9143 §9.1).
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

    /// The codecs that answer an audio offer that has no codec in common with the other side's answer: the first one
    /// that the gateway can transcode, with the telephone-events and the comfort noise of the same clock rate.
    static func transcoded(_ offered: [Codec], policy: MediaPolicy) -> [Codec] {
        guard let codec = offered.first(where: policy.canTranscode) else { return [] }
        // The audio is mono, since none of the other side's codecs has two channels.
        return [codec.withoutStereo]
            + offered.filter { ($0.isTelephoneEvent || $0.isNamed("CN")) && $0.clockRate == codec.clockRate }
    }
}

extension MediaPolicy {
    /// Whether the gateway can transcode audio of this codec.
    package func canTranscode(_ codec: Codec) -> Bool {
        codec.carriesMedia && transcodable.contains { $0.isSameEncoding(as: codec) }
    }

    /// The policy of the relay with transcoding between peers that share no audio codec.
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
    /// A payload type that is not in the set: the preferred one, or a dynamic one (RFC 3551 §3, RFC 5761 §4); `nil` if
    /// all are taken.
    func firstFree(preferring preferred: PayloadType) -> PayloadType? {
        if !contains(preferred) { return preferred }
        // The second range is used only when the first is full.
        for number in Array(96...127) + Array(35...63) {
            if let payloadType = PayloadType(number), !contains(payloadType) { return payloadType }
        }
        return nil
    }
}
