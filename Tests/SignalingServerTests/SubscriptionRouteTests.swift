import CallControl
import Primitives
import Registration
import Testing

@Suite struct `Subscription routes` {
    private let path = "/rest/version/1/user/joe@example.com/subscription"
    private let body =
        #"{"subscribeRequest":{"expires":"7200","service":["call","IM"],"supported":["RingingFeedback"],"forceLogOut":"true"}}"#

    @Test func `a subscription is created, and answered with paths`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", path, body)
            #expect(answer.status == 201)
            #expect(answer["content-type"] == "application/json")
            #expect(answer["access-control-allow-origin"] == "*")
            #expect(answer["date"] == "Sun, 06 Nov 1994 08:49:37 GMT")
            #expect(try answer.member("subscribeResponse.statusCode") == "0")
            #expect(try answer.member("subscribeResponse.subscription") == path + "/5f2c")
            #expect(
                try answer.member("subscribeResponse.subscriptionParams.notificationChannel")
                    == "/rest/version/1/user/joe@example.com/websocket/ws-7d0e")
            let wanted = SubscriptionRequest(
                expires: .seconds(7200), services: ["call", "IM"], sendsRingingFeedback: true, forceLogOut: true,
                network: SourceNetwork(IPAddress(v4: 0x7F00_0001)))
            await server.switchboard.wait { $0.contains(.answered(address("joe"))) }
            #expect(
                await server.switchboard.events == [
                    .started(address("joe")), .subscribe(address("joe"), wanted), .answered(address("joe")),
                ])
        }
    }

    @Test func `it is extended and deleted by its path, which may be escaped or end in a slash`() async throws {
        try await TestServer.run { server in
            await server.switchboard.set(isPartial: true)
            let extended = try await server.request(
                "PUT", "/rest/version/1/user/joe%40example.com/subscription/5f2c/", body)
            #expect(extended.status == 200)
            #expect(try extended.member("subscribeResponse.statusCode") == "2")
            let deleted = try await server.request("DELETE", path + "/5f2c")
            #expect(deleted.status == 200)
            #expect(deleted.body == #"{"subscribeResponse":{"statusCode":0}}"#)
        }
    }

    @Test func `it is extended by the name of its device`() async throws {
        try await TestServer.run { server in
            let extended = try await server.request("PUT", path + "/clientCorrelator/device-7", body)
            #expect(extended.status == 200)
            #expect(try extended.member("subscribeResponse.subscription")?.hasSuffix("/subscription/5f2c") == true)
            let unknown = try await server.request("PUT", path + "/clientCorrelator/device-8", body)
            #expect(unknown.status == 404)
            #expect(try unknown.member("subscribeResponse.code") == "subscription.not_found")
            let deleted = try await server.request("DELETE", path + "/clientCorrelator/device-7")
            #expect(deleted.status == 405)
        }
    }

    @Test(
        arguments: [
            (.noSuchSubscription, 404, "39", "subscription.not_found"),
            (.unsupportedServices(["fax"]), 403, "35", "subscription.unsupported_services"),
            (.limitOfSubscriptions(10), 403, "19", "subscription.limit_reached"),
            (.draining, 503, "503", "service.draining"),
            (.limitOfAllSubscriptions, 503, "503", "service.unavailable"),
            (.limitOfNetwork, 429, "19", "subscription.rate_limited"),
            (.tooOftenFromNetwork(retryAfter: .milliseconds(4_001)), 429, "19", "subscription.rate_limited"),
            (.tooOften(retryAfter: .milliseconds(4_001)), 429, "19", "subscription.rate_limited"),
        ] as [(RegistrationError, Int, String, String)])
    func `a refusal has its status and stays in the wrapper`(
        _ error: RegistrationError, _ status: Int, _ code: String, _ name: String
    ) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(registrationError: error)
            for (method, path) in [("POST", path), ("PUT", path + "/x"), ("DELETE", path + "/x")] {
                let answer = try await server.request(method, path, method == "DELETE" ? nil : body)
                #expect(answer.status == status)
                #expect(answer["content-type"] == "application/json")
                #expect(try answer.member("subscribeResponse.statusCode") == code)
                #expect(try answer.member("subscribeResponse.code") == name)
                #expect(answer["retry-after"] == (status == 503 || status == 429 ? "5" : nil))
            }
        }
    }

    @Test(arguments: [
        ("", 400, "5", "request.body_missing"),
        ("{", 400, "1004", "request.malformed_json"),
        ("[]", 400, "37", "request.invalid_value"),
        ("{}", 400, "5", "request.missing_field"),
        (#"{"subscribeRequest":{}}"#, 400, "5", "request.missing_field"),
        (#"{"subscribeRequest":{"service":"call"}}"#, 400, "37", "request.invalid_value"),
        (#"{"subscribeRequest":{"service":["call"],"expires":"soon"}}"#, 400, "37", "request.invalid_value"),
        (#"{"subscribeRequest":{"service":["call"],"expires":0}}"#, 400, "15", "subscription.invalid_expiry"),
        (#"{"subscribeRequest":{"service":["call"],"forceLogOut":"maybe"}}"#, 400, "37", "request.invalid_value"),
        (
            #"{"subscribeRequest":{"service":["call"],"notificationType":"Pigeon"}}"#, 400, "12",
            "subscription.unsupported_notification_type"
        ),
    ])
    func `a bad body is told what is wrong`(_ body: String, _ status: Int, _ code: String, _ name: String) async throws
    {
        try await TestServer.run { server in
            let answer = try await server.request("POST", path, body)
            #expect(answer.status == status)
            #expect(try answer.member("subscribeResponse.statusCode") == code)
            #expect(try answer.member("subscribeResponse.code") == name)
            #expect(await server.switchboard.events.isEmpty)
        }
    }
}
