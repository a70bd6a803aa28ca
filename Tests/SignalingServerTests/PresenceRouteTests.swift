import CallControl
import GatewayAPI
import Registration
import Testing

/// Presence and subscriptions to events, with the bodies of spidr-wire §9 and §10.
@Suite struct `Routes of presence and events` {
    private static let user = "/rest/version/1/user/joe@example.com"
    private static let events = user + "/eventSubscription"

    @Test func `the presence is changed`() async throws {
        try await TestServer.run { server in
            let body = #"{"presenceRequest":{"status":"open","activity":"on-the-phone","note":"later"}}"#
            let answer = try await server.request("POST", Self.user + "/presence", body)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"presenceResponse":{"statusCode":0}}"#)
            #expect(
                await server.switchboard.events.contains(
                    .presence(address("joe"), Presence(.open, .onThePhone, note: "later"))))
        }
    }

    @Test(arguments: [
        (#"{"presenceRequest":{"activity":"busy"}}"#, "request.missing_field"),
        (#"{"presenceRequest":{"status":"here"}}"#, "request.invalid_value"),
        (#"{"presenceRequest":{"status":"open","activity":"asleep"}}"#, "request.invalid_value"),
        (#"{"presenceRequest":{"status":"open","note":["x"]}}"#, "request.invalid_value"),
        (
            #"{"presenceRequest":{"status":"open","note":""# + String(repeating: "x", count: 257) + #""}}"#,
            "request.invalid_value"
        ),
    ])
    func `a presence that is none is refused`(_ body: String, _ code: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.user + "/presence", body)
            #expect(answer.status == 400)
            #expect(try answer.member("presenceResponse.code") == code)
            #expect(await server.switchboard.events.isEmpty)
        }
    }

    @Test func `users are watched, left, and asked for once`() async throws {
        try await TestServer.run { server in
            func ask(_ action: String, _ users: String = #""ann@example.com""#) async throws -> HTTPText {
                try await server.request(
                    "POST", Self.user + "/presenceWatcher",
                    #"{"presenceWatcherRequest":{"userList":["# + users + #"],"action":""# + action + #""}}"#)
            }
            #expect(
                try await ask("watch").body == #"{"presenceWatcherResponse":{"statusCode":0,"expiryValue":3600}}"#)
            #expect(
                try await ask("watch", #""ann@example.com","sip:bob@example.com""#).body
                    == #"{"presenceWatcherResponse":{"statusCode":2,"expiryValue":3600}}"#)
            #expect(try await ask("stopwatch").body == #"{"presenceWatcherResponse":{"statusCode":0}}"#)
            #expect(try await ask("get").body == #"{"presenceWatcherResponse":{"statusCode":0}}"#)
            let (joe, ann) = (address("joe"), address("ann"))
            let asked = await server.switchboard.events.filter { $0 != .started(joe) && $0 != .answered(joe) }
            #expect(
                asked == [
                    .watch(joe, [ann]), .watch(joe, [ann, address("bob")]), .stopWatching(joe, [ann]),
                    .getPresence(joe, [ann]),
                ])
            for body in [try await ask("stare"), try await ask("watch", ""), try await ask("watch", #""a b""#)] {
                #expect(body.status == 400)
                #expect(try body.member("presenceWatcherResponse.statusCode") != "0")
            }
        }
    }

    @Test(
        arguments: [
            (.otherDomain(UserAddress(parsing: "eve@example.org")!), 403, "37", "watch.not_allowed"),
            (.limitOfWatched(200), 429, "19", "watch.limit_reached"),
        ] as [(ServiceRefusal, Int, String, String)])
    func `why nobody is watched is said in its wrapper`(
        _ refusal: ServiceRefusal, _ status: Int, _ statusCode: String, _ code: String
    ) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(serviceRefusal: refusal)
            let body = #"{"presenceWatcherRequest":{"userList":["eve@example.org"],"action":"watch"}}"#
            let answer = try await server.request("POST", Self.user + "/presenceWatcher", body)
            #expect(answer.status == status)
            #expect(try answer.member("presenceWatcherResponse.statusCode") == statusCode)
            #expect(try answer.member("presenceWatcherResponse.code") == code)
        }
    }

    @Test func `events are subscribed to, extended, and left`() async throws {
        try await TestServer.run { server in
            let body =
                #"{"eventSubscriptionRequest":{"subscribeUserList":["ann@example.com"],"clientCorrelator":"c1","#
                + #""eventType":"event:presence","expires":"3600"}}"#
            let started = try await server.request("POST", Self.events, body)
            #expect(started.status == 201)
            #expect(
                started.body
                    == #"{"eventSubscriptionResponse":{"statusCode":0,"expires":3600,"sessionData":"e1"}}"#)
            let extended = try await server.request(
                "PUT", Self.events + "/e1", #"{"eventSubscriptionRequest":{"expires":600}}"#)
            #expect(
                extended.body
                    == #"{"eventSubscriptionResponse":{"statusCode":0,"expires":600,"sessionData":"e1"}}"#)
            let left = try await server.request("DELETE", Self.events + "/e1")
            #expect(left.body == #"{"eventSubscriptionResponse":{"statusCode":0}}"#)
            let joe = address("joe")
            let asked = await server.switchboard.events.filter { $0 != .started(joe) && $0 != .answered(joe) }
            #expect(
                asked == [
                    .subscribeToEvents(joe, .presence, [address("ann")], .seconds(3_600)),
                    .extendEvents(joe, "e1", [], .seconds(600)), .unsubscribeFromEvents(joe, "e1"),
                ])
        }
    }

    @Test(arguments: [
        (#"{"eventSubscriptionRequest":{"eventType":"event:dialog"}}"#, 489, "event.unknown_package"),
        (#"{"eventSubscriptionRequest":{"expires":60}}"#, 400, "request.missing_field"),
        (#"{"eventSubscriptionRequest":{"eventType":"event:presence","expires":0}}"#, 400, "request.invalid_value"),
        (
            #"{"eventSubscriptionRequest":{"eventType":"event:presence","subscribeUserList":"ann"}}"#, 400,
            "request.invalid_value"
        ),
    ])
    func `events that there are not are refused`(_ body: String, _ status: Int, _ code: String) async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.events, body)
            #expect(answer.status == status)
            #expect(try answer.member("eventSubscriptionResponse.code") == code)
        }
    }

    @Test func `a subscription that does not exist is not found`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(serviceRefusal: .noSuchEventSubscription)
            let answer = try await server.request("DELETE", Self.events + "/e9")
            #expect(answer.status == 404)
            #expect(try answer.member("eventSubscriptionResponse.code") == "event.not_found")
            #expect(try answer.member("eventSubscriptionResponse.statusCode") == "42")
        }
    }
}
