import CallControl
import SPiDR
import Testing

/// How ends are worded for clients (docs/call-states.md, "Ends").
struct EndingWordsTests {
    private static func words(_ cause: EndingCause) -> String {
        let words = EndingWords(cause)
        return "\(words.statusCode) \(words.cause)" + (words.reasonText.map { " \($0)" } ?? "")
    }

    @Test(
        arguments: [
            (.completed(by: .caller, reasonText: nil), "200 normal_clearing"),
            (.completed(by: .caller, reasonText: "bye"), "200 normal_clearing bye"),
            (.transferred(by: .caller), "200 normal_clearing Transfer Successful"),
            (.cancelled(reasonText: nil), "487 originator_cancel Caller hung up"),
            (.cancelled(reasonText: "never mind"), "487 originator_cancel never mind"),
            (.rejected(reasonText: nil), "603 call_rejected Declined"),
            (.rejected(reasonText: "not now"), "603 call_rejected not now"),
            (.unanswered, "487 no_answer No answer"),
            (.unreachable(.noSuchUser), "404 unallocated_number User not found"),
            (.unreachable(.notRegistered), "480 subscriber_absent Not registered"),
            (.unreachable(.busy), "486 user_busy User busy"),
            (.mediaFailed(.caller, .setupTimeout), "408 media_timeout media path could not be established"),
            (.mediaFailed(.caller, .neverConnected), "408 media_timeout media path could not be established"),
            (.mediaFailed(.caller, .consentExpired), "408 media_timeout media path lost"),
            (
                .mediaFailed(.caller, .handshakeFailed),
                "488 incompatible_destination media encryption could not be agreed"
            ),
            (
                .mediaFailed(.caller, .fingerprintMismatch),
                "488 incompatible_destination media certificate does not match its fingerprint"
            ),
            (.mediaFailed(.caller, .overloaded), "503 normal_temporary_failure media worker is overloaded"),
            (.subscriptionEnded(.caller), "480 subscription_ended Not registered"),
            (.callerLeft, "487 subscription_ended Caller is gone"),
            (.clientLost(.caller), "480 client_lost Client is gone"),
            (.joinFailed, "480 join_failed The calls cannot be joined"),
            (.targetNotReached(cause: .unreachable(.busy), by: nil), "486 user_busy User busy"),
            (.targetNotReached(cause: .rejected(reasonText: nil), by: LegID(2)), "603 call_rejected Declined"),
            (.drained, "503 normal_temporary_failure Gateway is shutting down"),
            (.tooLong, "503 normal_temporary_failure Call reached its longest duration"),
            (.endedByOperator(reasonText: nil), "503 normal_temporary_failure Ended by the operator"),
            (.endedByOperator(reasonText: "maintenance"), "503 normal_temporary_failure maintenance"),
            (.interrupted, "503 normal_temporary_failure Gateway was restarted"),
        ] as [(CallEndCause, String)])
    func `the end of a call has a code, a word and a sentence`(_ cause: CallEndCause, _ expected: String) {
        #expect(Self.words(.ended(cause)) == expected)
    }

    @Test(
        arguments: [
            (.targetNotReached(cause: .rejected(reasonText: nil)), "603 transfer_failed Declined"),
            (.targetNotReached(cause: .unanswered), "487 transfer_failed No answer"),
            (.targetNotReached(cause: .subscriptionEnded(LegID(2))), "480 transfer_failed Not registered"),
            (.targetNotReached(cause: .unreachable(.busy)), "486 transfer_failed User busy"),
            (.callNotHandedOver, "480 transfer_failed The other call cannot be taken over"),
        ] as [(TransferFailure, String)])
    func `a transferor reads what a caller of the target would read`(_ failure: TransferFailure, _ expected: String) {
        #expect(Self.words(.transferFailed(failure)) == expected)
    }

    @Test func `who forwards a call leaves it without a sentence`() {
        #expect(Self.words(.forwarded) == "302 forwarded")
    }

    /// The last notification of a leg that was rung, or was not, says as much as the record, with two exceptions.
    @Test(
        arguments: [
            (.rejected(reasonText: "no"), false, "callEnd 603 no"),
            (.rejected(reasonText: "no"), true, "callCancel"),
            (.targetNotReached(cause: .rejected(reasonText: "no"), by: LegID(2)), true, "callEnd 603 no"),
            (.completed(by: .caller, reasonText: "bye"), true, "callEnd bye"),
            (.transferred(by: .callee), false, "callEnd Transfer Successful"),
            (.joinFailed, false, "sessionFail 480 The calls cannot be joined"),
            (.callerLeft, true, "callEnd 487 Caller is gone"),
        ] as [(CallEndCause, Bool, String)])
    func `devices are told the end of a call`(_ cause: CallEndCause, _ isCalled: Bool, _ expected: String) throws {
        let name = DisplayName(name: "", number: "")
        let audience = CallEvent.Audience(
            devices: [], session: SessionID("A"), local: name, remote: .user(name), isCalled: isCalled)
        let told = try #require(Notification(presenting: CallEvent(.caller, .released(cause, by: nil), to: audience)))
        #expect(
            ([told.type.rawValue] + [told.statusCode.map { "\($0)" }, told.reasonText].compactMap(\.self))
                .joined(separator: " ") == expected)
        #expect(told.cause == cause.word.rawValue)
    }
}
