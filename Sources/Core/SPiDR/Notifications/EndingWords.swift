package import CallControl

/// How the client protocol says why something is over, in notifications, records and timelines (docs/call-states.md,
/// "Ends").
package struct EndingWords: Equatable, Sendable {
    /// A SIP response code (RFC 3261 §21).
    package var statusCode: Int
    /// The reason in words, of the user or of the gateway; `nil`: neither gave one.
    package var reasonText: String?
    /// The cause in one word.
    package var cause: String

    /// Words a cause for a record or a timeline.
    package init(_ cause: EndingCause) {
        statusCode = cause.statusCode
        switch cause {
        case .ended(let cause):
            reasonText = cause.sentence
            self.cause = cause.word.rawValue
        case .forwarded: self.cause = PartialEndingWord.forwarded.rawValue
        case .transferFailed(let failure):
            reasonText = failure.sentence
            self.cause = PartialEndingWord.transferFailed.rawValue
        }
    }
}

extension CallEndCause {
    /// The words of the user or the operator, or the sentence that clients show; `nil`: none.
    var sentence: String? {
        switch self {
        case .completed(_, let reason): reason
        case .cancelled(let reason): reason ?? "Caller hung up"
        case .rejected(let reason): reason ?? "Declined"
        case .unanswered: "No answer"
        case .unreachable(.noSuchUser): "User not found"
        case .unreachable(.notRegistered), .subscriptionEnded: "Not registered"
        case .unreachable(.busy): "User busy"
        case .mediaFailed(_, let failure): failure.sentence
        case .callerLeft: "Caller is gone"
        case .clientLost: "Client is gone"
        case .transferred: "Transfer Successful"
        case .joinFailed: "The calls cannot be joined"
        case .targetNotReached(let cause, _): cause.sentence
        case .tooLong: "Call reached its longest duration"
        case .drained: "Gateway is shutting down"
        case .endedByOperator(let reason): reason ?? "Ended by the operator"
        case .interrupted: "Gateway was restarted"
        }
    }
}

extension MediaFailure {
    fileprivate var sentence: String {
        switch self {
        case .setupTimeout, .neverConnected: "media path could not be established"
        case .consentExpired: "media path lost"
        case .handshakeFailed: "media encryption could not be agreed"
        case .fingerprintMismatch: "media certificate does not match its fingerprint"
        case .overloaded: "media worker is overloaded"
        }
    }
}

extension TransferFailure {
    /// What the transferor is told: what a caller of the target would be told.
    var sentence: String {
        switch self {
        case .targetNotReached(let cause): cause.sentence ?? ""
        case .callNotHandedOver: "The other call cannot be taken over"
        }
    }
}
