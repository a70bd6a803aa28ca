import AdminServer
import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Primitives
import Storage
import Testing

/// Applications, as operators see and change them.
@Suite struct AdminApplicationTests {
    @Test func `an application is added, shown, given a new secret and removed`() async throws {
        let rig = try AdminRig()
        let wish = #"{"name":"portal","domain":"Example.com"}"#
        let added = await rig.ask(.post, "/admin/v1/applications", wish)
        let secret = try #require(added.json["secret"] as? String)
        #expect(added.status == 201 && added.json["domain"] as? String == "example.com" && secret.count == 64)
        #expect(await rig.ask(.post, "/admin/v1/applications", wish).code == "application.exists")
        let shown = await rig.ask(.get, "/admin/v1/applications/portal")
        #expect(shown.json["name"] as? String == "portal" && shown.json["domain"] as? String == "example.com")
        #expect(shown.json["scopes"] as? [String] == ["users:login"] && shown.json["secret"] == nil)
        let name = try #require(ApplicationName("portal"))
        let rotated = await rig.ask(.post, "/admin/v1/applications/portal/secret")
        let stored = try #require(try await rig.database.applications.application(name))
        #expect(rotated.status == 200 && rotated.json["secret"] as? String == stored.secret.value)
        #expect(stored.secret.value != secret)
        #expect(await rig.ask(.delete, "/admin/v1/applications/portal").status == 200)
        #expect(await rig.ask(.get, "/admin/v1/applications/portal").code == "application.not_found")
        #expect(await rig.ask(.post, "/admin/v1/applications/portal/secret").code == "application.not_found")
        let entries = try await rig.audit()
        #expect(
            entries.map { "\($0.operation) \($0.target) \($0.status ?? 0)" } == [
                "addApplication portal Example.com 201",
                "addApplication portal Example.com 409", "rotateApplicationSecret portal 200",
                "removeApplication portal 200", "rotateApplicationSecret portal 404",
            ])
    }

    @Test(arguments: [
        (#"{"name":"a b","domain":"example.com"}"#, "request.invalid_value"),
        (#"{"name":"portal","domain":"not a domain"}"#, "request.invalid_value"),
        (#"{"name":"portal"}"#, "request.missing_field"),
        (#"{"name":"portal","domain":"example.com","secret":"mine"}"#, "request.invalid_value"),
    ])
    func `an application that cannot be is refused`(_ body: String, _ code: String) async throws {
        let rig = try AdminRig()
        let refused = await rig.ask(.post, "/admin/v1/applications", body)
        #expect(refused.status == 400 && refused.code == code)
        #expect(await rig.ask(.get, "/admin/v1/applications").json["items"] as? [String] == [])
    }

    @Test func `what an application may do is set, changed and shown, and the runtime is told`() async throws {
        let rig = try AdminRig()
        let wish = #"{"name":"bot","addresses":["sip:Bot@Example.com","*@bots.example.com"],"decisionTime":2000}"#
        let added = await rig.ask(.post, "/admin/v1/applications", wish)
        #expect(added.status == 201)
        #expect(added.json["addresses"] as? [String] == ["bot@example.com", "*@bots.example.com"])
        #expect(
            added.json["scopes"] as? [String] == ["calls:read", "calls:write", "events", "media", "recordings"])
        #expect(added.json["fallback"] as? [String: String] == ["reject": "unavailable"])
        #expect(added.json["domain"] == nil && added.json["callsPerSecond"] == nil)
        let change = """
            {"scopes":["media"],"fallback":{"announce":{"items":[{"file":"closed.wav"},{"silence":500}],"loops":2}},
             "callsPerSecond":5,"maximumCalls":7,"displayName":"Bot"}
            """
        let changed = await rig.ask(.patch, "/admin/v1/applications/bot", change)
        #expect(changed.status == 200)
        let shown = await rig.ask(.get, "/admin/v1/applications/bot")
        #expect(shown.bytes == changed.bytes)
        #expect(shown.json["decisionTime"] as? Int == 2_000 && shown.json["maximumCalls"] as? Int == 7)
        #expect(shown.json["scopes"] as? [String] == ["media"] && shown.json["callsPerSecond"] as? Int == 5)
        let fallback = shown.json["fallback"] as? [String: [String: Any]]
        #expect((fallback?["announce"]?["items"] as? [Any])?.count == 2)
        let lifted = await rig.ask(.patch, "/admin/v1/applications/bot", #"{"callsPerSecond":null}"#)
        #expect(lifted.json["callsPerSecond"] == nil && lifted.json["maximumCalls"] as? Int == 7)
        #expect(await rig.ask(.patch, "/admin/v1/applications/nobody", "{}").code == "application.not_found")
        let other = #"{"name":"other","addresses":["bot@example.com"]}"#
        #expect(await rig.ask(.post, "/admin/v1/applications", other).code == "application.address_taken")
        #expect(await rig.ask(.get, "/admin/v1/applications/other").status == 404)
        #expect(rig.asked.asked == ["applicationsChanged", "applicationsChanged", "applicationsChanged"])
        #expect(await rig.ask(.delete, "/admin/v1/applications/bot").status == 200)
        #expect(rig.asked.asked.count == 4)
    }

    @Test func `where streams go without a URL, and how many there may be, is set and lifted`() async throws {
        let rig = try AdminRig()
        let wish = #"{"name":"bot","addresses":["bot@example.com"],"streamURL":"WSS://bot.example.com/talk"}"#
        let added = await rig.ask(.post, "/admin/v1/applications", wish)
        #expect(added.status == 201 && added.json["maximumStreams"] == nil)
        #expect(added.json["streamURL"] as? String == "wss://bot.example.com/talk")
        let limited = await rig.ask(.patch, "/admin/v1/applications/bot", #"{"maximumStreams":4}"#)
        #expect(limited.json["maximumStreams"] as? Int == 4)
        #expect(limited.json["streamURL"] as? String == "wss://bot.example.com/talk")
        let emptied = await rig.ask(.patch, "/admin/v1/applications/bot", #"{"streamURL":""}"#)
        #expect(emptied.json["streamURL"] == nil && emptied.json["maximumStreams"] as? Int == 4)
        let elsewhere = #"{"streamURL":"wss://bot.example.com:8443","maximumStreams":null}"#
        let changed = await rig.ask(.patch, "/admin/v1/applications/bot", elsewhere)
        #expect(changed.json["streamURL"] as? String == "wss://bot.example.com:8443/")
        #expect(changed.json["maximumStreams"] == nil)
        let lifted = await rig.ask(.patch, "/admin/v1/applications/bot", #"{"streamURL":null}"#)
        #expect(lifted.status == 200 && lifted.json["streamURL"] == nil)
    }

    @Test(arguments: [
        (#"{"scopes":["calls"]}"#, "scopes"), (#"{"addresses":["*"]}"#, "addresses"),
        (#"{"decisionTime":60001}"#, "decisionTime"), (#"{"maximumCalls":0}"#, "maximumCalls"),
        (#"{"streamURL":"https://bot.example.com"}"#, "streamURL"), (#"{"maximumStreams":0}"#, "maximumStreams"),
        (#"{"callsPerSecond":0}"#, "callsPerSecond"), (#"{"fallback":{"reject":"later"}}"#, "fallback.reject"),
        (#"{"fallback":{}}"#, "fallback"), (#"{"fallback":{"answer":"music"}}"#, "fallback.answer"),
        (#"{"fallback":{"forward":"bob"}}"#, "fallback.forward"), (#"{"domain":"example.com"}"#, "domain"),
        (#"{"fallback":{"announce":{"items":[{"file":1}]}}}"#, "fallback.announce.items[0].file"),
        (#"{"fallback":{"announce":{"items":[{"file":"closed.wav"}],"loops":0}}}"#, "fallback"),
        (#"{"fallback":{"announce":{"items":[{"file":"closed.wav"},{"tone":"busy"}]}}}"#, "fallback"),
        (#"{"fallback":{"announce":{"items":[{"music":true}],"loops":2}}}"#, "fallback"),
    ])
    func `changes of an application that are refused`(_ body: String, _ field: String) async throws {
        let rig = try AdminRig()
        _ = await rig.ask(.post, "/admin/v1/applications", #"{"name":"bot","addresses":[]}"#)
        let refused = await rig.ask(.patch, "/admin/v1/applications/bot", body)
        #expect(refused.status == 400 && refused.code == "request.invalid_value")
        #expect((refused.json["detail"] as? String)?.contains("\"\(field)\"") == true)
    }

    @Test func `keys are made, listed without the key, and revoked`() async throws {
        let rig = try AdminRig()
        _ = await rig.ask(.post, "/admin/v1/applications", #"{"name":"bot","addresses":["bot@example.com"]}"#)
        let path = "/admin/v1/applications/bot/keys"
        let made = await rig.ask(.post, path, key: "k")
        let key = try #require(made.json["key"] as? String)
        #expect(
            made.status == 201 && ApplicationKey(key) != nil && key.hasSuffix(made.json["ending"] as? String ?? "-"))
        let again = await rig.ask(.post, path, key: "k")
        #expect(
            again.status == 201 && again.json["key"] == nil && again.json["id"] as? String == made.json["id"] as? String
        )
        let later = await rig.ask(.post, path, #"{"expiresAt":1800000000000}"#)
        #expect(later.json["expiresAt"] as? Int == 1_800_000_000_000)
        #expect(await rig.ask(.post, path, #"{"expiresAt":1}"#).code == "request.invalid_value")
        let listed = await rig.ask(.get, path)
        #expect((listed.json["items"] as? [Any])?.count == 2)
        #expect(!String(decoding: listed.bytes, as: UTF8.self).contains(key))
        let digest = try #require(ApplicationKey(key)).digest
        #expect(try await rig.database.applications.application(ofKey: digest)?.application.name.description == "bot")
        let id = try #require(made.json["id"] as? String)
        #expect(await rig.ask(.delete, "\(path)/\(id)").status == 200)
        #expect(await rig.ask(.delete, "\(path)/\(id)").code == "application.key_not_found")
        #expect(try await rig.database.applications.application(ofKey: digest) == nil)
        #expect(await rig.ask(.post, "/admin/v1/applications/nobody/keys").code == "application.not_found")
        let targets = try await rig.audit().map { "\($0.operation) \($0.target)" }
        #expect(targets.contains("addApplicationKey bot") && targets.contains("revokeApplicationKey bot \(id)"))
    }

    @Test func `a former secret stays good for as long as is asked`() async throws {
        let rig = try AdminRig()
        let added = await rig.ask(.post, "/admin/v1/applications", #"{"name":"bot","domain":"example.com"}"#)
        let former = try #require(added.json["secret"] as? String)
        let path = "/admin/v1/applications/bot/secret"
        let rotated = await rig.ask(.post, path, #"{"overlap":60000}"#)
        let end = rig.clock.epochMilliseconds + 60_000
        #expect(rotated.json["formerSecretUntil"] as? Int == Int(end))
        let name = try #require(ApplicationName("bot"))
        let stored = try #require(try await rig.database.applications.application(name))
        #expect(stored.secrets(at: end - 1).map(\.value).contains(former))
        #expect(!stored.secrets(at: end).map(\.value).contains(former))
        #expect(await rig.ask(.post, path, #"{"overlap":-1}"#).code == "request.invalid_value")
    }

    @Test func `applications are listed in pages, and an answer that is given again has no secret`() async throws {
        let rig = try AdminRig()
        for name in ["c", "a", "b"] {
            let wish = #"{"name":"\#(name)","domain":"example.com"}"#
            let first = await rig.ask(.post, "/admin/v1/applications", wish, key: name)
            let again = await rig.ask(.post, "/admin/v1/applications", wish, key: name)
            #expect(first.json["secret"] is String && again.status == 201)
            #expect(again.json["name"] as? String == name && again.json["secret"] == nil)
        }
        _ = await rig.ask(.post, "/admin/v1/applications/a/secret", key: "rotate")
        #expect(await rig.ask(.post, "/admin/v1/applications/a/secret", key: "rotate").json["secret"] == nil)
        var (names, cursor): ([String], String?) = ([], "")
        while let next = cursor {
            let page = await rig.ask(.get, "/admin/v1/applications?limit=2" + next)
            names += (page.json["items"] as? [[String: Any]] ?? []).map { "\($0["name"] ?? "") \($0["domain"] ?? "")" }
            cursor = (page.json["next"] as? String).map { "&cursor=" + $0 }
        }
        #expect(names == ["a example.com", "b example.com", "c example.com"])
    }
}
