import CallControl
import GatewayAPI
import Registration
import Testing

/// Messages and the number of voice messages, with the bodies of spidr-wire §9.
@Suite struct `Routes of messages and voice mail` {
    private static let user = "/rest/version/1/user/joe@example.com"
    private static let body =
        #"{"imRequest":{"toUrl":"ann@example.com","message":"hi","type":"A2","charset":"UTF-8"}}"#

    @Test func `a message is taken, and named`() async throws {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.user + "/instantmessage", Self.body)
            #expect(answer.status == 201)
            #expect(answer.body == #"{"imResponse":{"statusCode":0,"messageId":"m1"}}"#)
            let request = MessageRequest(receiver: address("ann"), text: "hi", type: "A2", charset: "UTF-8")
            // The client may have the response before the user's devices are told that it went out.
            await server.switchboard.wait { $0.contains(.answered(address("joe"))) }
            #expect(
                await server.switchboard.events == [
                    .started(address("joe")), .send(address("joe"), request), .answered(address("joe")),
                ])
        }
    }

    @Test(arguments: [
        (#"{"imRequest":{"toUrl":"ann@example.com"}}"#, 400, "request.missing_field"),
        (#"{"imRequest":{"toUrl":"ann@example.com","message":""}}"#, 400, "request.missing_field"),
        (#"{"imRequest":{"toUrl":"a b","message":"hi"}}"#, 400, "request.invalid_value"),
        (#"{"imRequest":{"toUrl":"ann@example.com","message":7}}"#, 400, "request.invalid_value"),
        (#"{"imRequest":{"toUrl":"ann@example.com","message":"ääääääääää!"}}"#, 413, "message.too_long"),
        (#"{"anyRequest":{}}"#, 400, "request.missing_field"), ("{", 400, "request.malformed_json"),
    ])
    func `a body that makes no sense is refused, and nothing is sent`(_ body: String, _ status: Int, _ code: String)
        async throws
    {
        try await TestServer.run { server in
            let answer = try await server.request("POST", Self.user + "/instantmessage", body)
            #expect(answer.status == status)
            #expect(try answer.member("imResponse.code") == code)
            #expect(await server.switchboard.events.isEmpty)
        }
    }

    @Test(
        arguments: [
            (.unknownReceiver, 404, "10", "message.unknown_receiver"), (.inboxFull, 409, "51", "message.inbox_full"),
            (.tooManyMessages(retryAfter: .seconds(2)), 429, "19", "message.rate_limited"),
            (.storageUnavailable, 503, "503", "service.unavailable"),
        ] as [(ServiceRefusal, Int, String, String)])
    func `why a message is not taken is said in its wrapper`(
        _ refusal: ServiceRefusal, _ status: Int, _ statusCode: String, _ code: String
    ) async throws {
        try await TestServer.run { server in
            await server.switchboard.set(serviceRefusal: refusal)
            let answer = try await server.request("POST", Self.user + "/instantmessage", Self.body)
            #expect(answer.status == status)
            #expect(try answer.member("imResponse.statusCode") == statusCode)
            #expect(try answer.member("imResponse.code") == code)
        }
    }

    @Test(arguments: [
        ("/instantmessage", "imResponse"), ("/presence", "presenceResponse"),
        ("/presenceWatcher", "presenceWatcherResponse"), ("/eventSubscription", "eventSubscriptionResponse"),
    ])
    func `another user's resource is refused, as elsewhere`(_ path: String, _ wrapper: String) async throws {
        try await TestServer.run { server in
            let other = "/rest/version/1/user/ann@example.com" + path
            let answer = try await server.request("POST", other, Self.body)
            #expect(answer.status == 403)
            #expect(try answer.member("\(wrapper).code") == "auth.wrong_user")
            let stranger = try await server.request("POST", other, Self.body, as: nil)
            #expect(stranger.status == 401)
            #expect(try stranger.member("\(wrapper).code") == "auth.missing")
        }
    }

    @Test func `voice mail is counted, and none is 52`() async throws {
        try await TestServer.run { server in
            let empty = try await server.request("GET", Self.user + "/voicemail")
            #expect(empty.status == 200)
            #expect(
                empty.body == #"{"mwiresponse":{"statusCode":52,"mwi":"no","totalVoice":"0","unheardVoice":"0"}}"#)
            await server.switchboard.set(voicemail: VoicemailCount(unheard: 1, heard: 1))
            let full = try await server.request("GET", Self.user + "/voicemail")
            #expect(full.body == #"{"mwiresponse":{"statusCode":0,"mwi":"yes","totalVoice":"2","unheardVoice":"1"}}"#)
        }
    }
}
