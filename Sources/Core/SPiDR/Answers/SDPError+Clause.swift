import Primitives
import SDP

extension SDPError {
    /// The error as a clause for the author of the description, without passwords and fingerprints.
    var clause: String {
        switch self {
        case .malformedLine(let line, let fault): "SDP line \(line): \(fault.clause)"
        case .malformedSession(let attribute): "SDP session level: a=\(attribute.prefix(32)) cannot be read"
        case .malformedMedia(let index, let fault): "SDP m-line \(index): \(fault.clause)"
        case .limitExceeded(let limit): "SDP is too large: \(limit.clause)"
        case .unsupportedLitePeer: "the peer is ICE lite, as the gateway is, so that nobody would check connectivity"
        case .noUsableMedia(let refusals): Self.noUsableMediaClause(refusals)
        case .offerMismatch(nil, let fault): "the offer does not continue the session: \(fault.clause)"
        case .offerMismatch(let index?, let fault):
            "the offer does not continue the session: m-line \(index): \(fault.clause)"
        case .answerMismatch(nil, let fault): "the answer does not fit the offer: \(fault.clause)"
        case .answerMismatch(let index?, let fault):
            "the answer does not fit the offer: m-line \(index): \(fault.clause)"
        case .wrongState(let phase): phase.reason
        case .restartNeedsCredentials: "the peer restarts ICE, and no new credentials were drawn for the answer"
        }
    }

    private static func noUsableMediaClause(_ refusals: [MediaRefusal]) -> String {
        guard !refusals.isEmpty else { return "the description has no m-line; offer at least one of audio and video" }
        let reasons = refusals.enumerated().prefix(4).map { "m-line \($0.offset) \($0.element.predicate)" }
        return "the description has no audio or video that the gateway can carry: " + reasons.joined(separator: "; ")
    }
}

extension SDPError.LineFault {
    /// What is wrong with the line, or which line is missing.
    fileprivate var clause: String {
        switch self {
        case .missingVersion: "the description starts with v=0"
        case .missingOrigin: "o= follows v="
        case .missingName: "s= follows o="
        case .missingTimes: "t= is missing"
        case .empty: "the line is empty"
        case .noType: "a line starts with one letter and \"=\""
        case .controlCharacter: "a NUL or a lone carriage return stands in the line"
        case .unknownType: "the line has an unknown type"
        case .misplaced(let type): "\(type)= stands out of order or too often"
        case .unsupportedVersion: "the version is not 0"
        case .originFields: "o= needs six fields"
        case .originNumbers: "the session id and version of o= are not numbers of at most 63 bits"
        case .connectionFields: "c= needs a network type, an address type and an address"
        case .bandwidthFields: "b= needs a type, a colon and a number"
        case .timeFields: "t= needs a start and a stop time"
        case .attributeName: "a= needs a name"
        case .mediaFields: "m= needs a type, a port, a protocol and a format"
        case .mediaPort: "the port of m= is not 0…65535"
        case .mediaPortCount: "the number of ports of m= is not 1…65535"
        }
    }
}

extension SDPError.MediaFault {
    /// What is wrong with the attribute.
    fileprivate var clause: String {
        switch self {
        case .unreadable(let attribute): "a=\(attribute.prefix(32)) cannot be read"
        case .repeatedMid: "a=mid is that of another m-line"
        }
    }
}

extension SDPError.Limit {
    /// How much there is too much of.
    fileprivate var clause: String {
        switch self {
        case .bytes(let limit): "more than \(limit) bytes"
        case .lineBytes(let limit, let line): "line \(line) is longer than \(limit) bytes"
        case .mediaCount(let limit): "more than \(limit) m-lines"
        case .attributeCount(let limit, let line): "more than \(limit) attributes at line \(line)"
        }
    }
}

extension SDPError.OfferFault {
    /// What is wrong with the offer, or with its m-line.
    fileprivate var clause: String {
        switch self {
        case .fewerMedia(let count, let agreed): "it has \(count) m-lines, and there were \(agreed) (RFC 3264 §8)"
        case .changedKind: "its media type has changed"
        case .changedMid: "its a=mid has changed"
        }
    }
}

extension SDPError.AnswerFault {
    /// What is wrong with the answer, or with its m-line.
    fileprivate var clause: String {
        switch self {
        case .surplusMedia(let count, let offered): "it has \(count) m-lines instead of \(offered) (RFC 3264 §6)"
        case .otherKind(let answered, let offered): "it answers \(offered.token) with \(answered.token.prefix(32))"
        case .otherMid: "its a=mid is not that of the offer"
        case .otherProtocol: "its protocol is not that of the offer"
        case .direction(let answered, let offered):
            "a=\(answered.rawValue) cannot answer a=\(offered.rawValue) (RFC 3264 §6.1)"
        case .otherEncoding(let payloadType, let answered, let offered):
            "payload type \(payloadType.rawValue) is \(offered.prefix(48)) in the offer"
                + " and \(answered.prefix(48)) in the answer"
        case .unusable(let refusal): "it \(refusal.predicate)"
        }
    }
}

extension LegNegotiation.Phase {
    /// Why a command is refused in this state.
    fileprivate var reason: String {
        switch self {
        case .idle: "no offer has been made on this leg"
        case .localOffer: "an offer of the gateway waits for its answer on this leg"
        case .remoteOffer: "an offer of the peer waits for its answer on this leg"
        case .stable: "no offer is pending on this leg"
        }
    }
}
