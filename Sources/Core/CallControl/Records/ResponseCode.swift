// SIP response codes (RFC 3261 §21) of what can end in a call. All dialects give these.

extension CallEndCause {
    /// The response code; 200 after a conversation.
    package var statusCode: Int {
        switch self {
        case .completed, .transferred: 200  // §21.2.1
        // Request Terminated, §21.4.25. A call that is not answered in time is cancelled by the gateway. 480 would say
        // that the callee cannot be rung.
        case .cancelled, .unanswered, .callerLeft: 487
        case .rejected: 603  // Decline, §21.6.2
        case .unreachable(let reason): reason.statusCode
        case .mediaFailed(_, let failure): failure.statusCode
        case .subscriptionEnded, .clientLost, .joinFailed: 480  // Temporarily Unavailable, §21.4.18
        case .targetNotReached(let cause, _): cause.statusCode
        case .tooLong, .drained, .endedByOperator, .interrupted: 503  // Service Unavailable, §21.5.4
        }
    }
}

extension CallEndCause.Unreachable {
    fileprivate var statusCode: Int {
        switch self {
        case .noSuchUser: 404  // Not Found, §21.4.5
        case .notRegistered: 480  // Temporarily Unavailable, §21.4.18
        case .busy: 486  // Busy Here, §21.4.24
        }
    }
}

extension MediaFailure {
    fileprivate var statusCode: Int {
        switch self {
        // Nothing came from the peer in time: Request Timeout, §21.4.9.
        case .setupTimeout, .neverConnected, .consentExpired: 408
        // The peer does not do what its description says: Not Acceptable Here, §21.4.26.
        case .handshakeFailed, .fingerprintMismatch: 488
        // The gateway itself is at fault: Service Unavailable, §21.5.4.
        case .overloaded: 503
        }
    }
}

extension TransferFailure {
    /// The response code that the transferor is given: what a caller of the target would be given.
    package var statusCode: Int {
        switch self {
        case .targetNotReached(let cause): cause.statusCode
        case .callNotHandedOver: 480  // Temporarily Unavailable, §21.4.18
        }
    }
}

extension EndingCause {
    /// The response code.
    package var statusCode: Int {
        switch self {
        case .ended(let cause): cause.statusCode
        case .forwarded: 302  // Moved Temporarily, §21.3.3
        case .transferFailed(let failure): failure.statusCode
        }
    }
}
