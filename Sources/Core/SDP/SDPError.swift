/// Why a description was refused. Every case prints as a sentence for the author of the description.
package enum SDPError: Error, Equatable, Sendable {
    /// The text breaks the grammar of RFC 8866 §9. The line number counts from 1.
    case malformedLine(Int, String)
    /// A session-level attribute cannot be read.
    case malformedSession(String)
    /// An attribute of an m-line cannot be read. The m-line number counts from 0, as the `a=mid` values of browsers do.
    case malformedMedia(Int, String)
    /// The description is larger than the gateway accepts (`DescriptionLimits`).
    case limitExceeded(String)
    /// Both sides are ICE lite, so neither would send connectivity checks (RFC 8445 §6.1.1).
    case unsupportedLitePeer
    /// The gateway can carry none of the m-lines. There is one reason per m-line.
    case noUsableMedia([MediaRefusal])
    /// A later offer breaks a rule of RFC 3264 §8 or RFC 8829 §5.2.2. `media` is the index of the m-line; `nil` if the
    /// whole offer is at fault.
    case offerMismatch(media: Int?, String)
    /// An answer does not fit its offer (RFC 3264 §6). `media` is the index of the m-line; `nil` if the whole answer is
    /// at fault.
    case answerMismatch(media: Int?, String)
    /// The offer/answer exchange is in this other state (RFC 3264 §4). In `.localOffer` and `.remoteOffer` an offer is
    /// pending, and a second one is glare (RFC 3261 §14.2).
    case wrongState(LegNegotiation.Phase)
    /// The peer restarts ICE, so the answer needs new credentials (RFC 8839 §4.4.1.1.1).
    case restartNeedsCredentials
}

extension SDPError: CustomStringConvertible {
    /// The sentence for the client, without passwords and fingerprints.
    package var description: String {
        switch self {
        case .malformedLine(let line, let fault): "SDP line \(line): \(fault)"
        case .malformedSession(let fault): "SDP session level: \(fault)"
        case .malformedMedia(let index, let fault): "SDP m-line \(index): \(fault)"
        case .limitExceeded(let limit): "SDP is too large: \(limit)"
        case .unsupportedLitePeer: "the peer is ICE lite, as the gateway is, so that nobody would check connectivity"
        case .noUsableMedia(let refusals): Self.noUsableMediaSentence(refusals)
        case .offerMismatch(nil, let fault): "the offer does not continue the session: \(fault)"
        case .offerMismatch(let index?, let fault): "the offer does not continue the session: m-line \(index): \(fault)"
        case .answerMismatch(nil, let fault): "the answer does not fit the offer: \(fault)"
        case .answerMismatch(let index?, let fault): "the answer does not fit the offer: m-line \(index): \(fault)"
        case .wrongState(let phase): phase.hindrance
        case .restartNeedsCredentials: "the peer restarts ICE, and no new credentials were drawn for the answer"
        }
    }

    private static func noUsableMediaSentence(_ refusals: [MediaRefusal]) -> String {
        guard !refusals.isEmpty else { return "the description has no m-line; offer at least one of audio and video" }
        let reasons = refusals.enumerated().prefix(4).map { "m-line \($0.offset) \($0.element)" }
        return "the description has no audio or video that the gateway can carry: " + reasons.joined(separator: "; ")
    }
}
