/// How a call ended, in full: for its record, and for what devices are told.
package struct CallEnding: Hashable, Sendable {
    /// A SIP response code (RFC 3261 §21); 200 after a conversation.
    package var statusCode: Int
    /// In words, of whoever gave them, or of the gateway; `nil` if nobody said anything.
    package var reasonText: String?
    /// One word, of the list in docs/call-states.md.
    package var cause: String
    /// `nil`: the gateway.
    package var endedBy: Leg?

    package init(statusCode: Int, reasonText: String? = nil, cause: String, endedBy: Leg? = nil) {
        self.statusCode = statusCode
        self.reasonText = reasonText
        self.cause = cause
        self.endedBy = endedBy
    }
}

/// Somebody's place in a call, seen from one end of it; spelt as on the wire.
package enum CallSide: String, Hashable, Sendable, CaseIterable {
    case own = "self"
    case peer
    case gateway

    /// - Parameter leg: `nil` is the gateway.
    init(_ leg: Leg?, seenFrom own: Leg) {
        self = leg.map { $0 == own ? .own : .peer } ?? .gateway
    }
}

extension CallEnding {
    /// Words for what ends for one end of a call only, or for some devices.
    package enum PartialCause: String, Hashable, Sendable, CaseIterable {
        /// This device has answered.
        case answeredHere = "answered_here"
        /// Another device of the user was faster.
        case answeredElsewhere = "answered_elsewhere"
        /// The user went on with the call on another device.
        case continuedElsewhere = "continued_elsewhere"
        /// The call was sent to another address.
        case forwarded = "forwarded"
        /// Somebody who was to take over a call did not come.
        case notTransferred = "transfer_failed"
    }

    /// - Parameters:
    ///   - callee: who was rung when the call ended, or answered it.
    init(_ cause: CallEndCause, callee: Leg?) {
        // What somebody else is told says it all.
        let told = cause.farewell(to: Leg(.max), isCalled: cause == .callerLeft)
        self.init(
            statusCode: told?.statusCode ?? 200, reasonText: told?.reasonText, cause: cause.word,
            endedBy: cause.originator(callee: callee))
    }
}

extension CallEndCause {
    /// Who brought the end about; `nil` is the gateway.
    ///
    /// - Parameter callee: who rang.
    func originator(callee: Leg?) -> Leg? {
        switch self {
        case .completed(let leg, _), .subscriptionEnded(let leg), .clientLost(let leg), .transferred(let leg): leg
        case .cancelled, .callerLeft: .caller
        case .rejected: callee
        default: nil
        }
    }
}

extension Call {
    /// Who was called, or rung last.
    var callee: Leg? { legs.last { $0.isCalled }?.id }
}
