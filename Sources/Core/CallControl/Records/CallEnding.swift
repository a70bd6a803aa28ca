/// How a call ended, in full: for its record, and for what devices are told.
package struct CallEnding: Hashable, Sendable, Codable {
    /// A SIP response code (RFC 3261 §21); 200 after a conversation.
    package var statusCode: Int
    /// The reason in words, of the user or of the gateway; `nil` if neither gave one.
    package var reasonText: String?
    /// The cause in one word, from the list in docs/call-states.md.
    package var cause: String
    /// The leg that caused the end; `nil`: the gateway.
    package var endedBy: LegID?

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(statusCode: Int, reasonText: String? = nil, cause: String, endedBy: LegID? = nil) {
        self.statusCode = statusCode
        self.reasonText = reasonText
        self.cause = cause
        self.endedBy = endedBy
    }
}

/// The place of a leg in a call, seen from one of its legs; spelt as on the wire.
package enum CallSide: String, Hashable, Sendable, CaseIterable {
    /// The leg from which the call is seen.
    case own = "self"
    /// Another leg.
    case peer
    /// The gateway.
    case gateway

    /// Makes the place of `leg`, seen from `own`; a `leg` of `nil` is the gateway.
    package init(_ leg: LegID?, seenFrom own: LegID) {
        self = leg.map { $0 == own ? .own : .peer } ?? .gateway
    }
}

extension CallEnding {
    /// Causes for what ends for one leg of a call only, or for some devices.
    package enum PartialCause: String, Hashable, Sendable, CaseIterable {
        /// This device has answered.
        case answeredHere = "answered_here"
        /// Another device of the user answered first.
        case answeredElsewhere = "answered_elsewhere"
        /// The user continued the call on another device.
        case continuedElsewhere = "continued_elsewhere"
        /// The call was forwarded to another address.
        case forwarded = "forwarded"
        /// A transfer failed: the target was not reached, or the other call was not handed over.
        case notTransferred = "transfer_failed"
    }

    /// Makes the ending of a cause.
    ///
    /// - Parameter originator: the leg that caused the end; `nil`: the gateway.
    package init(_ cause: CallEndCause, by originator: LegID?) {
        // What a leg that did not cause the end is told contains all of it.
        let told = cause.farewell(to: LegID(.max), isCalled: cause == .callerLeft)
        self.init(
            statusCode: told?.statusCode ?? 200, reasonText: told?.reasonText, cause: cause.word,
            endedBy: originator)
    }
}

extension CallEndCause {
    /// The leg that caused the end; `nil`: the gateway.
    ///
    /// - Parameter callee: the leg that was rung.
    func originator(callee: LegID?) -> LegID? {
        switch self {
        case .completed(let leg, _), .subscriptionEnded(let leg), .clientLost(let leg), .transferred(let leg): leg
        case .cancelled, .callerLeft: .caller
        case .rejected: callee
        case .unanswered, .unreachable, .mediaFailed, .joinFailed, .drained: nil
        }
    }
}

extension Call {
    /// The leg that was rung; the last one, if the call was forwarded or transferred.
    var callee: LegID? { legs.last { $0.isCalled }?.id }
}
