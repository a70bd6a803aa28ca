import Foundation
import Primitives
import Push
import Sockets

/// Calls that are pushed to the local provider's device. Each has a session and a text of its own.
struct PushSample {
    /// The header field that has the name of a push, and the one that has that of its call.
    static let names: Set = ["apns-id", "apns-collapse-id"]

    let registration: PushRegistration
    private let tokens = PushRegistration.AppleTokens(
        voip: Redacted(LocalProvider.token), standard: nil, isProduction: true)

    init() throws {
        registration = try PushRegistration(
            id: "d1", user: "joe@example.com", bundleID: "com.example.app", realm: "default", services: ["call"],
            clientCorrelator: nil, target: .apple(tokens))
    }

    func message(_ number: Int) -> PushMessage {
        let session = "B1-9fb2c1d07a3e-\(String(format: "%010d", number))"
        let form = #"""
            {"eventType":"call","eventId":"\#(number)","time":"1700000000000","statusCode":0,\#
            "userId":"joe@example.com","notificationChannelId":"channel","active":"true",\#
            "sessionParams":{"sessionData":"\#(session)","actions":["answer","reject","forward"],\#
            "sdpFormat":"url","sdp":"/rest/version/1/user/joe@example.com/eventData/\#(session)"},\#
            "callNotificationParams":{"callerName":"Ann Jones","callerDisplayNumber":"ann@example.com",\#
            "calleeDisplayNumber":"joe@example.com","remoteName":"Ann Jones",\#
            "remoteDisplayNumber":"ann@example.com"}}
            """#
        let now = WallTime.unixNanoseconds / 1_000_000
        return PushMessage(
            id: PushID(naming: session),
            .call(
                PushedCall(session: session, callerName: "Ann Jones", callerNumber: "ann@example.com", hasVideo: false)),
            forms: [form], time: now, expires: now + 120_000)
    }

    /// What the push client sends for one of the messages.
    func request() throws -> ProviderRequest {
        try ApplePush.request(for: message(0), to: tokens, bundleID: registration.bundleID)
    }
}
