import CallControl
import CallRuntime
import Cryptography
import GatewayAPI
import Logging
import Observability
import Primitives
import Registration
import SignalingServer
import TestSupport
import Testing

/// Logins that wait for the slow hash while the one before them is under way.
@Suite struct `Waiting logins` {
    private let users = GatedUsers()
    private let clock = ManualClock()
    private let metrics = GatewayMetrics(version: "test", startTime: 0)
    private let authenticator: Authenticator

    init() {
        var random = SeededRandomSource(seed: 3)
        var configuration = Authenticator.Configuration()
        configuration.defaultDomain = "example.com"
        configuration.passwordCost = PasswordHash.Cost(logN: 4)
        configuration.queue.threads = 1
        authenticator = Authenticator(
            users: users, clock: clock, metrics: metrics,
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }),
            random: SeededRandomSource(seed: 4), key: CredentialDigest.Key(using: &random), configuration: configuration
        )
    }

    private func login(_ credentials: String, _ requester: Requester) async -> ErrorCode? {
        do throws(APIError) {
            _ = try await authenticator.authenticate(header(credentials), from: requester)
            return nil
        } catch {
            return error.code
        }
    }

    /// Until so many wait for a turn.
    private func waits(_ count: Int64) async {
        while metrics.passwordChecksWaiting.value != count { await Task.yield() }
    }

    @Test func `a check whose client has gone is not made`() async {
        let asked = Counter()
        await withTaskGroup(of: ErrorCode?.self) { group in
            group.addTask { await login("joe:secret", Requester(IPAddress("192.0.2.1"))) }
            await users.started()
            group.addTask {
                await login(
                    "ann:wrong",
                    Requester(IPAddress("192.0.2.2")) {
                        asked.increment()
                        return false
                    })
            }
            group.addTask { await login("eve:wrong", Requester(IPAddress("192.0.2.3"))) }
            await waits(2)
            clock.advance(by: .seconds(1))
            await users.open()
            await group.waitForAll()
        }
        #expect(asked.value == 1)
        #expect(metrics.passwordChecks[.abandoned].value == 1)
        #expect(metrics.passwordChecks[.wrong].value == 1)
        #expect(metrics.passwordChecks[.right].value == 1)
    }

    @Test func `a check is made as long as one of those who asked is there`() async {
        await withTaskGroup(of: ErrorCode?.self) { group in
            group.addTask { await login("joe:secret", Requester(IPAddress("192.0.2.1"))) }
            await users.started()
            group.addTask { await login("ann:hidden", Requester(IPAddress("192.0.2.2")) { false }) }
            await waits(1)
            group.addTask { await login("ann:hidden", Requester(IPAddress("192.0.2.2"))) }
            while await authenticator.requesterCount(header("ann:hidden")) < 2 { await Task.yield() }
            clock.advance(by: .seconds(1))
            await users.open()
            await group.waitForAll()
        }
        #expect(metrics.passwordChecks[.right].value == 2)
    }

    @Test func `of many names at once from one address a few are hashed, and the others told when to come back`() async
    {
        let codes = await withTaskGroup(of: ErrorCode?.self) { group in
            group.addTask { await login("joe:secret", Requester(IPAddress("192.0.2.1"))) }
            await users.started()
            for number in 1...300 {
                group.addTask { await login("name\(number):guess", Requester(IPAddress("192.0.2.2"))) }
            }
            await waits(4)
            while metrics.passwordChecks[.postponed].value < 296 { await Task.yield() }
            // Right logins from elsewhere have four checks of the attacker's before them at most; here one.
            group.addTask { await login("ann:hidden", Requester(IPAddress("192.0.2.3"))) }
            await waits(5)
            await users.open()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(codes.filter { $0 == nil }.count == 2)
        #expect(codes.filter { $0 == .authBusy }.count == 296)
        #expect(metrics.passwordChecks[.wrong].value == 4)
        #expect(await users.order.firstIndex(of: address("ann")) == 2)
    }

    @Test func `whoever waits when the gateway stops is told so`() async {
        await withTaskGroup(of: ErrorCode?.self) { group in
            group.addTask { await login("joe:secret", Requester(IPAddress("192.0.2.1"))) }
            await users.started()
            group.addTask { await login("ann:hidden", Requester(IPAddress("192.0.2.2"))) }
            await waits(1)
            await authenticator.shutdown()
            #expect(await group.next() == .authUnavailable)
            await users.open()
            await group.waitForAll()
        }
    }
}

/// Users whose first record takes until somebody says so.
private actor GatedUsers: UserRepository {
    private let users = MemoryUsers(["joe": "secret", "ann": "hidden"])
    private var isOpen = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    /// Whose records were asked for, in order.
    private(set) var order: [UserAddress] = []

    /// Returns when the first record has been asked for.
    func started() async { while order.isEmpty { await Task.yield() } }

    func open() {
        isOpen = true
        for continuation in waiting { continuation.resume() }
        waiting = []
    }

    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        order.append(address)
        if !isOpen { await withCheckedContinuation { waiting.append($0) } }
        return try await users.user(address)
    }

    func user(named name: AuthName) async throws(StorageError) -> StoredUser? { try await users.user(named: name) }
    func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError) {
        try await users.setAuthName(name, of: address)
    }
    func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser] {
        Array(try await allUsers().filter(query.finds).prefix(limit))
    }

    func identities() async throws(StorageError) -> [UserAddress: AccountIdentity] {
        Dictionary(try await allUsers().map { ($0.address, $0.identity) }) { first, _ in first }
    }

    func allUsers() async throws(StorageError) -> [StoredUser] { try await users.allUsers() }
    func add(_ user: StoredUser) async throws(StorageError) { try await users.add(user) }
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        try await users.setPassword(record, of: address)
    }
    func upgradePassword(from old: String, to new: String, of address: UserAddress) async throws(StorageError) -> Bool {
        try await users.upgradePassword(from: old, to: new, of: address)
    }
    func remove(_ address: UserAddress) async throws(StorageError) { try await users.remove(address) }
}
