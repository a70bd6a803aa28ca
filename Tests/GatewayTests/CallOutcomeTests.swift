import CallControl
import Observability
import Testing

import Gateway

@Suite struct CallOutcomeTests {
    @Test(arguments: [
        (.completed(by: .caller, reasonText: nil), .completed),
        (.cancelled(reasonText: "changed my mind"), .cancelled),
        (.rejected(reasonText: nil), .rejected),
        (.unanswered, .unanswered),
        (.unreachable(.noSuchUser), .unreachable),
        (.unreachable(.notRegistered), .unreachable),
        (.mediaFailed(.callee, .setupTimeout), .mediaFailed),
        (.subscriptionEnded(.caller), .subscriptionEnded),
        (.drained, .drained),
    ] as [(CallEndCause, CallOutcome)])
    func `the end of a call is counted by its cause`(_ cause: CallEndCause, _ outcome: CallOutcome) {
        #expect(CallOutcome(cause) == outcome)
    }
}
