import CallControl
import Observability
import Testing

import Gateway

@Suite struct CallOutcomeTests {
    @Test(
        arguments: [
            (.completed(by: .caller, reasonText: nil), .normalClearing),
            (.transferred(by: .caller), .normalClearing),
            (.cancelled(reasonText: "changed my mind"), .originatorCancel),
            (.rejected(reasonText: nil), .callRejected),
            (.unanswered, .noAnswer),
            (.unreachable(.noSuchUser), .unallocatedNumber),
            (.unreachable(.notRegistered), .subscriberAbsent),
            (.unreachable(.busy), .userBusy),
            (.mediaFailed(.callee, .setupTimeout), .mediaTimeout),
            (.mediaFailed(.callee, .handshakeFailed), .incompatibleDestination),
            (.mediaFailed(.callee, .overloaded), .gatewayStopping),
            (.subscriptionEnded(.caller), .subscriptionEnded),
            (.callerLeft, .subscriptionEnded),
            (.clientLost(.caller), .clientLost),
            (.joinFailed, .joinFailed),
            (.drained, .gatewayStopping),
        ] as [(CallEndCause, CallOutcome)])
    func `the end of a call is counted by its cause`(_ cause: CallEndCause, _ outcome: CallOutcome) {
        #expect(CallOutcome(cause) == outcome)
        #expect(outcome.rawValue == cause.word.rawValue)
    }

    @Test func `the labels are the words of the causes`() {
        #expect(Set(CallOutcome.allCases.map(\.rawValue)) == Set(EndingWord.allCases.map(\.rawValue)))
    }
}
