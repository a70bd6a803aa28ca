import CallControl
import CallRuntime
import Cryptography
import Foundation
import GatewayAPI
import Logging
import Observability
import Primitives
import SignalingServer
import TestSupport
import Testing

@Suite struct `Authentication` {
    private let users = MemoryUsers(["joe": "secret"])
    private let clock = ManualClock()
    private let metrics = GatewayMetrics(version: "test", startTime: 0)
    private let authenticator: Authenticator

    init() {
        var random = SeededRandomSource(seed: 3)
        var configuration = Authenticator.Configuration()
        configuration.defaultDomain = "example.com"
        configuration.passwordCost = PasswordHash.Cost(logN: 4)
        configuration.throttle.claim = .init(burst: 3, interval: .seconds(10))
        authenticator = Authenticator(
            users: users, clock: clock, metrics: metrics,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            random: SeededRandomSource(seed: 4), key: CredentialDigest.Key(using: &random), configuration: configuration
        )
    }

    private func login(_ credentials: String, from source: IPAddress? = IPAddress("192.0.2.1")) async -> Result<
        UserAddress, APIError
    > {
        do throws(APIError) {
            return .success(try await authenticator.authenticate(header(credentials), from: Requester(source)))
        } catch {
            return .failure(error)
        }
    }

    private func code(_ credentials: String, from source: IPAddress? = IPAddress("192.0.2.1")) async -> ErrorCode? {
        if case .failure(let error) = await login(credentials, from: source) { error.code } else { nil }
    }

    @Test func `the record is read once, then again after the revalidation time`() async {
        for _ in 1...5 { #expect(await login("joe:secret") == .success(address("joe"))) }
        #expect(await users.reads == 1)
        clock.advance(by: .seconds(2))
        for _ in 1...5 { #expect(await login("joe:secret") == .success(address("joe"))) }
        #expect(await users.reads == 2)
    }

    /// As on a machine without memory for the hash; `r=1` allows no such N (RFC 7914 §2).
    @Test func `a password that cannot be hashed is nobody's fault, and is asked for again later`() async throws {
        let record = "$scrypt$ln=17,r=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA"
        try await users.add(StoredUser(address: address("ann"), passwordRecord: record))
        for _ in 1...10 { #expect(await code("ann:secret") == .authUnavailable) }
        try await users.setPassword(#require(await users.user(address("joe"))).passwordRecord, of: address("ann"))
        #expect(await login("ann:secret") == .success(address("ann")))
    }

    @Test func `a changed password is refused after the revalidation time at the latest`() async {
        #expect(await login("joe:secret") == .success(address("joe")))
        await users.change("joe", to: "better")
        #expect(await login("joe:better") == .success(address("joe")))
        clock.advance(by: .seconds(2))
        #expect(await code("joe:secret") == .authWrongPassword)
        #expect(await login("joe:better") == .success(address("joe")))
    }

    @Test func `logins beyond the limit are forgotten, the latest last`() {
        var verified = VerifiedCredentials(revalidation: .seconds(2), capacity: 4)
        var random = SeededRandomSource(seed: 5)
        let key = CredentialDigest.Key(using: &random)
        for number in 1...9 {
            clock.advance(by: .seconds(1))
            verified.insert(
                key.digest("user \(number)"), of: address("joe"), checkedAgainst: key.mark(of: "record"),
                readAt: clock.now)
        }
        let found = (1...9).filter { verified.find(key.digest("user \($0)"), at: clock.now) != .unknown }
        #expect(found.last == 9)
        #expect((2...4).contains(found.count))
    }

    @Test func `a removed user is refused after the revalidation time at the latest`() async throws {
        #expect(await login("joe:secret") == .success(address("joe")))
        try await users.remove(address("joe"))
        clock.advance(by: .seconds(2))
        #expect(await code("joe:secret") == .authWrongPassword)
    }

    @Test func `a password that was changed here is refused at once`() async {
        #expect(await login("joe:secret") == .success(address("joe")))
        await users.change("joe", to: "better")
        await authenticator.accountsChanged()
        #expect(await code("joe:secret") == .authWrongPassword)
        #expect(await login("joe:better") == .success(address("joe")))
    }

    @Test func `a record that was being read while accounts changed does not count`() {
        var verified = VerifiedCredentials(revalidation: .seconds(2), capacity: 4)
        var random = SeededRandomSource(seed: 5)
        let key = CredentialDigest.Key(using: &random)
        let (digest, record) = (key.digest("joe"), key.mark(of: "record"))
        let began = clock.now
        clock.advance(by: .milliseconds(1))
        verified.doubt(at: clock.now)
        clock.advance(by: .milliseconds(1))
        verified.insert(digest, of: address("joe"), checkedAgainst: record, readAt: began)
        let (doubted, isFirst) = (verified.find(digest, at: clock.now), verified.confirm(digest, readAt: clock.now))
        let confirmed = verified.find(digest, at: clock.now)
        #expect(doubted == .knownFor(address("joe"), record: record))
        #expect(!isFirst && confirmed == .known(address("joe")))
    }

    @Test func `a user with an auth name logs in with it, and not with the address`() async throws {
        await users.change("ann", to: "hidden")
        try await users.setAuthName(AuthName("liddell"), of: address("ann"))
        #expect(await login("liddell:hidden") == .success(address("ann")))
        #expect(await login("Liddell:hidden") == .success(address("ann")))
        #expect(await code("liddell:wrong") == .authWrongPassword)
        for name in ["ann", "ann@example.com", "liddell@example.com"] {
            #expect(await code("\(name):hidden", from: IPAddress("192.0.2.2")) == .authWrongPassword, "\(name)")
        }
    }

    @Test func `a remembered login ends with its auth name`() async throws {
        #expect(await login("joe:secret") == .success(address("joe")))
        try await users.setAuthName(AuthName("liddell"), of: address("joe"))
        clock.advance(by: .seconds(2))
        #expect(await code("joe:secret") == .authWrongPassword)
        #expect(await login("liddell:secret") == .success(address("joe")))
        try await users.setAuthName(nil, of: address("joe"))
        clock.advance(by: .seconds(2))
        #expect(await code("liddell:secret") == .authWrongPassword)
        #expect(await login("joe:secret") == .success(address("joe")))
    }

    @Test func `guesses at an auth name and at its account are counted together`() async throws {
        await users.change("ann", to: "hidden")
        try await users.setAuthName(AuthName("liddell"), of: address("ann"))
        for guess in ["liddell:1", "ann:2", "ann@example.com:3"] { #expect(await code(guess) == .authWrongPassword) }
        #expect(await code("liddell:hidden") == .authRateLimited)
    }

    @Test func `unknown users and wrong passwords get the same answer`() async {
        guard case .failure(let wrong) = await login("joe:guess"), case .failure(let unknown) = await login("eve:guess")
        else {
            Issue.record("both are refused")
            return
        }
        #expect(wrong == unknown)
        #expect(metrics.authenticationFailures[.wrongPassword].value == 1)
        #expect(metrics.authenticationFailures[.unknownUser].value == 1)
    }

    @Test(arguments: ["joe", "eve"])
    func `guessing is slowed down, whether or not the user exists`(_ name: String) async {
        for guess in 1...3 { #expect(await code("\(name):\(guess)") == .authWrongPassword) }
        guard case .failure(let error) = await login("\(name):4") else {
            Issue.record("the fourth guess is refused")
            return
        }
        #expect(error.code == .authRateLimited)
        #expect(error.retryAfterSeconds == 10)
        clock.advance(by: .seconds(10))
        #expect(await code("\(name):5") == .authWrongPassword)
    }

    @Test func `who is logged in stays so while others guess`() async {
        #expect(await login("joe:secret") == .success(address("joe")))
        for guess in 1...10 { _ = await login("joe:\(guess)") }
        #expect(await code("joe:11") == .authRateLimited)
        #expect(await login("joe:secret") == .success(address("joe")))
    }

    @Test func `who guesses at somebody who is logged in is slowed down no less`() async {
        #expect(await login("joe:secret") == .success(address("joe")))
        let stranger = IPAddress("198.51.100.1")
        for guess in 1...3 { #expect(await code("joe:\(guess)", from: stranger) == .authWrongPassword) }
        // The right guess is answered like all others from there, to the letter.
        #expect(await login("joe:secret", from: stranger) == (await login("joe:4", from: stranger)))
        #expect(await code("joe:secret", from: stranger) == .authRateLimited)
        #expect(await login("joe:secret") == .success(address("joe")))
        clock.advance(by: .seconds(10))
        #expect(await login("joe:secret", from: stranger) == .success(address("joe")))
    }

    @Test func `even in the network of somebody who is logged in there is an end to guessing`() async {
        #expect(await login("joe:secret") == .success(address("joe")))
        for guess in 1...700 { _ = await login("joe:\(guess)") }
        #expect(await code("joe:secret") == .authRateLimited)
        clock.advance(by: .seconds(2))
        #expect(await login("joe:secret") == .success(address("joe")))
    }

    @Test func `an account that is attacked stays open for its owner from elsewhere`() async {
        #expect(await login("joe:secret", from: IPAddress("127.0.0.3")) == .success(address("joe")))
        for guess in 1...50 { _ = await login("joe:\(guess)", from: IPAddress("127.0.0.2")) }
        #expect(await code("joe:51", from: IPAddress("127.0.0.2")) == .authRateLimited)
        // Nothing is remembered of these credentials: they are written in another way.
        #expect(await login("joe@example.com:secret", from: IPAddress("127.0.0.3")) == .success(address("joe")))
        #expect(await login("joe@example.com:secret", from: IPAddress("127.0.0.4")) == .success(address("joe")))
    }

    @Test func `equal credentials at the same time are checked once`() async {
        let results = await withTaskGroup(of: Result<UserAddress, APIError>.self) { group in
            for _ in 1...20 { group.addTask { await login("joe:secret") } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(results.count == 20)
        #expect(results.allSatisfy { $0 == .success(address("joe")) })
        #expect(await users.reads == 1)
    }

    @Test func `a storage that fails is no wrong password`() async {
        await users.set(failure: .failed("disk"))
        for _ in 1...5 { #expect(await code("joe:secret") == .authUnavailable) }
        await users.set(failure: nil)
        #expect(await login("joe:secret") == .success(address("joe")))
    }

    @Test(
        arguments: [
            (nil, .authMissing),
            ("Bearer abc", .authUnsupportedScheme),
            ("Basic", .authMalformed),
            ("Basic !!!", .authMalformed),
            ("Basic " + Data("nocolon".utf8).base64EncodedString(), .authMalformed),
            ("Basic " + Data([0xFF, 0x3A, 0x61]).base64EncodedString(), .authMalformed),
            ("Basic " + Data(":secret".utf8).base64EncodedString(), .authMalformed),
        ] as [(String?, ErrorCode)])
    func `headers that are none`(_ header: String?, _ code: ErrorCode) async {
        await #expect(throws: APIError.self) { try await authenticator.authenticate(header, from: Requester(nil)) }
        do {
            _ = try await authenticator.authenticate(header, from: Requester(nil))
        } catch {
            #expect(error.code == code)
        }
    }
}

/// What a client sends for `user:password`.
func header(_ credentials: String) -> String { "Basic " + Data(credentials.utf8).base64EncodedString() }
