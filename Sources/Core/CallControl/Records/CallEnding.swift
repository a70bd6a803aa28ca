/// How a call ended for one of its legs: for its record.
package struct CallEnding: Hashable, Sendable, Codable {
    /// Why it ended.
    package var cause: EndingCause
    /// The leg that caused the end; `nil`: the gateway.
    package var endedBy: LegID?

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(_ cause: EndingCause, by endedBy: LegID? = nil) {
        self.cause = cause
        self.endedBy = endedBy
    }
}

/// Why something in a call is over, for records and for the timeline.
package enum EndingCause: Hashable, Sendable {
    /// The call ended, or goes on without the leg.
    case ended(CallEndCause)
    /// The leg forwarded the call to another address.
    case forwarded
    /// The transfer that the leg asked for did not come about.
    case transferFailed(TransferFailure)
}

/// The place of a leg in a call, seen from one of its legs.
package enum CallSide: String, Hashable, Sendable, CaseIterable, Codable {
    /// The leg from which the call is seen.
    case own
    /// Another leg.
    case peer
    /// The gateway.
    case gateway

    /// Makes the place of `leg`, seen from `own`; a `leg` of `nil` is the gateway.
    package init(_ leg: LegID?, seenFrom own: LegID) {
        self = leg.map { $0 == own ? .own : .peer } ?? .gateway
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
        case .targetNotReached(_, let leg): leg
        case .unanswered, .unreachable, .mediaFailed, .joinFailed, .tooLong, .drained, .endedByOperator,
            .interrupted:
            nil
        }
    }
}

extension Call {
    /// The leg that was rung; the last one, if the call was forwarded or transferred.
    var callee: LegID? { legs.last { $0.isCalled }?.id }
}
