import Primitives

/// Holds an answer against the offer it answers (RFC 3264 §6, RFC 8829 §5.11) and draws up the agreement.
struct AnswerCheck {
    let offered: [LocalMedia]
    let answer: PeerDescription
    /// The leg's, for sentences to its peer.
    let numbering: PayloadNumbering

    func agreement(local: ICECredentials) throws(SDPError) -> NegotiatedLeg {
        guard !answer.isLite else { throw .unsupportedLitePeer }
        guard answer.media.count == offered.count else {
            throw .answerMismatch(media: nil, "it has \(answer.media.count) m-lines instead of \(offered.count) (RFC 3264 §6)")
        }
        var media: [NegotiatedMedia] = []
        for (offer, answer) in zip(offered, answer.media) { media.append(try agreement(on: offer, answer)) }
        guard let transport = answer.transportMedia?.transport, let remote = transport.credentials else {
            throw .noUsableMedia(answer.media.compactMap(\.refusal))
        }
        return NegotiatedLeg(
            transport: NegotiatedTransport(
                local: local, remote: remote, remoteFingerprints: transport.fingerprints,
                role: transport.setup == .passive ? .client : .server),
            media: media)
    }

    private func agreement(on offer: LocalMedia, _ answer: PeerMedia) throws(SDPError) -> NegotiatedMedia {
        let fault = { (text: String) in SDPError.answerMismatch(media: answer.index, text) }
        guard answer.kind == offer.kind else { throw fault("it answers \(offer.kind.token) with \(answer.kind.token.prefix(32))") }
        guard !answer.namesMid || answer.mid == offer.mid else { throw fault("its a=mid is not that of the offer") }
        if answer.isRejected || offer.isRejected {
            guard answer.isRejected else { throw fault("it accepts an m-line that was offered with port 0") }
            var rejected = offer
            rejected.reject()
            return rejected.agreement(direction: .inactive, codecs: [], extensions: [], remoteSources: [])
        }
        guard answer.transportProtocol.uppercased() == offer.transportProtocol else { throw fault("its protocol is not that of the offer") }
        if let refusal = answer.refusal { throw fault("it \(refusal)") }
        guard answer.direction.mayAnswer(offer.direction) else {
            throw fault("a=\(answer.direction.rawValue) cannot answer a=\(offer.direction.rawValue) (RFC 3264 §6.1)")
        }
        let codecs = try agreedCodecs(offer, answer)
        var agreed = offer.agreement(
            direction: answer.direction.reversed, codecs: codecs,
            extensions: HeaderExtension.agreed(offered: offer.extensions, answered: answer.extensions).map(\.reversed),
            remoteSources: answer.sources)
        agreed.packetTime = answer.packetTimes
        return agreed
    }

    /// Formats that were not offered may stand in an answer (RFC 3264 §6.1) and are passed over; an offered payload type
    /// that now means another encoding is an error, for it would be relayed under the wrong meaning.
    private func agreedCodecs(_ offer: LocalMedia, _ answer: PeerMedia) throws(SDPError) -> [Codec] {
        for codec in answer.codecs {
            guard let offered = offer.codecs.codec(for: codec.payloadType), !offered.isSameEncoding(as: codec) else { continue }
            throw .answerMismatch(
                media: answer.index,
                "payload type \(numbering.onLeg(codec.payloadType).rawValue) is \(offered.name) in the offer and \(codec.name.prefix(32)) in the answer")
        }
        let agreed = Codec.agreed(offered: offer.codecs, answered: answer.codecs)
        guard agreed.contains(where: \.carriesMedia) else {
            throw .answerMismatch(media: answer.index, "it accepts none of the codecs that were offered")
        }
        return agreed
    }
}

extension HeaderExtension {
    /// The same mapping from the other side's view.
    fileprivate var reversed: HeaderExtension { HeaderExtension(id: id, uri: uri, direction: direction.reversed) }
}
