import Foundation
import FoundationNetworking
import Logging
import Observability
import Testing

import Gateway

/// The key file of remembered logins, and what a whole gateway makes of it after a restart.
@Suite(.timeLimit(.minutes(10))) struct `Remembered logins` {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// A folder of its own, and the configuration of a gateway that keeps its database there.
    private func withFolder(
        _ settings: [(String, String)] = [], _ body: (URL, GatewayConfiguration) async throws -> Void
    ) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "logins-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let all =
            [
                ("tls.mode", "off"), ("listen.host", "127.0.0.1"), ("listen.port", "0"), ("media.bind", "127.0.0.1"),
                ("media.port", "0"),
                ("media.workers", "1"), ("storage.path", folder.appending(path: "g.sqlite").path),
                ("registration.domain", "example.com"),
            ] + settings
        let overrides = all.map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        try await body(folder, try ConfigurationLoader(overrides: overrides).load().configuration)
    }

    /// One life of a gateway in which zoe logs in.
    ///
    /// - Returns: how many passwords were checked.
    private func login(_ configuration: GatewayConfiguration) async throws -> UInt64 {
        let gateway = try await Gateway.build(configuration, logger: logger)
        async let running: Void = gateway.run()
        let ports = try #require(await gateway.ports())
        var request = URLRequest(
            url: try #require(
                URL(string: "http://127.0.0.1:\(ports[0])/rest/version/1/user/zoe@example.com/subscription")))
        request.setValue(
            "Basic " + Data("zoe@example.com:secret".utf8).base64EncodedString(), forHTTPHeaderField: "Authorization")
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpMethod = "POST"
        request.httpBody = Data(
            #"{"subscribeRequest":{"expires":3600,"service":["call"],"notificationType":"WebSocket"}}"#.utf8)
        let (_, response) = try await URLSession.shared.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        await gateway.shutDown()
        try await running
        return gateway.metrics.passwordChecks[.right].value
    }

    private func addZoe(_ configuration: GatewayConfiguration) async throws {
        try await UserAdministration(configuration).add("zoe@example.com", password: "secret", displayName: "Zoe")
    }

    @Test func `after a restart no password is checked, until it is changed`() async throws {
        try await withFolder { _, configuration in
            try await addZoe(configuration)
            #expect(try await login(configuration) == 1)
            #expect(try await login(configuration) == 0)
            try await UserAdministration(configuration).setPassword("secret", of: "zoe@example.com")
            #expect(try await login(configuration) == 1)
        }
    }

    @Test func `the key is beside the database, for its owner only, and without it every password is checked`()
        async throws
    {
        try await withFolder { folder, configuration in
            try await addZoe(configuration)
            #expect(try await login(configuration) == 1)
            let key = folder.appending(path: "g.sqlite.key")
            let attributes = try FileManager.default.attributesOfItem(atPath: key.path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(try Data(contentsOf: key).count == 32)
            // As if a process had been ended before it had written the key.
            try Data().write(to: key)
            #expect(try await login(configuration) == 1)
            #expect(try Data(contentsOf: key).count == 32)
            #expect(try await login(configuration) == 0)
        }
    }

    @Test func `where logins are not remembered there is no key, and every password is checked`() async throws {
        try await withFolder([("auth.remember", "off")]) { folder, configuration in
            try await addZoe(configuration)
            for _ in 1...2 { #expect(try await login(configuration) == 1) }
            #expect(!FileManager.default.fileExists(atPath: folder.appending(path: "g.sqlite.key").path))
        }
    }

    @Test func `a key that is none, or cannot be made, is named at the start`() async throws {
        for (path, text) in [("short.key", "no key of 32 bytes"), ("no/such/folder.key", "cannot be made")] {
            try await withFolder { folder, configuration in
                var configuration = configuration
                configuration.loginKeyPath = folder.appending(path: path).path
                try Data("short".utf8).write(to: folder.appending(path: "short.key"))
                let error = await #expect(throws: ConfigurationError.self) {
                    try await Gateway.build(configuration, logger: logger)
                }
                #expect(error?.problems.first?.message.contains(text) == true, "\(String(describing: error))")
            }
        }
    }
}
