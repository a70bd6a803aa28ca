/// A call as one end sees it, in the words of the clients' call states.
package enum LegState: String, Equatable, Sendable {
    case initial = "INITIAL"
    /// The caller waits; no device has rung yet.
    case dialing = "DIALING"
    case ringing = "RINGING"
    case inCall = "IN_CALL"
    case ended = "ENDED"
}

extension Call {
    package func legState(_ leg: Leg) -> LegState {
        switch (state, leg) {
        case (.initial, _): .initial
        case (.unanswered(let unanswered), .caller): unanswered.hasRung ? .ringing : .dialing
        case (.unanswered, .callee): .ringing
        case (.answered, _): .inCall
        case (.ended, _): .ended
        }
    }
}
