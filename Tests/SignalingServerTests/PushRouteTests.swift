import CallRuntime
import Foundation
import SignalingServer
import Testing

/// Registrations for push (spidr-wire §11.1).
struct PushRouteTests {
    private static let path = "/rest/version/1/user/joe@example.com/push"
    private static let apple = #"""
        {"bundleID":"com.example.app","service":["call"],"clientCorrelator":"device-7","realm":"default",
        "isProduction":"true","voipDeviceToken":"ab12ab12ab12ab12","standardDeviceToken":"cd34cd34cd34cd34"}
        """#
    private static let google = #"{"bundleID":"com.example.app","deviceToken":"ef56ef56ef56ef56"}"#
    private static let webhook = #"""
        {"bundleID":"com.example.app","service":"call","url":"https://push.example.com/secret?x"}
        """#

    @Test(arguments: [("apple", apple), ("google", google), ("webhook", webhook)])
    func `a device is registered, listed, changed and removed`(_ provider: String, _ body: String) async throws {
        try await TestServer.run { server in
            let wrapper = "\(provider)DeviceRegistrationResponse"
            let devices = "\(Self.path)/\(provider)/devices"
            let added = try await server.request("POST", devices + "/", body)
            #expect(added.status == 201)
            let own = try #require(try added.member("\(wrapper).registration"))
            #expect(own.hasPrefix(devices + "/"))
            // The same device by the other form of a body, and without the slash.
            let wrapped = #"{"\#(provider)DeviceRegistrationRequest":\#(body)}"#
            let again = try await server.request("POST", devices, wrapped)
            #expect(try again.member("\(wrapper).registration") == own)
            let list = try await server.request("GET", devices)
            #expect(list.status == 200 && list.body.contains(#""registration":"\#(own)""#))
            for secret in ["ab12ab12", "cd34cd34", "ef56ef56", "secret"] { #expect(!list.body.contains(secret)) }
            let one = try await server.request("GET", own)
            #expect(one.body == list.body)
            let changed = try await server.request("PUT", own, body.replacing("example.app", with: "example.other"))
            #expect(try changed.member("\(wrapper).registration") == own)
            #expect(try await server.request("GET", own).body.contains("com.example.other"))
            let removed = try await server.request("DELETE", own)
            #expect(removed.body == #"{"\#(wrapper)":{"statusCode":0}}"#)
            #expect(try await server.request("GET", devices).body == #"{"\#(wrapper)":{"statusCode":0,"devices":[]}}"#)
            for method in ["GET", "PUT", "DELETE"] {
                let refused = try await server.request(method, own, method == "PUT" ? body : nil)
                #expect(refused.status == 404)
                #expect(try refused.member("code") == "push.not_found" && refused.member("statusCode") == "42")
            }
        }
    }

    @Test func `a telephone belongs to who registered it last`() async throws {
        try await TestServer.run { server in
            let other = Self.path.replacing("joe", with: "ann")
            let first = try await server.request("POST", Self.path + "/google/devices", Self.google)
            let own = try #require(try first.member("googleDeviceRegistrationResponse.registration"))
            let second = try await server.request(
                "POST", other + "/google/devices", Self.google, as: "ann@example.com:hidden:too")
            #expect(second.status == 201)
            #expect(try await server.request("GET", own).status == 404)
        }
    }

    @Test(
        arguments: [
            ("apple", #"{"voipDeviceToken":"ab"}"#, "request.missing_field", "bundleID"),
            ("apple", #"{"bundleID":"a"}"#, "request.missing_field", "voipDeviceToken"),
            ("apple", #"{"bundleID":"a b","voipDeviceToken":"ab"}"#, "request.invalid_value", "bundleID"),
            ("apple", #"{"bundleID":"a","voipDeviceToken":"xy"}"#, "request.invalid_value", "voipDeviceToken"),
            ("apple", #"{"bundleID":"a","standardDeviceToken":""}"#, "request.invalid_value", "standardDeviceToken"),
            ("apple", #"{"bundleID":"a","isProduction":7}"#, "request.invalid_value", "isProduction"),
            ("google", #"{"bundleID":"a"}"#, "request.missing_field", "deviceToken"),
            ("google", #"{"bundleID":"a","deviceToken":"a b"}"#, "request.invalid_value", "deviceToken"),
            ("google", #"{"bundleID":"a","deviceToken":"a","service":[]}"#, "request.invalid_value", "service"),
            ("google", #"{"bundleID":"a","deviceToken":"a","service":[1]}"#, "request.invalid_value", "service"),
            ("google", #"{"bundleID":"a","deviceToken":"a","realm":"\n"}"#, "request.invalid_value", "realm"),
            (
                "google", #"{"bundleID":"a","deviceToken":"a","clientCorrelator":7}"#, "request.invalid_value",
                "clientCorrelator"
            ),
            ("webhook", #"{"bundleID":"a"}"#, "request.missing_field", "url"),
            ("webhook", #"{"bundleID":"a","url":"http://x/"}"#, "request.invalid_value", "url"),
            ("webhook", "[]", "request.invalid_value", "body"),
            ("webhook", "", "request.body_missing", "body"),
        ])
    func `what cannot be registered is refused without a wrapper, and the reason names the field`(
        _ provider: String, _ body: String, _ code: String, _ field: String
    ) async throws {
        try await TestServer.run { server in
            let refused = try await server.request("POST", "\(Self.path)/\(provider)/devices", body)
            #expect(refused.status == 400)
            #expect(try refused.member("code") == code)
            #expect(try #require(try refused.member("reason")).contains(field))
        }
    }
}
