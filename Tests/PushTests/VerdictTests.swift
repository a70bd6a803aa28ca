import Cryptography
import Foundation
import Push
import Testing

@Suite struct `What answers mean` {
    /// The reasons that "Handling notification responses from APNs" lists.
    @Test(
        arguments: [
            (400, "BadCollapseId", .refused), (400, "BadDeviceToken", .dead), (400, "BadExpirationDate", .refused),
            (400, "BadMessageId", .refused), (400, "BadPriority", .refused), (400, "BadTopic", .refused),
            (400, "DuplicateHeaders", .refused), (400, "IdleTimeout", .retry),
            (400, "InvalidPushType", .refused), (400, "MissingDeviceToken", .refused), (400, "MissingTopic", .refused),
            (400, "PayloadEmpty", .refused), (400, "TopicDisallowed", .refused), (403, "BadCertificate", .refused),
            (403, "BadCertificateEnvironment", .refused), (403, "ExpiredProviderToken", .credential),
            (403, "Forbidden", .refused), (403, "InvalidProviderToken", .credential),
            (403, "MissingProviderToken", .refused),
            (403, "UnrelatedKeyIdInToken", .refused), (403, "BadEnvironmentKeyIdInToken", .refused),
            (404, "BadPath", .refused), (405, "MethodNotAllowed", .refused), (410, "ExpiredToken", .dead),
            (410, "Unregistered", .dead), (413, "PayloadTooLarge", .refused),
            (429, "TooManyProviderTokenUpdates", .retry),
            (429, "TooManyRequests", .retry), (500, "InternalServerError", .retry), (503, "ServiceUnavailable", .retry),
            (503, "Shutdown", .retry), (502, nil, .retry), (429, "Novel", .retry), (410, nil, .dead),
            (401, nil, .refused),
        ] as [(Int, String?, Kind)])
    func `of Apple's push service`(_ status: Int, _ reason: String?, _ kind: Kind) {
        let verdict = ApplePush.verdict(status: status, reason: reason, since: 7, after: .seconds(3))
        let word = reason ?? "status \(status)"
        switch kind {
        case .refused: #expect(verdict == .refused(status: status, reason: word))
        case .dead: #expect(verdict == .registrationDead(reason: word, since: 7))
        case .credential: #expect(verdict == .credentialExpired(reason: word))
        case .retry: #expect(verdict == .retry(reason: word, after: .seconds(3)))
        }
    }

    enum Kind { case refused, dead, credential, retry }

    @Test func `a token of another app ends no registration, and says what to check`() {
        #expect(
            ApplePush.verdict(status: 400, reason: "DeviceTokenNotForTopic", since: 7)
                == .refused(status: 400, reason: "DeviceTokenNotForTopic (\(ApplePush.topicAdvice))"))
    }

    @Test func `what a provider calls a push can be printed`() {
        let long = "projects/" + String(repeating: "x", count: 300)
        for (name, shown) in [("a\n\u{1B}[2Jb", "a??[2Jb"), (long, String(long.prefix(256))), ("", nil), (nil, nil)] {
            #expect(ApplePush.verdict(status: 200, reason: nil, name: name) == .delivered(name: shown))
            #expect(GooglePush.verdict(status: 200, name: name) == .delivered(name: shown))
        }
    }

    /// "FCM error codes", with the details that the service sends along.
    @Test(
        arguments: [
            (
                404, .init(status: "NOT_FOUND", code: "UNREGISTERED"),
                .registrationDead(reason: "UNREGISTERED", since: nil)
            ),
            (
                403, .init(status: "PERMISSION_DENIED", code: "SENDER_ID_MISMATCH"),
                .refused(status: 403, reason: "SENDER_ID_MISMATCH (\(GooglePush.senderAdvice))")
            ),
            (
                400,
                .init(
                    status: "INVALID_ARGUMENT", message: "The registration token is not a valid FCM registration token",
                    code: "INVALID_ARGUMENT"), .registrationDead(reason: "INVALID_ARGUMENT", since: nil)
            ),
            (
                400, .init(status: "INVALID_ARGUMENT", code: "INVALID_ARGUMENT", fields: ["message.token"]),
                .registrationDead(reason: "INVALID_ARGUMENT", since: nil)
            ),
            (
                400, .init(status: "INVALID_ARGUMENT", fields: ["message.data[0].value"]),
                .refused(status: 400, reason: "INVALID_ARGUMENT")
            ),
            (
                400, .init(status: "INVALID_ARGUMENT", message: "Android message is too big", code: "INVALID_ARGUMENT"),
                .refused(status: 400, reason: "INVALID_ARGUMENT")
            ),
            (429, .init(code: "QUOTA_EXCEEDED"), .retry(reason: "QUOTA_EXCEEDED", after: .seconds(60))),
            (503, .init(status: "UNAVAILABLE", code: "UNAVAILABLE"), .retry(reason: "UNAVAILABLE", after: nil)),
            (500, .init(status: "INTERNAL", code: "INTERNAL"), .retry(reason: "INTERNAL", after: nil)),
            (502, .init(), .retry(reason: "status 502", after: nil)),
            (401, .init(code: "THIRD_PARTY_AUTH_ERROR"), .refused(status: 401, reason: "THIRD_PARTY_AUTH_ERROR")),
            (401, .init(status: "UNAUTHENTICATED"), .credentialExpired(reason: "UNAUTHENTICATED")),
            (403, .init(status: "PERMISSION_DENIED"), .refused(status: 403, reason: "PERMISSION_DENIED")),
            (404, .init(status: "NOT_FOUND"), .refused(status: 404, reason: "NOT_FOUND")),
        ] as [(Int, GooglePush.Problem, PushVerdict)])
    func `of Firebase`(_ status: Int, _ problem: GooglePush.Problem, _ verdict: PushVerdict) {
        #expect(GooglePush.verdict(status: status, problem: problem) == verdict)
    }

    @Test func `Firebase's time to wait counts`() {
        #expect(
            GooglePush.verdict(status: 429, problem: .init(code: "QUOTA_EXCEEDED"), after: .seconds(5))
                == .retry(reason: "QUOTA_EXCEEDED", after: .seconds(5)))
    }

    @Test(
        arguments: [
            (200, .delivered(name: nil)), (204, .delivered(name: nil)),
            (301, .refused(status: 301, reason: "status 301")),
            (307, .refused(status: 307, reason: "status 307")), (400, .refused(status: 400, reason: "status 400")),
            (401, .refused(status: 401, reason: "status 401")), (404, .refused(status: 404, reason: "status 404")),
            (408, .retry(reason: "status 408", after: .seconds(9))),
            (410, .registrationDead(reason: "status 410", since: nil)),
            (429, .retry(reason: "status 429", after: .seconds(9))),
            (500, .retry(reason: "status 500", after: .seconds(9))),
            (503, .retry(reason: "status 503", after: .seconds(9))),
        ] as [(Int, PushVerdict)])
    func `of a webhook`(_ status: Int, _ verdict: PushVerdict) {
        #expect(WebhookPush.verdict(status: status, after: .seconds(9)) == verdict)
    }

    @Test func `a provider's word is short and printable wherever it is shown`() {
        let verdict = ApplePush.verdict(status: 400, reason: "a\nb" + String(repeating: "x", count: 100))
        guard case .refused(_, let reason) = verdict else {
            Issue.record("refused")
            return
        }
        #expect(reason.utf8.count == 64 && reason.hasPrefix("a?b"))
    }
}

@Suite struct `The signature of Standard Webhooks` {
    /// The vector of the reference libraries, and the example of the specification, computed with an independent HMAC.
    @Test(
        arguments: [
            (
                "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, #"{"test": 2432232314}"#,
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
            )
        ] as [(String, UInt64, String, String)])
    func `is that of the reference`(_ name: String, _ seconds: UInt64, _ content: String, _ signature: String) throws {
        let key = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
        let signed = WebhookPush.signedBytes(name: name, seconds: seconds, content: Array(content.utf8))
        let code = HMAC.sha256(key: Array(key), signed.span)
        #expect(WebhookPush.signature(codes: [Data(code).base64EncodedString()]) == signature)
    }

    @Test func `has a part for each key`() { #expect(WebhookPush.signature(codes: ["a", "b"]) == "v1,a v1,b") }
}
