import CallRuntime
import Foundation
import HTTPTypes
import Testing

import AdminServer

/// Webhooks of applications, as operators see them.
struct WebhookOperationTests {
    private func rig() async throws -> AdminRig {
        let rig = try AdminRig()
        let added = await rig.ask(.post, "/admin/v1/applications", #"{"name":"bots","domain":"example.com"}"#)
        #expect(added.status == 201)
        return rig
    }

    private let path = "/admin/v1/applications/bots/webhooks"

    @Test func `the key is shown when it is made, and never again`() async throws {
        let rig = try await rig()
        let body = #"{"url":"https://bots.example/","types":["call.*"]}"#
        let added = await rig.ask(.post, path, body, key: "once")
        #expect(added.status == 201 && added.json["key"] as? String == "whsec_1")
        #expect(added.json["types"] as? [String] == ["call.*"] && added.json["enabled"] as? Bool == true)
        let again = await rig.ask(.post, path, body, key: "once")
        #expect(again.status == 201 && again.json["id"] as? String == "w0" && again.json["key"] == nil)
        let listed = await rig.ask(.get, path)
        let item = try #require((listed.json["items"] as? [[String: Any]])?.first)
        #expect(item["key"] == nil && item["waiting"] as? Int == 2 && item["parked"] as? Int == 1)
        #expect(item["lastFailure"] as? String == "status 500")
        let rotated = await rig.ask(.post, path + "/w0/key")
        #expect(rotated.json["key"] as? String == "whsec_2")
    }

    @Test func `a webhook is changed, tried and removed`() async throws {
        let rig = try await rig()
        _ = await rig.ask(.post, path, #"{"url":"https://bots.example/"}"#)
        let changed = await rig.ask(.patch, path + "/w0", #"{"enabled":false,"types":["leg.held"]}"#)
        #expect(changed.json["enabled"] as? Bool == false && changed.json["types"] as? [String] == ["leg.held"])
        #expect(changed.json["url"] as? String == "https://bots.example/")
        let tried = await rig.ask(.post, path + "/w0/test")
        #expect(tried.json["delivered"] as? Bool == false && tried.json["detail"] as? String == "status 500")
        #expect(await rig.ask(.post, path + "/w0/retry").json["events"] as? Int == 1)
        #expect(await rig.ask(.delete, path + "/w0").status == 200)
        #expect(await rig.ask(.post, path + "/w0/test").code == "webhook.not_found")
        #expect(try await rig.audit().last?.operation == "testWebhook")
    }

    @Test func `an application of a removed one's name has none of its webhooks`() async throws {
        let rig = try await rig()
        #expect(await rig.ask(.post, path, #"{"url":"https://bots.example/"}"#).status == 201)
        #expect(await rig.ask(.delete, "/admin/v1/applications/bots").status == 200)
        #expect(await rig.ask(.get, path).code == "application.not_found")
        let added = await rig.ask(.post, "/admin/v1/applications", #"{"name":"bots","domain":"example.com"}"#)
        #expect(added.status == 201)
        #expect((await rig.ask(.get, path).json["items"] as? [[String: Any]])?.isEmpty == true)
        for operation in ["/w0/test", "/w0/key", "/w0/retry"] {
            #expect(await rig.ask(.post, path + operation).code == "webhook.not_found")
        }
    }

    @Test func `what cannot be used is named`() async throws {
        let rig = try await rig()
        for body in [
            "{}", #"{"url":1}"#, #"{"url":"http://x"}"#, #"{"url":"https://x","types":"call.*"}"#,
            #"{"url":"https://x","types":["call"]}"#, #"{"url":"https://x","key":"mine"}"#,
        ] {
            #expect(await rig.ask(.post, path, body).status == 400, "\(body)")
        }
        #expect(await rig.ask(.get, "/admin/v1/applications/others/webhooks").code == "application.not_found")
        for _ in 0..<2 { _ = await rig.ask(.post, path, #"{"url":"https://x"}"#) }
        let refused = await rig.ask(.post, path, #"{"url":"https://x"}"#)
        #expect(refused.status == 409 && refused.code == "webhook.limited")
    }

    @Test func `who may only read makes no webhook, and an operator tries one`() async throws {
        let rig = try await rig()
        _ = await rig.ask(.post, path, #"{"url":"https://x"}"#)
        let (reader, operatorToken) = (try await rig.token(.readOnly), try await rig.token(.operator))
        #expect(await rig.ask(.get, path, token: reader).status == 200)
        #expect(await rig.ask(.post, path + "/w0/test", token: reader).code == "auth.forbidden")
        #expect(await rig.ask(.post, path + "/w0/test", token: operatorToken).status == 200)
        #expect(await rig.ask(.post, path, #"{"url":"https://x"}"#, token: operatorToken).code == "auth.forbidden")
    }
}
