import Primitives
import Testing

import Gateway

@Suite struct AdministrationSettingsTests {
    private func configuration(_ settings: [(String, String)], isDevelopment: Bool = false) throws
        -> GatewayConfiguration
    {
        let overrides = settings.map { ConfigurationLoader.Override(path: $0.0, value: $0.1, flag: "--set") }
        return try ConfigurationLoader(isDevelopment: isDevelopment, overrides: overrides).load().configuration
    }

    private func complaints(_ settings: [(String, String)]) throws -> [String] {
        let configuration = try configuration([("tls.mode", "off")] + settings)
        do throws(ConfigurationError) {
            try configuration.check()
            return []
        } catch {
            return error.problems.map(\.description)
        }
    }

    @Test func `the socket is beside the database unless it is said otherwise`() throws {
        #expect(try configuration([("storage.path", "/srv/o.sqlite")]).adminSocketPath == "/srv/o.sqlite.admin")
        #expect(try configuration([("admin.socket", "off")]).adminSocketPath == nil)
        #expect(try configuration([("admin.socket", "/run/o.sock")]).adminSocketPath == "/run/o.sock")
        #expect(try configuration([], isDevelopment: true).adminSocketPath == nil)
        #expect(try configuration([("admin.socket", "/run/o.sock")], isDevelopment: true).adminSocketPath != nil)
    }

    @Test func `a path that is too long for a socket is refused, or done without and said`() throws {
        let long = "/srv/" + String(repeating: "a", count: 99)
        #expect(try complaints([("admin.socket", String(long.dropLast()))]).isEmpty)
        #expect(try complaints([("admin.socket", long)]).first?.contains("at most 103 bytes") == true)
        let automatic = try configuration([("storage.path", long)])
        #expect(automatic.adminSocketPath == nil)
        #expect(automatic.warnings.contains { $0.hasPrefix("admin.socket: there is none") })
    }

    @Test func `without TLS only this machine may reach the interface`() throws {
        for host in ["127.0.0.1", "::1", "localhost"] { #expect(try complaints([("admin.host", host)]).isEmpty) }
        #expect(try complaints([("admin.host", "0.0.0.0")]).first?.contains("unencrypted") == true)
        #expect(
            try complaints([("admin.host", "127.0.0.1"), ("listen.plain_port", "9000"), ("admin.port", "9000")]).count
                == 1)
    }

    @Test func `the value of a secret is not shown`() throws {
        #expect(ConfigurationKey.shown(.text("hunter2"), isSecret: true) == "‹redacted›")
        #expect(ConfigurationKey.shown(.text("hunter2"), isSecret: false) == "hunter2")
        #expect(ConfigurationKey.all.allSatisfy { !$0.isSecret }, "secrets are in files, whose paths may be shown")
    }
}
