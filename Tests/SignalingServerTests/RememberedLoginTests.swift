import CallControl
import CallRuntime
import Cryptography
import GatewayAPI
import Logging
import Observability
import Primitives
import SignalingServer
import TestSupport
import Testing

/// What a restart does not forget: authenticators that follow each other over the same users and the same remembered
/// logins.
@Suite struct `Logins across a restart` {
    private let users = MemoryUsers(["joe": "secret", "ann": "hidden"])
    private let logins = MemoryLogins()
    private let clock = ManualClock()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private let home = IPAddress("192.0.2.1")
    private let away = IPAddress("198.51.100.1")

    private static func key(_ seed: UInt64) -> CredentialDigest.Key {
        var random = SeededRandomSource(seed: seed)
        return CredentialDigest.Key(using: &random)
    }

    /// One life of the gateway's.
    private func life(key: CredentialDigest.Key = key(1), _ body: (Authenticator, GatewayMetrics) async throws -> Void)
        async throws
    {
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let journal = LoginJournal(logins, under: key.name, logger: logger)
        var configuration = Authenticator.Configuration()
        configuration.defaultDomain = "example.com"
        configuration.passwordCost = PasswordHash.Cost(logN: 4)
        let remembered = try await logins.rememberedLogins(
            under: key.name, at: clock.epochMilliseconds / 1_000, limit: 100)
        let authenticator = Authenticator(
            users: users, clock: clock, metrics: metrics, logger: logger, random: SeededRandomSource(seed: 2), key: key,
            remembered: remembered,
            journal: journal, configuration: configuration)
        try await withThrowingTaskGroup { group in
            group.addTask { await journal.run() }
            try await body(authenticator, metrics)
            journal.finish()
            try await group.waitForAll()
        }
        await authenticator.shutdown()
    }

    private func login(_ authenticator: Authenticator, _ credentials: String, from source: IPAddress?) async -> Result<
        UserAddress, APIError
    > {
        do throws(APIError) {
            return .success(try await authenticator.authenticate(header(credentials), from: Requester(source)))
        } catch {
            return .failure(error)
        }
    }

    @Test func `who has logged in before needs no check of the password`() async throws {
        try await life { authenticator, metrics in
            #expect(await login(authenticator, "joe:secret", from: home) == .success(address("joe")))
            #expect(metrics.passwordChecks[.right].value == 1)
        }
        try await life { authenticator, metrics in
            for _ in 1...3 { #expect(await login(authenticator, "joe:secret", from: away) == .success(address("joe"))) }
            #expect(metrics.passwordChecks[.right].value == 0)
            #expect(metrics.loginsRestored.value == 1)
        }
    }

    @Test func `a password that was changed meanwhile is refused, and so is a user who was removed`() async throws {
        try await life { authenticator, _ in
            #expect(await login(authenticator, "joe:secret", from: home) == .success(address("joe")))
            #expect(await login(authenticator, "ann:hidden", from: home) == .success(address("ann")))
        }
        await users.change("joe", to: "better")
        try await users.remove(address("ann"))
        try await life { authenticator, metrics in
            for credentials in ["joe:secret", "ann:hidden"] {
                guard case .failure(let error) = await login(authenticator, credentials, from: home) else {
                    Issue.record("\(credentials) is refused")
                    continue
                }
                #expect(error.code == .authWrongPassword)
            }
            #expect(await login(authenticator, "joe:better", from: home) == .success(address("joe")))
            #expect(metrics.loginsRestored.value == 0)
        }
    }

    @Test func `under another key nothing is remembered`() async throws {
        try await life { authenticator, _ in _ = await login(authenticator, "joe:secret", from: home) }
        try await life(key: Self.key(9)) { authenticator, metrics in
            #expect(await login(authenticator, "joe:secret", from: home) == .success(address("joe")))
            #expect(metrics.passwordChecks[.right].value == 1)
        }
    }

    @Test func `nothing that is written down shows a password, a header or a network`() async throws {
        try await life { authenticator, _ in _ = await login(authenticator, "joe:secret", from: home) }
        let (one, other) = (await logins.logins, Self.key(9))
        #expect(one.credentials.count == 1 && one.networks.count == 1)
        #expect(one.credentials[0].digest.count == 32 && one.credentials[0].record.count == 32)
        let network = home.map(SourceNetwork.init)
        #expect(one.networks[0].mark == Self.key(1).mark(of: LoginThrottle.Claim(address("joe"), from: network)))
        #expect(one.networks[0].mark != other.mark(of: LoginThrottle.Claim(address("joe"), from: network)))
        #expect(one.networks[0].mark != Self.key(1).mark(of: LoginThrottle.Claim(address("ann"), from: network)))
    }

    @Test func `an attack that goes on after the restart does not keep out whoever is known from elsewhere`()
        async throws
    {
        try await life { authenticator, _ in
            #expect(await login(authenticator, "joe:secret", from: home) == .success(address("joe")))
        }
        try await life { authenticator, _ in
            // From everywhere: the account is closed to strangers.
            for number in 1...300 {
                _ = await login(authenticator, "joe:\(number)", from: IPAddress("10.0.\(number / 256).\(number % 256)"))
            }
            guard case .failure(let error) = await login(authenticator, "joe@example.com:secret", from: away) else {
                Issue.record("a stranger is refused")
                return
            }
            #expect(error.code == .authRateLimited)
            #expect(await login(authenticator, "joe@example.com:secret", from: home) == .success(address("joe")))
        }
    }

    @Test func `a database that does not take them delays no login`() async throws {
        try await life { authenticator, _ in
            await logins.set(failure: .failed("locked"))
            #expect(await login(authenticator, "joe:secret", from: home) == .success(address("joe")))
        }
        await logins.set(failure: nil)
        #expect(await logins.logins.isEmpty)
    }
}
