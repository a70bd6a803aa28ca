import Primitives

/// Checks an answer against its offer (RFC 3264 §6, RFC 8829 §5.11) and makes the agreement.
///
/// An m-line that the gateway cannot carry as answered counts as rejected, as it would in an offer; the call continues
/// with the others. An answer that contradicts the offer is an error.
struct AnswerCheck {
    let offered: [LocalMedia]
    let answer: PeerDescription
    /// The payload types of the leg, for error messages to its peer.
    let numbering: LegNumbering

    /// The agreement, and the answer as it was taken: one m-line for each offered one, refused where nothing is agreed.
    struct Result {
        var agreement: NegotiatedLeg
        var answer: PeerDescription
    }

    /// Checks the answer.
    ///
    /// - Parameters:
    ///   - first: The gateway's credentials for the first transport.
    ///   - standing: What was agreed before; `nil` in a first exchange.
    /// - Throws: `.unsupportedLitePeer`, `.answerMismatch` if the answer contradicts the offer, `.noUsableMedia` if no
    ///   m-line is agreed.
    func result(first: ICECredentials, standing: NegotiatedLeg?) throws(SDPError) -> Result {
        guard !answer.isLite else { throw .unsupportedLitePeer }
        var taken = try completed()
        var media: [NegotiatedMedia] = []
        for (index, offer) in offered.enumerated() { media.append(try agreement(on: offer, &taken.media[index])) }
        var placed = offered
        guard let transports = placed.settleTransports(answeredBy: &taken, first: first, standing: standing) else {
            for media in taken.media {
                if let refusal = media.refusal, refusal != .disabledByPeer {
                    throw Self.mismatch(media, .unusable(refusal))
                }
            }
            throw .noUsableMedia(taken.media.compactMap(\.refusal))
        }
        for index in media.indices {
            media[index].transport = placed[index].transport
            guard taken.media[index].refusal != nil, !media[index].isRejected else { continue }
            media[index] = Self.rejection(of: offered[index])
        }
        return Result(agreement: NegotiatedLeg(transports, media: media), answer: taken)
    }

    /// The answer with a rejected m-line for every one that it omits. RFC 3264 §6 requires as many m-lines as the offer
    /// has, but some agents omit those that they cannot take.
    ///
    /// - Throws: `.answerMismatch` if m-lines are left over.
    private func completed() throws(SDPError) -> PeerDescription {
        var completed = answer
        var left = answer.media[...]
        var places: [Int: Int] = [:]
        completed.media = offered.enumerated().map { index, offer in
            guard var next = left.first, left.count == offered.count - index || next.mayAnswer(offer) else {
                return PeerMedia(vacantAt: index, mid: offer.mid, kind: offer.kind, codecs: offer.codecs)
            }
            left.removeFirst()
            places[next.index] = index
            next.index = index
            return next
        }
        guard left.isEmpty else {
            throw .answerMismatch(media: nil, .surplusMedia(count: answer.media.count, offered: offered.count))
        }
        completed.groups = answer.groups.map { group in group.compactMap { places[$0] } }
        return completed
    }

    private func agreement(on offer: LocalMedia, _ answer: inout PeerMedia) throws(SDPError) -> NegotiatedMedia {
        guard answer.kind == offer.kind else {
            throw Self.mismatch(answer, .otherKind(answer.kind, offered: offer.kind))
        }
        guard !answer.namesMid || answer.mid == offer.mid else {
            throw Self.mismatch(answer, .otherMid)
        }
        // Some agents answer port 0 with another port; the m-line stays rejected (RFC 3264 §6).
        if offer.isRejected { answer.refusal = .disabledByPeer }
        guard answer.refusal == nil else { return Self.rejection(of: offer) }
        guard answer.transportProtocol.uppercased() == offer.transportProtocol else {
            throw Self.mismatch(answer, .otherProtocol)
        }
        guard answer.direction.mayAnswer(offer.direction) else {
            throw Self.mismatch(answer, .direction(answer.direction, offered: offer.direction))
        }
        try readCodecs(of: &answer, as: offer)
        let codecs = Codec.agreed(offered: offer.codecs, answered: answer.codecs)
        guard codecs.contains(where: \.carriesMedia) else {
            answer.refusal = .noOfferedCodecs
            return Self.rejection(of: offer)
        }
        var agreed = offer.agreement(
            direction: answer.direction.reversed, codecs: codecs,
            extensions: HeaderExtension.agreed(offered: offer.extensions, answered: answer.extensions).map(\.reversed),
            remoteSources: answer.sources)
        agreed.packetTime = answer.packetTimes
        let answered = PayloadTypeSet(codecs)
        // Their stereo parameters describe the other leg's peer.
        agreed.furtherCodecs = offer.codecs.filter {
            offer.decodable.contains($0.payloadType) && !answered.contains($0.payloadType)
        }
        .map(\.withoutStereo)
        return agreed
    }

    private static func mismatch(_ media: PeerMedia, _ fault: SDPError.AnswerFault) -> SDPError {
        .answerMismatch(media: media.index, fault)
    }

    private static func rejection(of offer: LocalMedia) -> NegotiatedMedia {
        var rejected = offer
        rejected.reject()
        return rejected.agreement(direction: .inactive, codecs: [], extensions: [], remoteSources: [])
    }

    /// Completes the answered codecs from the offered ones.
    ///
    /// An answer may contain formats that were not offered (RFC 3264 §6.1); they are ignored. An offered payload type
    /// that now means another encoding is an error, because it would be relayed with the wrong meaning.
    private func readCodecs(of answer: inout PeerMedia, as offer: LocalMedia) throws(SDPError) {
        for index in answer.codecs.indices {
            let codec = answer.codecs[index]
            guard let offered = offer.codecs.codec(for: codec.payloadType) else { continue }
            guard offered.isSameEncoding(as: codec) else {
                let number = numbering[answer.mid].onLeg(codec.payloadType)
                throw Self.mismatch(
                    answer, .otherEncoding(number, codec.map.encoding, offered: offered.map.encoding))
            }
            answer.codecs[index] = codec.completed(from: offered)
        }
    }
}

extension PeerMedia {
    /// Whether this m-line can be the answer to that offered one.
    fileprivate func mayAnswer(_ offer: LocalMedia) -> Bool { kind == offer.kind && (!namesMid || mid == offer.mid) }
}

extension HeaderExtension {
    /// The same mapping as the other side sees it.
    fileprivate var reversed: HeaderExtension { HeaderExtension(id: id, uri: uri, direction: direction.reversed) }
}
