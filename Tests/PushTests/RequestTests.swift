import Foundation
import Primitives
import Push
import Testing

enum Samples {
    static let call = PushedCall(
        session: "B1-session", callerName: "Ann \"A\" Jones", callerNumber: "+4930123456", hasVideo: false)

    static func message(
        _ kind: PushMessage.Kind = .call(call), forms: [String] = [#"{"eventType":"call"}"#],
        expires: UInt64 = 1_700_000_030_500, collapseKey: String? = nil
    ) -> PushMessage {
        PushMessage(
            id: PushID(naming: "push"), kind, forms: forms, time: 1_700_000_000_500, expires: expires,
            collapseKey: collapseKey)
    }

    static let apple = PushRegistration.AppleTokens(
        voip: Redacted("ab12"), standard: Redacted("cd34"), isProduction: false)

    static func registration(_ target: PushRegistration.Target = .apple(apple)) throws -> PushRegistration {
        try PushRegistration(
            id: "d1", user: "joe@example.com", bundleID: "com.example.app", realm: "default", services: ["call"],
            clientCorrelator: "device-7", target: target)
    }

    static func json(_ bytes: [UInt8]) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
    }
}

@Suite struct `What Apple's push service is asked` {
    private func request(_ message: PushMessage, tokens: PushRegistration.AppleTokens = Samples.apple) throws
        -> ProviderRequest
    {
        try ApplePush.request(for: message, to: tokens, bundleID: "com.example.app")
    }

    private func fields(_ request: ProviderRequest) -> [String: String] {
        Dictionary(request.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
    }

    @Test func `a call is a VoIP push that can be shown at once, and is dropped with the end of the ring time`() throws
    {
        let request = try request(Samples.message())
        #expect(request.path == "/3/device/ab12")
        #expect(
            fields(request) == [
                "apns-topic": "com.example.app.voip", "apns-push-type": "voip", "apns-priority": "10",
                "apns-expiration": "1700000031", "apns-id": PushID(naming: "push").text,
                "apns-collapse-id": "B1-session", "content-type": "application/json",
            ])
        let payload = try Samples.json(request.content)
        let call = try #require(payload["call"] as? [String: Any])
        #expect(call["callerName"] as? String == "Ann \"A\" Jones")
        #expect(call["handle"] as? [String: String] == ["type": "phoneNumber", "value": "+4930123456"])
        #expect(call["uuid"] as? String == Samples.call.uuid.text)
        #expect(call["state"] as? String == "ringing")
        #expect(payload["notificationMessage"] as? [String: String] == ["eventType": "call"])
        #expect((payload["aps"] as? [String: Int]) == ["content-available": 1])
    }

    @Test(arguments: PushMessage.Ending.allCases)
    func `the end of a call is a VoIP push about the same call, and says how it ended`(_ ending: PushMessage.Ending)
        throws
    {
        let request = try request(Samples.message(.callOver(Samples.call, ending)))
        #expect(fields(request)["apns-push-type"] == "voip")
        #expect(fields(request)["apns-collapse-id"] == "B1-session")
        let call = try #require(Samples.json(request.content)["call"] as? [String: Any])
        #expect(call["uuid"] as? String == Samples.call.uuid.text)
        #expect(call["state"] as? String == "ended")
        #expect(call["endedReason"] as? String == ending.rawValue)
        #expect(call["callerName"] as? String == Samples.call.callerName)
    }

    @Test func `everything else goes to the standard token and topic`() throws {
        let alert = try request(Samples.message(.notification(.init(title: "Ann", body: "Hi\n\u{1}"))))
        #expect(alert.path == "/3/device/cd34")
        #expect(fields(alert)["apns-topic"] == "com.example.app")
        #expect(fields(alert)["apns-push-type"] == "alert")
        #expect(fields(alert)["apns-priority"] == "10")
        #expect(fields(alert)["apns-collapse-id"] == nil)
        let aps = try #require(Samples.json(alert.content)["aps"] as? [String: Any])
        #expect(aps["alert"] as? [String: String] == ["title": "Ann", "body": "Hi\n\u{1}"])

        let refresh = try request(Samples.message(.refresh, forms: [], collapseKey: "r"))
        #expect(fields(refresh)["apns-push-type"] == "background")
        #expect(fields(refresh)["apns-priority"] == "5")
        #expect(fields(refresh)["apns-collapse-id"] == "r")
        #expect(try Samples.json(refresh.content).keys.sorted() == ["aps"])
    }

    @Test(arguments: [PushMessage.Kind.silent, .refresh])
    func `what is for the app alone is a background push`(_ kind: PushMessage.Kind) throws {
        let request = try request(Samples.message(kind, collapseKey: "k"))
        #expect(request.path == "/3/device/cd34")
        #expect(fields(request)["apns-topic"] == "com.example.app")
        #expect(fields(request)["apns-push-type"] == "background")
        #expect(fields(request)["apns-priority"] == "5")
        #expect(fields(request)["apns-collapse-id"] == "k")
        let payload = try Samples.json(request.content)
        #expect(payload["aps"] as? [String: Int] == ["content-available": 1])
        #expect(payload.keys.sorted() == ["aps", "notificationMessage"])
    }

    @Test func `the fullest form that fits is sent`() throws {
        let form = { (size: Int) in #"{"sdp":"\#(String(repeating: "x", count: size - 10))"}"# }
        let empty = try request(Samples.message(forms: [])).content.count
        let room = ApplePush.voipLimit - empty - #","notificationMessage":"#.utf8.count
        for (forms, chosen) in [
            ([form(room), form(20)], 0), ([form(room + 1), form(20)], 1), ([form(9_000), form(6_000), form(50)], 2),
        ] {
            let request = try request(Samples.message(forms: forms))
            #expect(request.form == chosen)
            #expect(request.content.count <= ApplePush.voipLimit)
        }
        #expect(throws: PushFailure.tooLarge(bytes: ApplePush.voipLimit + 1, limit: ApplePush.voipLimit)) {
            try request(Samples.message(forms: [form(room + 1)]))
        }
        #expect(throws: PushFailure.tooLarge(bytes: 5_000, limit: ApplePush.standardLimit)) {
            try request(Samples.message(.refresh, forms: [form(5_000)]))
        }
    }

    @Test func `a device without the token for it is not asked`() throws {
        var tokens = Samples.apple
        tokens.voip = nil
        #expect(throws: PushFailure.noToken(.voip)) {
            try request(Samples.message(), tokens: tokens)
        }
        tokens = Samples.apple
        tokens.standard = nil
        #expect(throws: PushFailure.noToken(.standard)) {
            try request(Samples.message(.refresh), tokens: tokens)
        }
        #expect("\(PushFailure.noToken(.voip))" == "the device has registered no token for VoIP pushes")
        #expect(
            "\(PushFailure.noToken(.standard))" == "the device has registered no token for pushes other than VoIP")
    }

    @Test func `a session that is no collapse identifier is named by its digest`() throws {
        for session in [String(repeating: "s", count: 65), "ä", "a b"] {
            let call = PushedCall(session: session, callerName: "", callerNumber: "x", hasVideo: true)
            #expect(
                fields(try request(Samples.message(.call(call))))["apns-collapse-id"] == PushID(naming: session).text)
        }
    }

    @Test(arguments: [
        ("+4930123456", "phoneNumber"), ("112", "phoneNumber"), ("11", "generic"), ("joe@example.com", "emailAddress"),
        ("anonymous", "generic"), ("+", "generic"), ("12345678901234567", "generic"),
    ])
    func `a caller's number says what it is`(_ number: String, _ type: String) {
        #expect(PushedCall(session: "s", callerName: "", callerNumber: number, hasVideo: false).handleType == type)
    }
}

@Suite struct `What Firebase is asked` {
    @Test func `a call is a data message of high priority that is kept for the ring time`() throws {
        let request = try GooglePush.request(
            for: Samples.message(), to: Redacted("ef:56"), project: "my-project", now: 1_700_000_010_000)
        #expect(request.path == "/v1/projects/my-project/messages:send")
        let message = try #require(Samples.json(request.content)["message"] as? [String: Any])
        #expect(message.keys.sorted() == ["android", "data", "token"])
        #expect(message["token"] as? String == "ef:56")
        #expect(
            message["android"] as? [String: String] == ["priority": "HIGH", "ttl": "20s", "collapse_key": "B1-session"])
        // Every value of the data is a text.
        let data = try #require(message["data"] as? [String: String])
        #expect(data["notificationMessage"] == #"{"eventType":"call"}"#)
        let call = try Samples.json(Array(try #require(data["call"]).utf8))
        #expect(call["callerName"] as? String == "Ann \"A\" Jones")
    }

    @Test func `what is over has no time to live, and nothing is kept longer than four weeks`() throws {
        for (now, expires, ttl) in [
            (2_000, 1_000, "0s"), (1_000, 1_999, "0s"), (0, 4_000_000_000_000, "2419200s"),
        ] as [(UInt64, UInt64, String)] {
            let request = try GooglePush.request(
                for: Samples.message(.refresh, forms: [], expires: expires), to: Redacted("t"), project: "p", now: now)
            let message = try #require(Samples.json(request.content)["message"] as? [String: Any])
            #expect(message["android"] as? [String: String] == ["priority": "NORMAL", "ttl": ttl])
        }
    }

    @Test(arguments: [PushMessage.Kind.silent, .refresh])
    func `what is for the app alone can wait`(_ kind: PushMessage.Kind) throws {
        let request = try GooglePush.request(
            for: Samples.message(kind, expires: 9_000, collapseKey: "k"), to: Redacted("t"), project: "p", now: 0)
        let message = try #require(Samples.json(request.content)["message"] as? [String: Any])
        #expect(
            message["android"] as? [String: String] == ["priority": "NORMAL", "ttl": "9s", "collapse_key": "k"])
        #expect(message["data"] as? [String: String] == ["notificationMessage": #"{"eventType":"call"}"#])
    }

    @Test func `keys and values of the data count, not how they are escaped`() throws {
        let text = "notificationMessage".utf8.count
        let form = "{\"a\":\"" + String(repeating: "x", count: GooglePush.dataLimit - text - 8) + "\"}"
        let make = { (form: String) in
            try GooglePush.request(
                for: Samples.message(.refresh, forms: [form, "{}"]), to: Redacted("t"), project: "p", now: 0)
        }
        #expect(try make(form).form == 0)
        #expect(try make(form + " ").form == 1)
    }
}

@Suite struct `What a webhook is asked` {
    @Test func `a push is an event with a type, a time and its data`() throws {
        let registration = try Samples.registration(.webhook(url: "https://push.example.com/hook"))
        let request = try WebhookPush.request(for: Samples.message(), to: registration)
        #expect(request.path == nil)
        let body = try Samples.json(request.content)
        #expect(body["type"] as? String == "push.call")
        #expect(body["timestamp"] as? String == "2023-11-14T22:13:20.500Z")
        let data = try #require(body["data"] as? [String: Any])
        #expect(data["user"] as? String == "joe@example.com")
        #expect(data["clientCorrelator"] as? String == "device-7")
        #expect(data["expires"] as? String == "2023-11-14T22:13:50.500Z")
        #expect((data["call"] as? [String: Any])?["sessionData"] as? String == "B1-session")
        #expect(!WebhookPush.name(of: Samples.message()).contains("."))
    }

    @Test func `what is for the app alone has the notification and no call`() throws {
        let registration = try Samples.registration(.webhook(url: "https://push.example.com/hook"))
        for (kind, type) in [(PushMessage.Kind.silent, "push.silent"), (.refresh, "push.refresh")] {
            let body = try Samples.json(WebhookPush.request(for: Samples.message(kind), to: registration).content)
            #expect(body["type"] as? String == type)
            let data = try #require(body["data"] as? [String: Any])
            #expect(data["notificationMessage"] as? [String: String] == ["eventType": "call"])
            #expect(data["call"] == nil && data["alert"] == nil)
        }
    }

    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_799_999, "2000-02-29T23:59:59.999Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (1_735_689_599_001, "2024-12-31T23:59:59.001Z"),
        ] as [(UInt64, String)])
    func `times are those of the calendar`(_ time: UInt64, _ text: String) throws {
        var message = Samples.message()
        message.time = time
        let registration = try Samples.registration(.webhook(url: "https://push.example.com/hook"))
        #expect(
            try Samples.json(WebhookPush.request(for: message, to: registration).content)["timestamp"] as? String
                == text)
    }
}

@Suite struct `A push registration` {
    @Test(arguments: [
        "", "com.example\r\nx: y", "a/b", String(repeating: "a", count: 156),
    ])
    func `needs a bundle identifier that can be part of a header field`(_ bundleID: String) {
        #expect(throws: PushRegistrationError.unusable(.bundleID)) {
            try PushRegistration(
                id: "d", user: "u", bundleID: bundleID, realm: "r", services: [], clientCorrelator: nil,
                target: .apple(Samples.apple))
        }
    }

    @Test(
        arguments: [
            (
                .apple(.init(voip: Redacted("../x"), standard: nil, isProduction: true)),
                .unusable(.appleToken(.voip))
            ),
            (
                .apple(.init(voip: nil, standard: Redacted(""), isProduction: true)),
                .unusable(.appleToken(.standard))
            ),
            (.apple(.init(voip: nil, standard: nil, isProduction: true)), .noAppleToken),
            (.google(token: Redacted("a b")), .unusable(.googleToken)),
            (.google(token: Redacted("")), .unusable(.googleToken)),
            (.webhook(url: "http://example.com/"), .unusable(.url)),
            (.webhook(url: "https://"), .unusable(.url)),
            (.webhook(url: "https://example.com/\n"), .unusable(.url)),
        ] as [(PushRegistration.Target, PushRegistrationError)])
    func `needs tokens of the provider's form`(_ target: PushRegistration.Target, _ error: PushRegistrationError) {
        #expect(throws: error) { try Samples.registration(target) }
    }

    @Test func `shows no token`() throws {
        #expect(!"\(try Samples.registration())".contains("ab12"))
        #expect(!"\(try Samples.registration(.google(token: Redacted("secret"))))".contains("secret"))
    }
}

@Suite struct `A push identifier` {
    @Test func `has the form of a UUID with its version and variant`() throws {
        for name in ["", "a", "B1-session"] {
            let text = PushID(naming: name).text
            #expect(text == text.lowercased() && UUID(uuidString: text) != nil)
            let characters = Array(text)
            #expect(characters[14] == "8" && "89ab".contains(characters[19]))
        }
        #expect(PushID(naming: "a") == PushID(naming: "a") && PushID(naming: "a") != PushID(naming: "b"))
    }
}
