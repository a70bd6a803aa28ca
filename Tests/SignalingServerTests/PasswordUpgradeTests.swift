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

/// Passwords that are hashed anew after a login. Stored records cost less than the authenticator wants.
@Suite struct `Password upgrades` {
    private static let wanted = PasswordHash.Cost(logN: 5, p: 2)
    private let users = MemoryUsers(["joe": "secret", "ann": "hidden"])
    private let logins = MemoryLogins()
    private let clock = ManualClock()
    private let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    private let home = IPAddress("192.0.2.1")

    /// One life of the gateway's, under the same key.
    private func life(
        _ cost: PasswordHash.Cost = wanted, _ body: (Authenticator, GatewayMetrics) async throws -> Void
    ) async throws {
        var random = SeededRandomSource(seed: 1)
        let key = CredentialDigest.Key(using: &random)
        let metrics = GatewayMetrics(version: "test", startTime: 0)
        let journal = LoginJournal(logins, under: key.name, logger: logger)
        var configuration = Authenticator.Configuration()
        configuration.defaultDomain = "example.com"
        configuration.passwordCost = cost
        let authenticator = Authenticator(
            users: users, clock: clock, metrics: metrics, logger: logger, random: SeededRandomSource(seed: 2), key: key,
            remembered: try await logins.rememberedLogins(under: key.name, at: 0, limit: 100), journal: journal,
            configuration: configuration)
        try await withThrowingTaskGroup { group in
            group.addTask { await journal.run() }
            try await body(authenticator, metrics)
            // Waits for the upgrade under way.
            await authenticator.shutdown()
            journal.finish()
            try await group.waitForAll()
        }
    }

    private func login(_ authenticator: Authenticator, _ credentials: String) async -> UserAddress? {
        try? await authenticator.authenticate(header(credentials), from: Requester(home))
    }

    private func record(_ name: String) async throws -> String {
        try #require(await users.user(address(name))).passwordRecord
    }

    private func cost(of record: String) throws -> PasswordHash.Cost {
        try #require(PasswordHash(parsing: record)).cost
    }

    private func upgraded(_ metrics: GatewayMetrics, _ count: UInt64 = 1) async {
        while metrics.passwordsUpgraded.value < count { await Task.yield() }
    }

    @Test func `a cheap record is replaced after a login, and the login stays remembered`() async throws {
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            await upgraded(metrics)
            let made = try await record("joe")
            #expect(try cost(of: made) == Self.wanted)
            #expect(try PasswordHash(parsing: made)?.verifies("secret") == true)
            for _ in 1...3 {
                clock.advance(by: .seconds(3))
                #expect(await login(authenticator, "joe:secret") == address("joe"))
            }
            #expect(metrics.passwordChecks[.right].value == 1)
            // It costs enough now.
            #expect(try await record("joe") == made)
        }
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            #expect(metrics.loginsRestored.value == 1)
            #expect(metrics.passwordChecks[.right].value == 0)
            #expect(metrics.passwordsUpgraded.value == 0)
        }
    }

    @Test func `a login that was remembered before is enough, when its account is read`() async throws {
        try await life(PasswordHash.Cost(logN: 4)) { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
        }
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            await upgraded(metrics)
            #expect(metrics.passwordChecks[.right].value == 0)
            #expect(try await cost(of: record("joe")) == Self.wanted)
        }
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            #expect(metrics.passwordChecks[.right].value == 0)
        }
    }

    @Test func `a wrong password and a record that costs enough change nothing`() async throws {
        let before = try await [record("joe"), record("ann")]
        try await life(PasswordHash.Cost(logN: 4, p: 1)) { authenticator, _ in
            #expect(await login(authenticator, "joe:wrong") == nil)
            #expect(await login(authenticator, "ann:hidden") == address("ann"))
        }
        try await life { authenticator, _ in #expect(await login(authenticator, "joe:wrong") == nil) }
        #expect(try await [record("joe"), record("ann")] == before)
    }

    @Test func `a password that is changed meanwhile stays changed, and ends the login`() async throws {
        let other = MemoryUsers(["joe": "better"])
        let better = try #require(await other.user(address("joe"))).passwordRecord
        let gate = Latch()
        await users.set(beforeUpgrade: { await gate.wait() })
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            while await users.upgrades == 0 { await Task.yield() }
            try await users.setPassword(better, of: address("joe"))
            gate.open()
            await authenticator.shutdown()
            #expect(metrics.passwordsUpgraded.value == 0)
            #expect(try await record("joe") == better)
        }
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == nil)
            #expect(await login(authenticator, "joe:better") == address("joe"))
        }
    }

    @Test func `while the database writes, both records count`() async throws {
        let gate = Latch()
        await users.set(beforeUpgrade: { await gate.wait() })
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            while await users.upgrades == 0 { await Task.yield() }
            clock.advance(by: .seconds(3))
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            gate.open()
            await upgraded(metrics)
            #expect(metrics.passwordChecks[.right].value == 1)
        }
    }

    @Test func `a database that refuses leaves the login as it was, and is asked again later`() async throws {
        await users.set(upgradeFailure: .failed("full"))
        try await life { authenticator, metrics async throws in
            #expect(await login(authenticator, "joe:secret") == address("joe"))
            while await users.upgrades == 0 { await Task.yield() }
            await users.set(upgradeFailure: nil)
            while metrics.passwordsUpgraded.value == 0 {
                clock.advance(by: .seconds(3))
                #expect(await login(authenticator, "joe:secret") == address("joe"))
            }
            #expect(metrics.passwordChecks[.right].value == 1)
        }
    }

    // MARK: - The decision

    @Test func `one is hashed at a time, while no login waits, with pauses between them`() throws {
        var upgrades = PasswordUpgrades(to: Self.wanted)
        var random = SeededRandomSource(seed: 1)
        let cheap = try PasswordHash(of: "a", cost: PasswordHash.Cost(logN: 5, p: 1), random: &random).text
        let start = MonotonicTime.zero + .seconds(10)
        func isDue(_ record: String, _ isIdle: Bool, _ after: Duration) -> Bool {
            upgrades.isDue(record, whileIdle: isIdle, at: start + after)
        }
        #expect(isDue(cheap, true, .zero))
        #expect(!isDue(cheap, false, .zero))
        #expect(!isDue("no record", true, .zero))
        for cost in [Self.wanted, PasswordHash.Cost(logN: 6, p: 1), PasswordHash.Cost(logN: 4, p: 4)] {
            #expect(!isDue(try PasswordHash(of: "a", cost: cost, random: &random).text, true, .zero))
        }
        upgrades.started(address("joe"), at: start)
        #expect(upgrades.current == address("joe"))
        #expect(!isDue(cheap, true, .seconds(1)))
        upgrades.finished(at: start + .seconds(2))
        #expect(!isDue(cheap, true, .seconds(9)))
        #expect(isDue(cheap, true, .seconds(10)))
    }

    @Test func `the queue is idle for an upgrade when only its own login is checked`() {
        var queue = LoginQueue<Int>(LoginQueue.Configuration())
        let claim = LoginThrottle.Claim(address("joe"), from: nil)
        #expect(queue.isIdle(besides: 0))
        for ticket in 1...2 { _ = queue.enter(ticket, claim, isFamiliar: true, at: .zero, jitter: 0) }
        #expect(!queue.isIdle(besides: 2))
        #expect(queue.next() == 1)
        #expect(!queue.isIdle(besides: 1))
        queue.finished(after: nil)
        #expect(queue.next() == 2)
        #expect(queue.isIdle(besides: 1) && !queue.isIdle(besides: 0))
    }
}
