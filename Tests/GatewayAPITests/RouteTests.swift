import GatewayAPI
import Testing

@Suite struct `Routes` {
    @Test(
        arguments: [
            ("/rest/version/1/user/joe@example.com/subscription", .subscriptions, "joe@example.com", ""),
            ("/rest/version/1/user/joe%40example.com/subscription/5f2c/", .subscription, "joe@example.com", "5f2c"),
            ("//rest/version/1/user/joe/websocket/ws-1", .channel, "joe", "ws-1"),
            ("/rest/version/1/user/joe/callControl/", .calls, "joe", ""),
            ("/rest/version/1/user/joe/callControl/callSessions/A%2F1", .call, "joe", "A/1"),
            ("/rest/version/1/user/joe/calldisposition", .dispositions, "joe", ""),
            ("/rest/version/1/anonymous/tok/subscription", .guestSubscriptions, "tok", ""),
            (
                "/rest/version/1/anonymous/joe%40example.com/subscription/S1", .guestSubscription, "joe@example.com",
                "S1"
            ),
            ("/rest/version/1/anonymous/tok/websocket/W1", .guestChannel, "tok", "W1"),
            ("/rest/version/1/user/joe/notification/W1", .poll, "joe", "W1"),
            ("/rest/version/1/anonymous/tok/notification/W1", .guestPoll, "tok", "W1"),
            ("/rest/version/1/anonymous/tok/callMe/", .guestCalls, "tok", ""),
            ("/rest/version/1/anonymous/tok/callMe/callSessions/A1", .guestCall, "tok", "A1"),
            ("/rest/version/1/anonymous/tok/callme/callSessions/A1", .guestCall, "tok", "A1"),
            ("/rest/version/1/anonymous/callMe/CALLME", .guestCalls, "callMe", ""),
            ("/rest/version/latest/isAlive", .isAlive, "", ""),
            ("/health", .health, "", ""),
            ("/", .page, "", ""),
            ("", .page, "", ""),
            ("/app/module.js", .page, "", ""),
        ] as [(String, Endpoint, String, String)])
    func `a path names an endpoint`(_ path: String, _ endpoint: Endpoint, _ user: String, _ id: String) throws {
        let route = try Route(parsing: path)
        #expect(route.endpoint == endpoint)
        #expect(route.user == user)
        #expect(route.id == id)
    }

    @Test(
        arguments: [
            ("/rest", .resourceNotFound, .none),
            ("/rest/version/1/user/joe", .resourceNotFound, .none),
            ("/rest/version/1/user/joe/CallControl", .resourceNotFound, .none),
            ("/rest/version/1/anonymous/joe/callControl", .resourceNotFound, .none),
            ("/rest/version/1/anonymous/joe/calldisposition", .resourceNotFound, .none),
            ("/rest/version/2/user/joe/callControl", .requestUnsupportedVersion, .callControl),
            ("/rest/version/latest/user/joe/subscription", .requestMalformedVersion, .subscribe),
            ("/rest/version/1/user/%ff/calldisposition", .requestMalformed, .callDisposition),
        ] as [(String, ErrorCode, ErrorWrapper)])
    func `a path that names none is refused`(_ path: String, _ code: ErrorCode, _ wrapper: ErrorWrapper) {
        do {
            _ = try Route(parsing: path)
            Issue.record("\(path) names nothing")
        } catch {
            #expect(error.error.code == code)
            #expect(error.wrapper == wrapper)
        }
    }
}
