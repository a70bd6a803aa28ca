import GatewayAPI
import SignalingServer
import Testing

@Suite struct `Routes` {
    @Test(arguments: [
        ("/rest/version/1/user/joe@example.com/subscription", .subscriptions, "joe@example.com", ""),
        ("/rest/version/1/user/joe%40example.com/subscription/5f2c/", .subscription, "joe@example.com", "5f2c"),
        ("//rest/version/1/user/joe/websocket/ws-1", .channel, "joe", "ws-1"),
        ("/rest/version/1/user/joe/callControl/", .calls, "joe", ""),
        ("/rest/version/1/user/joe/callControl/callSessions/A%2F1", .call, "joe", "A/1"),
        ("/rest/version/1/user/joe/calldisposition", .dispositions, "joe", ""),
        ("/rest/version/1/anonymous/tok/subscription", .guestSubscriptions, "tok", ""),
        ("/rest/version/1/anonymous/joe%40example.com/subscription/S1", .guestSubscription, "joe@example.com", "S1"),
        ("/rest/version/1/anonymous/tok/websocket/W1", .guestChannel, "tok", "W1"),
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

    @Test(arguments: [
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

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
        (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_399, "Sun, 28 Feb 2100 23:59:59 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
    ] as [(Int64, String)])
    func `a date is written as HTTP wants it`(_ second: Int64, _ text: String) {
        #expect(DateHeader.text(second) == text)
    }
}
