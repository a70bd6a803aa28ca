import AdminServer
import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Primitives
import Registration
import Storage
import Testing

@Suite struct AdminResponderTests {
    private static let alice = #"{"address":"alice@example.com","password":"wonderland"}"#

    // MARK: Access

    /// Every operation for every role and for nobody: who may not is refused and written down, and nothing else
    /// happens.
    @Test(arguments: AdminOperation.allCases)
    func `an operation is for its role and greater ones`(_ operation: AdminOperation) async throws {
        let rig = try AdminRig()
        let path = operation.template.replacing("{user}", with: "alice@example.com").replacing("{id}", with: "x")
            .replacing("{name}", with: "x")
        let nobody = await rig.ask(operation.method, path, token: "")
        #expect(nobody.status == 401 && nobody.code == "auth.missing")
        #expect(nobody.headers[.wwwAuthenticate] != nil)
        for role in AdminRole.allCases {
            let before = try await rig.audit().count
            let reply = await rig.ask(operation.method, path, "{}", token: try await rig.token(role))
            if role >= operation.role {
                #expect(reply.code != "auth.forbidden", "\(role)")
            } else {
                #expect(reply.status == 403 && reply.code == "auth.forbidden", "\(role)")
                let entry = try #require(try await rig.audit().last)
                #expect(entry.status == 403 && entry.operation == operation.rawValue && entry.role == role)
                #expect(try await rig.audit().count == before + 1)
                #expect(rig.asked.asked.isEmpty)
            }
        }
    }

    @Test func `the gateway's own user and root need no token on the socket, and nobody else goes without`()
        async throws
    {
        let rig = try AdminRig()
        for user in [AdminRig.ownUser, 0] {
            #expect(await rig.ask(.get, "/admin/v1/users", peer: .process(user: user)).status == 200)
        }
        #expect(await rig.ask(.get, "/admin/v1/users", peer: .process(user: 1)).status == 401)
        #expect(await rig.ask(.get, "/admin/v1/users", peer: .network(IPAddress("127.0.0.1"))).status == 401)
        let token = try await rig.token(.readOnly)
        #expect(await rig.ask(.get, "/admin/v1/users", token: token, peer: .process(user: 1)).status == 200)
    }

    @Test func `a token that was revoked or has expired is refused`() async throws {
        let rig = try AdminRig()
        let added = await rig.ask(.post, "/admin/v1/tokens", #"{"name":"mon","role":"read-only"}"#)
        let token = try #require(added.json["token"] as? String)
        #expect(await rig.ask(.get, "/admin/v1/health", token: token).status == 200)
        #expect(await rig.ask(.delete, "/admin/v1/tokens/mon").status == 200)
        #expect(await rig.ask(.get, "/admin/v1/health", token: token).code == "auth.invalid_token")
        let short = try await rig.token(.admin, expiresAt: rig.clock.epochMilliseconds + 5_000)
        #expect(await rig.ask(.get, "/admin/v1/health", token: short).status == 200)
        rig.clock.advance(by: .seconds(6))
        #expect(await rig.ask(.get, "/admin/v1/health", token: short).code == "auth.token_expired")
        let list = await rig.ask(.get, "/admin/v1/tokens")
        #expect(!String(decoding: list.bytes, as: UTF8.self).contains("orbadm_"))
    }

    @Test func `who guesses tokens has to wait, and others have not`() async throws {
        let rig = try AdminRig()
        let token = try await rig.token(.readOnly)
        let wrong = "orbadm_" + String(repeating: "x", count: 42)
        for _ in 0..<AdminAuthenticator.guesses.burst {
            #expect(await rig.ask(.get, "/admin/v1/users", token: wrong).code == "auth.invalid_token")
        }
        let refused = await rig.ask(.get, "/admin/v1/users", token: token)
        #expect(refused.status == 429 && refused.headers[.retryAfter] == "5")
        let other = AdminPeer.network(IPAddress("198.51.100.7"))
        #expect(await rig.ask(.get, "/admin/v1/users", token: token, peer: other).status == 200)
        rig.clock.advance(by: .seconds(6))
        #expect(await rig.ask(.get, "/admin/v1/users", token: token).status == 200)
    }

    // MARK: Users

    @Test func `a user is added, shown, changed and removed`() async throws {
        let rig = try AdminRig()
        let added = await rig.ask(.post, "/admin/v1/users", Self.alice)
        #expect(added.status == 201 && added.json["address"] as? String == "alice@example.com")
        #expect(!String(decoding: added.bytes, as: UTF8.self).contains("scrypt"))
        #expect(await rig.ask(.post, "/admin/v1/users", Self.alice).code == "user.exists")
        let changed = await rig.ask(
            .patch, "/admin/v1/users/alice%40example.com", #"{"displayName":"Alice","authName":"liddell"}"#)
        #expect(changed.json["displayName"] as? String == "Alice" && changed.json["authName"] as? String == "liddell")
        let disabled = await rig.ask(.patch, "/admin/v1/users/alice@example.com", #"{"enabled":false,"authName":null}"#)
        #expect(disabled.json["enabled"] as? Bool == false && disabled.json["authName"] == nil)
        #expect(rig.asked.asked == ["accountsChanged", "accountsChanged", "dismissRemovedUsers"])
        #expect(await rig.ask(.patch, "/admin/v1/users/alice@example.com", "{}").code == "request.missing_field")
        #expect(await rig.ask(.delete, "/admin/v1/users/alice@example.com").status == 200)
        #expect(await rig.ask(.get, "/admin/v1/users/alice@example.com").code == "user.not_found")
        #expect(rig.asked.asked.count == 5)
    }

    @Test func `an import that fails names its line and adds nobody`() async throws {
        let rig = try AdminRig()
        _ = await rig.ask(.post, "/admin/v1/users", Self.alice)
        let exported = await rig.ask(.get, "/admin/v1/user-export/with-passwords")
        let alice = String(decoding: exported.bytes, as: UTF8.self)
        let bob = alice.replacing("alice", with: "bob")
        let failed = await rig.ask(.post, "/admin/v1/user-import", bob + alice)
        #expect(failed.status == 400 && failed.code == "import.line_invalid" && failed.json["line"] as? Int == 2)
        #expect(await rig.ask(.get, "/admin/v1/users/bob@example.com").status == 404)
        let done = await rig.ask(.post, "/admin/v1/user-import?replace=true", bob + alice)
        #expect(done.json["imported"] as? Int == 2)
        #expect(await rig.ask(.get, "/admin/v1/users/bob@example.com").status == 200)
    }

    // MARK: Voice mail

    @Test func `the number of voice messages is noted and shown`() async throws {
        let rig = try AdminRig()
        let path = "/admin/v1/users/alice@example.com/voicemail"
        #expect(await rig.ask(.get, path).code == "user.not_found")
        _ = await rig.ask(.post, "/admin/v1/users", Self.alice)
        #expect(await rig.ask(.get, path).json as? [String: Int] == ["unheard": 0, "heard": 0])
        let noted = await rig.ask(.put, path, #"{"unheard":1,"heard":2}"#)
        #expect(noted.status == 200 && noted.json as? [String: Int] == ["unheard": 1, "heard": 2])
        #expect(await rig.ask(.get, path).json as? [String: Int] == ["unheard": 1, "heard": 2])
        let entry = try #require(try await rig.audit().last)
        #expect(entry.operation == "setVoicemail" && entry.target == "alice@example.com" && entry.status == 200)
        let bob = "/admin/v1/users/bob@example.com/voicemail"
        #expect(await rig.ask(.put, bob, #"{"unheard":1,"heard":2}"#).code == "user.not_found")
    }

    @Test(arguments: [
        (#"{"unheard":1}"#, "request.missing_field"), (#"{"heard":1,"unheard":null}"#, "request.missing_field"),
        (#"{"unheard":-1,"heard":0}"#, "request.invalid_value"),
        (#"{"unheard":0.5,"heard":0}"#, "request.invalid_value"),
        (#"{"unheard":1000001,"heard":0}"#, "request.invalid_value"),
        (#"{"unheard":"1","heard":0}"#, "request.invalid_value"),
        (#"{"unheard":1,"total":2}"#, "request.invalid_value"),
    ])
    func `a number of voice messages that cannot be is refused`(_ body: String, _ code: String) async throws {
        let rig = try AdminRig()
        let refused = await rig.ask(.put, "/admin/v1/users/alice@example.com/voicemail", body)
        #expect(refused.status == 400 && refused.code == code)
        #expect(await rig.asked.voicemail(of: AskedOf.user) == .empty)
    }

    // MARK: Audit

    @Test func `who did what is in the audit log, without secrets`() async throws {
        let rig = try AdminRig()
        _ = await rig.ask(.post, "/admin/v1/users", Self.alice)
        _ = await rig.ask(.get, "/admin/v1/users")
        _ = await rig.ask(.delete, "/admin/v1/calls/ab?reason=maintenance")
        _ = await rig.ask(.delete, "/admin/v1/calls/cd")
        _ = await rig.ask(.get, "/admin/v1/user-export/with-passwords")
        let entries = try await rig.audit()
        #expect(
            entries.map { "\($0.operation) \($0.target) \($0.status ?? 0) \($0.result ?? "-")" } == [
                "addUser alice@example.com 201 done", "endCall ab 200 done", "endCall cd 404 call.not_found",
                "exportUsersWithPasswords  200 done",
            ])
        #expect(Set(entries.map(\.who)) == ["uid 4711 (4711)"])
        #expect(rig.asked.asked == ["endCall ab maintenance", "endCall cd -"])
        let page = await rig.ask(.get, "/admin/v1/audit?limit=1")
        #expect((page.json["items"] as? [Any])?.count == 1 && page.json["next"] is String)
        #expect(!String(decoding: page.bytes, as: UTF8.self).contains("wonderland"))
    }

    // MARK: Idempotency

    @Test func `the same request with the same key is carried out once`() async throws {
        let rig = try AdminRig()
        let first = await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k1")
        let second = await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k1")
        #expect(first.status == 201 && second.status == 201 && first.bytes == second.bytes)
        #expect(first.headers[.init("Idempotent-Replayed")!] == nil)
        #expect(second.headers[.init("Idempotent-Replayed")!] == "true")
        #expect(try await rig.audit().count == 1)
        let other = await rig.ask(.post, "/admin/v1/users", Self.alice.replacing("wonderland", with: "x"), key: "k1")
        #expect(other.status == 422 && other.code == "idempotency.key_reused")
        #expect(await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k2").status == 409)
        #expect(
            await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k2").code == "user.exists", "refusals are kept")
        rig.clock.advance(by: .seconds(86_401))
        #expect(await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k1").status == 409)
    }

    @Test func `the same request at the same time is refused while the first is carried out`() async throws {
        let rig = try AdminRig()
        let statuses = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<4 { group.addTask { await rig.ask(.post, "/admin/v1/users", Self.alice, key: "k").status } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { [201, 409].contains($0) } && statuses.contains(201))
        #expect(try await rig.audit().filter { $0.status == 201 }.count == 1)
        #expect(try await rig.audit().count == 1, "the others were not carried out")
    }

    @Test func `an answer that is given again has no token`() async throws {
        let rig = try AdminRig()
        let wish = #"{"name":"mon","role":"read-only"}"#
        let first = await rig.ask(.post, "/admin/v1/tokens", wish, key: "k")
        #expect(first.json["token"] is String)
        let second = await rig.ask(.post, "/admin/v1/tokens", wish, key: "k")
        #expect(second.status == 201 && second.json["token"] == nil && second.json["name"] as? String == "mon")
    }

    // MARK: Tokens

    @Test func `tokens are listed page by page`() async throws {
        let rig = try AdminRig()
        for name in ["c", "a", "b"] {
            let added = await rig.ask(.post, "/admin/v1/tokens", #"{"name":"\#(name)","role":"operator"}"#)
            #expect(added.status == 201)
        }
        var (pages, cursor): ([[String]], String?) = ([], "")
        while let next = cursor {
            let page = await rig.ask(.get, "/admin/v1/tokens?limit=2" + next)
            pages.append((page.json["items"] as? [[String: Any]] ?? []).compactMap { $0["name"] as? String })
            cursor = (page.json["next"] as? String).map { "&cursor=" + $0 }
        }
        #expect(pages == [["a", "b"], ["c"]])
        #expect(await rig.ask(.get, "/admin/v1/tokens?limit=0").status == 400)
    }

    // MARK: Gateway

    @Test func `log level and drain reach the gateway`() async throws {
        let rig = try AdminRig()
        #expect(await rig.ask(.put, "/admin/v1/log-level", #"{"level":"debug"}"#).json["level"] as? String == "debug")
        #expect(rig.asked.logLevel == .debug)
        #expect(await rig.ask(.put, "/admin/v1/log-level", #"{"level":"loud"}"#).code == "request.invalid_value")
        #expect(await rig.ask(.get, "/admin/v1/drain").json["step"] as? String == "serving")
        #expect(await rig.ask(.post, "/admin/v1/drain").status == 202)
        let cancelled = await rig.ask(.delete, "/admin/v1/drain")
        #expect(cancelled.status == 200 && cancelled.json["step"] as? String == "serving")
        let again = await rig.ask(.delete, "/admin/v1/drain")
        #expect(again.status == 409 && again.code == "drain.not_started")
        #expect(rig.asked.asked == ["drain", "cancelDrain"])
    }

    @Test func `a path, a method or a parameter that is not there is refused`() async throws {
        let rig = try AdminRig()
        #expect(await rig.ask(.get, "/admin/v1/nothing").code == "resource.not_found")
        let wrong = await rig.ask(.put, "/admin/v1/users")
        #expect(wrong.status == 405 && wrong.headers[.allow] == "GET, POST")
        #expect(await rig.ask(.get, "/admin/v1/users?page=2").code == "request.invalid_parameter")
    }
}
