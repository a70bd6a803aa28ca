import CallControl
import Testing

@Suite struct EndingWordTests {
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
            (.mediaFailed(.callee, .overloaded), .normalTemporaryFailure),
            (.subscriptionEnded(.caller), .subscriptionEnded),
            (.callerLeft, .subscriptionEnded),
            (.clientLost(.caller), .clientLost),
            (.joinFailed, .joinFailed),
            (.targetNotReached(cause: .unanswered, by: nil), .noAnswer),
            (.tooLong, .normalTemporaryFailure),
            (.drained, .normalTemporaryFailure),
            (.endedByOperator(reasonText: nil), .normalTemporaryFailure),
            (.interrupted, .normalTemporaryFailure),
        ] as [(CallEndCause, EndingWord)])
    func `each cause has its word`(_ cause: CallEndCause, _ word: EndingWord) {
        #expect(cause.word == word)
    }
}
