import CallControl

extension CallEndCause {
    /// `reason`: the words of the user, or a sentence of the gateway; `nil`: none.
    var reason: String? {
        switch self {
        case .completed(_, let reason): reason
        case .cancelled(let reason): reason ?? "Caller hung up"
        case .rejected(let reason): reason ?? "Declined"
        case .unanswered: "No answer"
        case .unreachable(.noSuchUser): "User not found"
        case .unreachable(.notRegistered), .subscriptionEnded: "Not registered"
        case .unreachable(.busy): "User busy"
        case .mediaFailed(_, let failure): failure.reason
        case .callerLeft: "Caller is gone"
        case .clientLost: "Client is gone"
        case .transferred: "Transfer Successful"
        case .joinFailed: "The calls cannot be joined"
        case .drained: "Gateway is shutting down"
        }
    }
}

extension MediaFailure {
    fileprivate var reason: String {
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
    /// `reason`: a sentence about the target, or about the other call.
    var reason: String {
        switch self {
        case .targetNotReached(let cause): cause.reason ?? ""
        case .callNotHandedOver: "The other call cannot be taken over"
        }
    }
}
