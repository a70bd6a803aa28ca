/// Why a description was refused. A dialect makes the sentence for the author of the description.
package enum SDPError: Error, Equatable, Sendable {
    /// A line breaks the grammar of RFC 8866 §9, or is missing. The line number counts from 1.
    case malformedLine(Int, LineFault)
    /// The session-level attribute of this name cannot be read.
    case malformedSession(attribute: String)
    /// An attribute of an m-line cannot be used. The m-line number counts from 0, as the `a=mid` values of browsers do.
    case malformedMedia(Int, MediaFault)
    /// The description is larger than the gateway accepts (`DescriptionLimits`).
    case limitExceeded(Limit)
    /// Both sides are ICE lite, so neither would send connectivity checks (RFC 8445 §6.1.1).
    case unsupportedLitePeer
    /// The gateway can carry none of the m-lines. There is one reason per m-line.
    case noUsableMedia([MediaRefusal])
    /// A later offer breaks a rule of RFC 3264 §8 or RFC 8829 §5.2.2. `media` is the index of the m-line; `nil` if the
    /// whole offer is at fault.
    case offerMismatch(media: Int?, OfferFault)
    /// An answer does not fit its offer (RFC 3264 §6). `media` is the index of the m-line; `nil` if the whole answer is
    /// at fault.
    case answerMismatch(media: Int?, AnswerFault)
    /// The offer/answer exchange is in this other state (RFC 3264 §4). In `.localOffer` and `.remoteOffer` an offer is
    /// pending, and a second one is glare (RFC 3261 §14.2).
    case wrongState(LegNegotiation.Phase)
    /// The peer restarts ICE, so the answer needs new credentials (RFC 8839 §4.4.1.1.1).
    case restartNeedsCredentials
}
