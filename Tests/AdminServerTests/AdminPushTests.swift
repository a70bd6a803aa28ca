import AdminServer
import CallControl
import CallRuntime
import HTTPTypes
import Primitives
import Push
import PushDelivery
import Storage
import Testing

/// Registrations for push, as operators see them.
@Suite struct AdminPushTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let path = "/admin/v1/push-registrations"

    private func rig() async throws -> (AdminRig, [PushDeviceID]) {
        let rig = try AdminRig()
        var ids: [PushDeviceID] = []
        for user in [Self.alice, UserAddress(parsing: "bob@example.com")!] {
            try await rig.database.users.add(StoredUser(address: user, passwordRecord: ""))
            ids.append(
                try await rig.push.register(
                    PushRegistration(
                        id: "", user: user.text, bundleID: "com.example.app", realm: "default", services: ["call"],
                        clientCorrelator: "phone", target: .google(token: Redacted("secret-token-of-\(user.user)"))),
                    of: user))
        }
        return (rig, ids)
    }

    @Test func `they are listed by user and in pages, without tokens`() async throws {
        let (rig, ids) = try await rig()
        let one = await rig.ask(.get, Self.path + "?user=Alice@example.com")
        let items = try #require(one.json["items"] as? [[String: Any]])
        #expect(items.count == 1 && items[0]["id"] as? String == ids[0].rawValue)
        #expect(items[0]["name"] as? String == "phone" && items[0]["targets"] as? [String] == ["secr…"])
        let first = await rig.ask(.get, Self.path + "?limit=1")
        let cursor = try #require(first.json["next"] as? String)
        let second = await rig.ask(.get, Self.path + "?limit=1&cursor=" + cursor)
        #expect(second.status == 200 && second.json["next"] == nil)
        let listed = [first, second].compactMap { ($0.json["items"] as? [[String: Any]])?.first?["id"] as? String }
        #expect(listed == ids.map(\.rawValue).sorted())
        #expect(await rig.ask(.get, Self.path + "?user=nobody").code == "request.invalid_parameter")
    }

    @Test func `one is removed`() async throws {
        let (rig, ids) = try await rig()
        #expect(await rig.ask(.delete, "\(Self.path)/\(ids[0].rawValue)").status == 200)
        #expect(rig.push.devices(of: Self.alice, account: nil).isEmpty)
        #expect(await rig.ask(.delete, "\(Self.path)/\(ids[0].rawValue)").code == "push.not_found")
        // The user hears of it, once.
        #expect(
            rig.asked.asked == ["pushInvalidated \(ids[0].rawValue) of alice@example.com: removed by an operator"])
    }

    @Test func `one is tried out`() async throws {
        let (rig, ids) = try await rig()
        let reply = await rig.ask(.post, "\(Self.path)/\(ids[0].rawValue)/test", #"{"kind":"refresh"}"#)
        #expect(reply.status == 200 && reply.json["delivered"] as? Bool == false)
        #expect((reply.json["detail"] as? String)?.contains("not configured") == true)
        #expect(rig.asked.asked == ["tryOut \(ids[0].rawValue) refresh"])
        #expect(await rig.ask(.post, Self.path + "/none/test", "{}").code == "push.not_found")
        #expect(await rig.ask(.post, Self.path + "/x/test", #"{"kind":"pigeon"}"#).code == "request.invalid_value")
    }

    @Test func `they end before the removal of their account is answered`() async throws {
        let (rig, _) = try await rig()
        #expect(await rig.ask(.delete, "/admin/v1/users/alice@example.com").status == 200)
        #expect(rig.push.devices(of: Self.alice, account: nil).isEmpty)
    }
}
