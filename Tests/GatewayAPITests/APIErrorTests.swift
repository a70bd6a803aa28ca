import CallControl
import Foundation
import GatewayAPI
import Registration
import SPiDR
import Testing

@Suite struct `Errors` {
    @Test(arguments: ErrorWrapper.allCases)
    func `the body sits in its wrapper`(_ wrapper: ErrorWrapper) throws {
        let error = APIError(.serviceDraining, "later", retryAfter: .milliseconds(1500))
        let bytes = Data(WireJSON.encode(error.body(in: wrapper)))
        let object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: Any])
        let members = try #require(wrapper == .none ? object : object[wrapper.rawValue] as? [String: Any])
        #expect(members["statusCode"] as? Int == 503)
        #expect(members["code"] as? String == "service.draining")
        #expect(members["reason"] as? String == "later")
        // To the millisecond; the header has no more than seconds, rounded up.
        #expect(members["retryAfter"] as? Int == 1500)
        #expect(error.retryAfterSeconds == 2)
        #expect(try JSONDecoder().decode(ErrorBody.self, from: bytes) == error.body(in: wrapper))
    }

    @Test(
        arguments: [
            (.notAllowed(.ring, .state(.inCall)), "IN_CALL"),
            (.alreadyAnswered(state: .onHold), "ON_HOLD"),
            // Something else is in the way.
            (.notAllowed(.join, .onlyOneCall), nil), (.noSuchCall, nil),
            (.pending(retryAfter: 2), nil),
        ] as [(CallError, String?)])
    func `a state that is the reason is a member`(_ error: CallError, _ state: String?) throws {
        let body = APIError(error).body(in: .callControl)
        let bytes = Data(WireJSON.encode(body))
        let object = try #require(try JSONSerialization.jsonObject(with: bytes) as? [String: [String: Any]])
        #expect(object["callControlResponse"]?["state"] as? String == state)
        #expect(try JSONDecoder().decode(ErrorBody.self, from: bytes) == body)
    }

    @Test(
        arguments: [
            (.missing(fields: ["a.b"], reason: "c needs it"), .requestMissingField, 5),
            (.unusable(field: "a.b", reason: "is wrong"), .requestInvalidValue, 37),
            (.tooManyCandidates(limit: 1), .requestInvalidValue, 37),
            (.candidatesTooLong(limit: 1), .requestInvalidValue, 37),
            (.operationNotOffered("a"), .callOperationNotSupported, 35),
            (.operationOfAnotherResource("a", place: "b"), .callOperationUnknown, 37),
            (.unknownOperation, .callOperationUnknown, 37),
            (.unsupportedNotificationType("a"), .subscriptionUnsupportedNotificationType, 12),
            (.invalidExpiry(limit: 1), .subscriptionInvalidExpiry, 15),
            (.refused(.notForGuests(.bringingOthers)), .anonymousNotAllowed, 27),
        ] as [(RequestFault, ErrorCode, Int)])
    func `a fault of a body has a code, and its own sentence`(
        _ fault: RequestFault, _ code: ErrorCode, _ statusCode: Int
    ) {
        let error = APIError(fault)
        #expect(error == APIError(code, fault.sentence))
        #expect(error.code.statusCode == statusCode)
    }

    @Test func `codes are dotted, lower-case and unlike each other`() {
        for code in ErrorCode.allCases {
            #expect(code.rawValue.wholeMatch(of: /[a-z]+\.[a-z_]+/) != nil)
            // Clients repeat a request only if they know when.
            #expect(code.httpStatus != 500)
        }
        #expect(Set(ErrorCode.allCases.map(\.rawValue)).count == ErrorCode.allCases.count)
    }

    @Test(arguments: [
        (APIError(CallError.limitOfCalls), 503), (APIError(CallError.draining), 503),
        (APIError(RegistrationError.draining), 503),
        (APIError(RegistrationError.limitOfSubscriptions(3)), 403),
    ])
    func `an answer of 503 always says when to come back`(_ error: APIError, _ status: Int) {
        #expect(error.code.httpStatus == status)
        #expect((error.retryAfter != nil) == (status == 503))
    }
}
