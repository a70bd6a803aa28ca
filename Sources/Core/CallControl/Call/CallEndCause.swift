/// Why a call ended; decides which legs are told.
package enum CallEndCause: Hashable, Sendable, Codable {
    /// The call was answered, and this leg hung up. `reasonText`: the user's words; `nil`: none.
    case completed(by: LegID, reasonText: String?)
    /// The caller hung up before the answer. `reasonText`: the user's words; `nil`: none.
    case cancelled(reasonText: String?)
    /// The callee declined. `reasonText`: the user's words; `nil`: none.
    case rejected(reasonText: String?)
    /// The callee did not answer within the ring time.
    case unanswered
    /// No device of the callee could be rung.
    case unreachable(Unreachable)
    /// This leg did not get a media path, or lost it.
    case mediaFailed(LegID, MediaFailure)
    /// The last subscription of this leg's user is over.
    case subscriptionEnded(LegID)
    /// The caller's last subscription ended before the answer.
    case callerLeft
    /// The client of this leg gave no sign of life.
    case clientLost(LegID)
    /// This leg transferred the other legs into another call.
    case transferred(by: LegID)
    /// The calls that were to become a conference could not be joined.
    case joinFailed
    /// The gateway had called the callee to connect it with a target (`CallStartRequest.isConnector`), and the target
    /// was not reached for this cause. `by`: the leg of the target, if it caused that; `nil`: the gateway.
    indirect case targetNotReached(cause: CallEndCause, by: LegID?)
    /// The call has lasted as long as the gateway lets one last (`maximumDuration`, `headlessDuration`).
    case tooLong
    /// The gateway was stopping.
    case drained
    /// An operator ended the call. `reasonText`: the operator's words for the parties; `nil`: none.
    case endedByOperator(reasonText: String?)
    /// The gateway ended without ending the call, because it was killed or crashed. It says so when it runs again.
    case interrupted

    /// Why no device of a user can be rung.
    package enum Unreachable: String, Hashable, Sendable, Codable, CaseIterable {
        /// No user has this address.
        case noSuchUser
        /// The user has no device that is subscribed to calls.
        case notRegistered
        /// The user is in another call, and the gateway is configured not to ring busy users (`calls.busy`).
        case busy
    }
}

/// The keys of values that have no label, where a cause is written (docs/call-events.md).
extension CallEndCause {
    private enum UnreachableCodingKeys: String, CodingKey { case _0 = "reason" }
    private enum MediaFailedCodingKeys: String, CodingKey {
        case _0 = "leg"
        case _1 = "failure"
    }
    private enum SubscriptionEndedCodingKeys: String, CodingKey { case _0 = "leg" }
    private enum ClientLostCodingKeys: String, CodingKey { case _0 = "leg" }
}

/// Why the media path of a leg failed, so that the leg cannot continue.
package enum MediaFailure: String, Hashable, Sendable, Codable, CaseIterable {
    /// The media path was not secured within the time that the call allows for it.
    case setupTimeout
    /// No connectivity check has succeeded.
    case neverConnected
    /// Neither a valid check nor a protected packet has come within the consent time (RFC 7675 §5.1).
    case consentExpired
    /// The DTLS handshake failed or took too long.
    case handshakeFailed
    /// The peer's certificate does not match the fingerprint in its description (RFC 5763 §6.7.1).
    case fingerprintMismatch
    /// The media worker has no room for what the leg needs.
    case overloaded
}

/// Why a transfer did not come about.
package enum TransferFailure: Hashable, Sendable, Codable {
    /// The target could not be rung, or its leg ended before it answered.
    case targetNotReached(cause: CallEndCause)
    /// The consultation call did not hand over its leg.
    case callNotHandedOver
}

extension CallEndCause {
    /// Whether the devices of a leg are told that the call is over for them.
    ///
    /// - Parameter isCalled: the leg was rung; the caller was not.
    func tellsEnd(to leg: LegID, isCalled: Bool) -> Bool {
        switch self {
        // A callee that cannot be rung knows nothing of the call.
        case .unreachable: !isCalled
        // The user of that leg has no device left.
        case .subscriptionEnded(let gone): gone != leg
        case .callerLeft: isCalled
        // The other devices of the user who hung up are told, too (see `Call+Devices.swift`), a caller that cancels
        // since some clients wait for it (spidr-wire §6.7), and a lost client since it may come back.
        case .completed, .cancelled, .rejected, .unanswered, .mediaFailed, .clientLost, .transferred, .joinFailed,
            .targetNotReached, .tooLong, .drained, .endedByOperator, .interrupted:
            true
        }
    }
}
