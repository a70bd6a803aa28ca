import Foundation
import Logging
import Observability
import Primitives
import Push
import PushClient
import Testing

/// What needs no provider. Tests/IntegrationTests/test_push_providers.py has the rest.
@Suite struct `The push client` {
    private let metrics = GatewayMetrics(version: "test", startTime: 0)

    private func client(_ change: (inout PushConfiguration) -> Void = { _ in }) throws -> PushClient {
        var configuration = PushConfiguration()
        change(&configuration)
        return try PushClient(
            configuration, metrics: metrics, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func message(expires after: Double = 30) -> PushMessage {
        let now = UInt64(Date().timeIntervalSince1970 * 1_000)
        return PushMessage(
            id: PushID(naming: "a"), .refresh, forms: [], time: now, expires: now + UInt64(after * 1_000))
    }

    private func registration(
        _ target: PushRegistration.Target, of app: String = "com.example.app"
    ) throws -> PushRegistration {
        try PushRegistration(
            id: "d1", user: "joe@example.com", bundleID: app, realm: "default", services: [],
            clientCorrelator: nil, target: target)
    }

    private static let targets: [PushRegistration.Target] = [
        .apple(.init(voip: nil, standard: Redacted("ab"), isProduction: true)), .google(token: Redacted("t")),
        .webhook(url: "https://push.example.com/"),
    ]

    @Test(arguments: targets)
    func `gives up a push to a provider that is not configured`(_ target: PushRegistration.Target) async throws {
        let client = try client()
        let registration = try registration(target)
        #expect(await client.send(message(), to: registration) == .givenUp(.notConfigured))
        #expect(metrics.pushes[registration.provider, .givenUp].value == 1)
        #expect(metrics.pushesActive.value == 0)
        client.shutDown()
        #expect(await client.send(message(), to: registration) == .givenUp(.shutDown))
    }

    @Test func `says which file has no key, and does not wait for one`() async throws {
        let client = try client {
            $0.apple = .init(team: "TEAM", keyID: "KEY", keyPath: "/nonexistent/key.p8")
            $0.google = .init(accountPath: "/nonexistent/account.json")
            $0.webhookKeyFolder = "/nonexistent/keys"
        }
        for (target, path) in zip(
            Self.targets,
            ["/nonexistent/key.p8", "/nonexistent/account.json", "/nonexistent/keys/com.example.app"])
        {
            let registration = try registration(target)
            #expect(
                await client.send(message(), to: registration)
                    == .givenUp(.credential(reason: "\(path) cannot be read")))
            #expect(metrics.pushes[registration.provider, .credential].value == 1)
        }
        client.shutDown()
    }

    @Test func `says what is wrong with a key`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "com.example.app")
        let path = file.path(percentEncoded: false)
        let client = try client {
            $0.apple = .init(team: "TEAM", keyID: "KEY", keyPath: path)
            $0.google = .init(accountPath: path)
            $0.webhookKeyFolder = folder.path(percentEncoded: false).trimmingSuffix("/")
        }
        try Data("whsec_abc".utf8).write(to: file)
        let reasons = [
            "\(path) has no private key in PEM without a password",
            "\(path) is no service account: it needs project_id, private_key_id, private_key, client_email and token_uri",
            "\(path) has a line that is no key, whsec_ and 24 to 64 bytes in Base64",
        ]
        for (target, reason) in zip(Self.targets, reasons) {
            let outcome = await client.send(message(), to: try registration(target))
            #expect(outcome == .givenUp(.credential(reason: reason)))
        }
        client.shutDown()
    }

    /// An app without a file has the accounts of the gateway, which has none here.
    @Test func `an app has the accounts that its file names, or is told what is wrong with it`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.path(percentEncoded: false).trimmingSuffix("/")
        let contents = [
            "com.example.app": #"{"apple": {"team": "TEAM123456", "keyID": "KEY1234567", "keyFile": "a.p8"}}"#,
            "com.example.google": #"{"google": {"accountFile": "/nonexistent/account.json"}}"#,
            "com.example.broken": "{}",
            "com.example.team": #"{"apple": {"team": "TEAM", "keyID": "KEY1234567", "keyFile": "a.p8"}}"#,
        ]
        for (app, content) in contents { try Data(content.utf8).write(to: folder.appending(path: app + ".json")) }
        let client = try client { $0.applications = .init(folder: path) }
        let (apple, google) = (Self.targets[0], Self.targets[1])
        let fault =
            "has no accounts of an app: it needs apple with team, keyID and keyFile, or google with accountFile"
        let names = "team and keyID have 10 letters and digits each"
        let cases: [(String, PushRegistration.Target, PushFailure)] = [
            ("com.example.app", apple, .credential(reason: "\(path)/a.p8 cannot be read")),
            ("com.example.app", google, .notConfigured),
            ("com.example.google", google, .credential(reason: "/nonexistent/account.json cannot be read")),
            ("com.example.google", apple, .notConfigured),
            ("com.example.broken", apple, .credential(reason: "\(path)/com.example.broken.json \(fault)")),
            ("com.example.team", apple, .credential(reason: "\(path)/com.example.team.json: \(names)")),
            ("com.example.unknown", apple, .notConfigured),
        ]
        for (app, target, failure) in cases {
            let outcome = await client.send(message(), to: try registration(target, of: app))
            #expect(outcome == .givenUp(failure), "\(app)")
        }
        #expect(metrics.pushesActive.value == 0)
        client.shutDown()
    }

    @Test func `a push whose time is over is not sent`() async throws {
        let client = try client { $0.webhookKeyFolder = "/nonexistent" }
        let registration = try registration(.webhook(url: "https://push.example.com/"))
        #expect(await client.send(message(expires: 0), to: registration) == .givenUp(.expired(last: nil)))
        #expect(metrics.pushRequests[.webhook].value == 0)
        client.shutDown()
    }
}

extension String {
    fileprivate func trimmingSuffix(_ suffix: String) -> String {
        hasSuffix(suffix) ? String(dropLast(suffix.count)) : self
    }
}
