extension LocalMedia {
    /// The gateway's answer to `offer` if the other leg's peer answered `answer` to the same m-line. The m-line is
    /// rejected if that peer rejected it or did not answer it.
    ///
    /// Codecs have the order and the parameters of `answer`, which say what that peer wants to receive. Only those are
    /// kept that `offer` has as the same format under the same payload type.
    init(answering offer: PeerMedia, mirroring answer: PeerMedia?, policy: MediaPolicy, sources: LocalSources) {
        self.init(mirroring: offer, policy: policy, transportProtocol: offer.transportProtocol, sources: sources)
        namesMid = offer.namesMid
        guard !isRejected, let answer, answer.kind == offer.kind, answer.refusal == nil else {
            reject()
            return
        }
        var agreed = Codec.agreed(offered: codecs, answered: answer.codecs)
        if !agreed.contains(where: \.carriesMedia), kind == .audio, answer.codecs.contains(where: policy.canTranscode) {
            agreed = Self.transcoded(codecs, policy: policy)
        }
        guard agreed.contains(where: \.carriesMedia) else {
            reject()
            return
        }
        agreed.keepEvents(of: codecs, answered: answer.codecs)
        codecs = agreed
        direction = answer.direction.narrowed(to: offer.direction.reversed)
        extensions = HeaderExtension.agreed(offered: extensions, answered: answer.extensions)
        allowsMixedExtensions = offer.allowsMixedExtensions && answer.allowsMixedExtensions
        bandwidths = answer.bandwidths
        packetTime = answer.packetTime
        maximumPacketTime = answer.maximumPacketTime
    }

    /// An m-line that the other leg does not have any more; it is rejected.
    init(gone sources: LocalSources) {
        mid = sources.mid
        namesMid = true
        kind = sources.kind
        transportProtocol = "UDP/TLS/RTP/SAVPF"
        rejectedFormats = ["0"]
        isRejected = true
        direction = .inactive
        codecs = []
        extensions = []
        allowsMixedExtensions = false
        allowsReducedSizeRTCP = false
        bandwidths = []
        self.sources = sources
    }
}

extension Codec {
    /// The answered codecs that were offered as the same format under the same payload type, in the answer's order and
    /// with its parameters. Feedback is what both sides name (RFC 4585 §4.2).
    static func agreed(offered: [Codec], answered: [Codec]) -> [Codec] {
        answered.compactMap { codec -> Codec? in
            guard let offer = offered.codec(for: codec.payloadType), offer.isSameFormat(as: codec) else { return nil }
            var agreed = codec
            agreed.feedback = codec.feedback.filter(offer.feedback.contains)
            return agreed
        }.withoutOrphans()
    }
}

extension [Codec] {
    /// Accepts offered telephone-events although those of the answer have another clock rate; the relay converts them
    /// to the rate of each side. If several were offered, those with the clock rate of the audio are taken.
    fileprivate mutating func keepEvents(of offered: [Codec], answered: [Codec]) {
        guard !contains(where: \.isTelephoneEvent), answered.contains(where: \.isTelephoneEvent),
            let audio = first(where: \.carriesMedia)
        else { return }
        let events = offered.filter(\.isTelephoneEvent)
        append(contentsOf: (events.first { $0.clockRate == audio.clockRate } ?? events.first).map { [$0] } ?? [])
    }
}

extension HeaderExtension {
    /// The answered extensions that were offered under the same id, as far as both directions allow (RFC 8285 §7).
    static func agreed(offered: [HeaderExtension], answered: [HeaderExtension]) -> [HeaderExtension] {
        answered.compactMap { mapping in
            guard let offer = offered.first(where: { $0.id == mapping.id && $0.uri == mapping.uri }) else { return nil }
            let direction = mapping.direction.narrowed(to: offer.direction.reversed)
            return direction == .inactive
                ? nil : HeaderExtension(id: mapping.id, uri: mapping.uri, direction: direction)
        }
    }
}
