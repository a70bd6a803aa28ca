import CallControl
import CallRuntime
import Observability
import Primitives
import Push
import PushDelivery
import Registration
import Sockets
import TestSupport
import Testing

/// The owner of the registrations.
@Suite struct `The directory of registrations` {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let bob = UserAddress(parsing: "bob@example.com")!
    private let users = SomeUsers([alice: 1, bob: 2])
    private let journal = EntryJournal()
    private let metrics = GatewayMetrics(version: "test", startTime: 0)

    private func directory(restoring stored: [StoredPushRegistration] = []) -> PushDirectory {
        PushDirectory(
            limit: 3, restoring: stored, users: users, journal: journal, clock: FixedClock(), metrics: metrics,
            random: SeededRandomSource(seed: 1))
    }

    private static func registration(
        _ token: String, of user: UserAddress = alice, services: [String] = ["call"], correlator: String? = nil
    ) throws -> PushRegistration {
        try PushRegistration(
            id: "", user: user.text, bundleID: "com.example.app", realm: "default", services: services,
            clientCorrelator: correlator, target: .google(token: Redacted(token)))
    }

    @Test func `devices that want calls are known at once`() async throws {
        let directory = directory()
        #expect(directory.devices(of: Self.alice, account: nil).isEmpty)
        let phone = try await directory.register(Self.registration("t", correlator: "phone"), of: Self.alice)
        _ = try await directory.register(Self.registration("u", services: ["gone"]), of: Self.alice)
        #expect(directory.devices(of: Self.alice, account: nil) == [SleepingDevice(phone, clientCorrelator: "phone")])
        #expect(metrics.pushRegistrations.value == 2)
        // Another user logs in on the same telephone.
        let other = try await directory.register(Self.registration("t", of: Self.bob), of: Self.bob)
        #expect(directory.devices(of: Self.alice, account: nil).isEmpty)
        #expect(directory.devices(of: Self.bob, account: nil) == [SleepingDevice(other, clientCorrelator: nil)])
        #expect(await directory.remove(other, of: Self.alice, at: nil) == nil)
        #expect(await directory.remove(other, of: Self.bob, at: nil)?.user == Self.bob.text)
        #expect(await directory.remove(other, of: Self.bob, at: nil) == nil)
        #expect(directory.devices(of: Self.bob, account: nil).isEmpty)
    }

    @Test func `devices that no push can wake are not woken`() async throws {
        let directory = PushDirectory(
            limit: 9, providers: [.apple], users: users, journal: journal, clock: FixedClock(), metrics: metrics,
            random: SeededRandomSource(seed: 1))
        func register(_ target: PushRegistration.Target, correlator: String) async throws -> PushDeviceID {
            try await directory.register(
                PushRegistration(
                    id: "", user: Self.alice.text, bundleID: "com.example.app", realm: "default", services: ["call"],
                    clientCorrelator: correlator, target: target), of: Self.alice)
        }
        _ = try await register(.google(token: Redacted("t")), correlator: "of another provider")
        let standard = PushRegistration.AppleTokens(voip: nil, standard: Redacted("ab"), isProduction: true)
        let silent = try await register(.apple(standard), correlator: "without a token for calls")
        let voip = PushRegistration.AppleTokens(voip: Redacted("cd"), standard: nil, isProduction: true)
        let phone = try await register(.apple(voip), correlator: "phone")
        #expect(directory.devices(of: Self.alice, account: nil).map(\.id) == [phone])
        #expect(directory.devices(of: Self.alice, account: nil, forSilent: .subscription).map(\.id) == [silent])
    }

    @Test func `silent pushes go to devices that can take them, those about voice messages to who asks for them`()
        async throws
    {
        let directory = directory()
        var ids: [PushDeviceID] = []
        for (number, services) in [["call"], ["MWI"], ["call", "event:message-summary"]].enumerated() {
            ids.append(
                try await directory.register(Self.registration("t\(number)", services: services), of: Self.alice))
        }
        func devices(_ use: SilentPushUse, _ user: UserAddress = Self.alice) -> [PushDeviceID] {
            directory.devices(of: user, account: nil, forSilent: use).map(\.id)
        }
        #expect(devices(.subscription) == ids && devices(.messageWaiting) == Array(ids.dropFirst()))
        // Apple's service has no silent push for the token of calls.
        for (standard, count) in [(nil, 0), ("cd34", 1)] as [(String?, Int)] {
            let tokens = PushRegistration.AppleTokens(
                voip: Redacted("ab12"), standard: standard.map { Redacted($0) }, isProduction: true)
            _ = try await directory.register(
                PushRegistration(
                    id: "", user: Self.bob.text, bundleID: "com.example.app", realm: "default",
                    services: ["call", "mwi"], clientCorrelator: "phone", target: .apple(tokens)), of: Self.bob)
            #expect(
                devices(.subscription, Self.bob).count == count && devices(.messageWaiting, Self.bob).count == count)
            #expect(directory.devices(of: Self.bob, account: nil).count == 1)
        }
    }

    @Test func `what is answered is in the journal, and the next process has it`() async throws {
        let first = directory()
        let id = try await first.register(Self.registration("t", services: ["CALL"]), of: Self.alice)
        let entries = journal.entries
        guard case .pushRegistration(.registered(let stored))? = entries.first, entries.count == 1 else {
            Issue.record("\(entries)")
            return
        }
        #expect(stored.account == 1 && stored.registration.id == id.rawValue)
        let second = directory(restoring: [stored])
        #expect(second.devices(of: Self.alice, account: nil) == [SleepingDevice(id, clientCorrelator: nil)])
        #expect(await second.registrations(of: Self.alice) == [stored])
    }

    @Test func `a user without an account registers nothing`() async throws {
        let directory = directory()
        let nobody = UserAddress(parsing: "nobody@example.com")!
        await #expect(throws: StorageError.noSuchUser(nobody)) {
            try await directory.register(Self.registration("t", of: nobody), of: nobody)
        }
        #expect(journal.entries.isEmpty)
    }

    @Test func `registrations end with the account`() async throws {
        let directory = directory()
        _ = try await directory.register(Self.registration("t"), of: Self.alice)
        let bobs = try await directory.register(Self.registration("u", of: Self.bob), of: Self.bob)
        users.accounts.withLock { $0[Self.alice] = 9 }
        try await directory.dismissRemovedUsers()
        #expect(directory.devices(of: Self.alice, account: nil).isEmpty)
        #expect(directory.devices(of: Self.bob, account: nil).map(\.id) == [bobs])
        users.accounts.withLock { $0 = [:] }
        try await directory.dismissRemovedUsers()
        #expect(directory.devices(of: Self.bob, account: nil).isEmpty && metrics.pushRegistrations.value == 0)
    }

    @Test func `another account of the address has none of the devices, before they have ended`() async throws {
        let directory = directory()
        let former = try await directory.register(
            Self.registration("t", services: ["call", "mwi"], correlator: "phone"), of: Self.alice)
        let old = try #require(await directory.registrations(of: Self.alice).first).registration
        for account in [nil, AccountIdentity(1)] {
            #expect(directory.devices(of: Self.alice, account: account).map(\.id) == [former])
        }
        #expect(directory.devices(of: Self.alice, account: AccountIdentity(9)).isEmpty)
        for use in SilentPushUse.allCases {
            #expect(directory.devices(of: Self.alice, account: AccountIdentity(1), forSilent: use).count == 1)
            #expect(directory.devices(of: Self.alice, account: AccountIdentity(9), forSilent: use).isEmpty)
        }
        // The first device of the new account ends them, and does not become one of them.
        users.accounts.withLock { $0[Self.alice] = 9 }
        let new = try await directory.register(Self.registration("u", correlator: "phone"), of: Self.alice)
        #expect(new != former && directory.current(old) == nil)
        #expect(directory.devices(of: Self.alice, account: AccountIdentity(9)).map(\.id) == [new])
        #expect(await directory.registrations(of: Self.alice).map(\.registration.id) == [new.rawValue])
    }

    @Test func `a registration is found as it is now, and only by its user`() async throws {
        let directory = directory()
        let phone = try await directory.register(Self.registration("old", correlator: "phone"), of: Self.alice)
        let old = try #require(await directory.registrations(of: Self.alice).first).registration
        #expect(directory.current(old) == old)
        #expect(try await directory.register(Self.registration("new", correlator: "phone"), of: Self.alice) == phone)
        #expect(directory.current(old)?.target == .google(token: Redacted("new")))
        // Another user logs in on the same telephone.
        _ = try await directory.register(Self.registration("new", of: Self.bob), of: Self.bob)
        #expect(directory.current(old) == nil)
    }

    @Test func `pages go through all names`() async throws {
        let directory = directory()
        for number in 0..<3 {
            _ = try await directory.register(Self.registration("t\(number)"), of: Self.alice)
            _ = try await directory.register(Self.registration("u\(number)", of: Self.bob), of: Self.bob)
        }
        var names: [String] = []
        while true {
            let page = await directory.page(of: nil, after: names.last.map { PushDeviceID($0) }, limit: 2)
            if page.isEmpty { break }
            names += page.map(\.registration.id)
        }
        #expect(names.count == 6 && names == names.sorted())
        #expect(
            await directory.page(of: Self.bob, after: nil, limit: 9).allSatisfy {
                $0.registration.user == Self.bob.text
            })
    }
}

/// Accounts in memory.
final class SomeUsers: UserRepository {
    let accounts: Lock<[UserAddress: Int64]>

    init(_ accounts: [UserAddress: Int64]) { self.accounts = Lock(accounts) }

    func user(_ address: UserAddress) async -> StoredUser? {
        accounts.withLock { $0[address] }.map {
            StoredUser(address: address, passwordRecord: "", identity: AccountIdentity($0))
        }
    }
    func user(named name: AuthName) async -> StoredUser? { nil }
    func allUsers() async -> [StoredUser] { [] }
    func search(_ query: DirectoryQuery, limit: Int) async -> [StoredUser] { [] }
    func identities() async -> [UserAddress: AccountIdentity] {
        accounts.withLock { $0.mapValues { AccountIdentity($0) } }
    }
    func add(_ user: StoredUser) async {}
    func setAuthName(_ name: AuthName?, of address: UserAddress) async {}
    func setPassword(_ record: String, of address: UserAddress) async {}
    func upgradePassword(from old: String, to new: String, of address: UserAddress) async -> Bool { false }
    func remove(_ address: UserAddress) async {}
}

/// A journal in memory, in which everything is durable at once.
final class EntryJournal: Journal {
    private let log = Lock<[JournalEntry]>([])

    var entries: [JournalEntry] { log.withLock { $0 } }
    var isFailing: Bool { false }
    func append(_ entries: [JournalEntry]) { log.withLock { $0 += entries } }
    func suspend() {}
    func resume() {}
    func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    func durable() async {}
}

/// A clock that stands still.
struct FixedClock: RuntimeClock {
    var now: MonotonicTime { .zero }
    var epochMilliseconds: Int64 { 1_700_000_000_000 }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {}
}
