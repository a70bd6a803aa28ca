import CallControl
import CallRuntime
import Cryptography
import Registration
import TestSupport

/// Users in memory, with cheap password hashes, counting how often a record is read.
actor MemoryUsers: UserRepository {
    private var users: [UserAddress: StoredUser] = [:]
    private(set) var reads = 0
    var failure: StorageError?
    /// Of ``upgradePassword(from:to:of:)``.
    var upgradeFailure: StorageError?
    /// How often ``upgradePassword(from:to:of:)`` was called, and what it waits for.
    private(set) var upgrades = 0
    private var beforeUpgrade: @Sendable () async -> Void = {}

    init(_ passwords: [String: String]) {
        for (name, password) in passwords { users[address(name)] = stored(name, password) }
    }

    func set(failure: StorageError?) { self.failure = failure }

    func set(upgradeFailure: StorageError?) { self.upgradeFailure = upgradeFailure }

    func set(beforeUpgrade: @escaping @Sendable () async -> Void) { self.beforeUpgrade = beforeUpgrade }

    func change(_ name: String, to password: String) { users[address(name)] = stored(name, password) }

    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        reads += 1
        if let failure { throw failure }
        return users[address]
    }

    func user(named name: AuthName) async throws(StorageError) -> StoredUser? {
        if let failure { throw failure }
        return users.values.first { $0.authName == name }
    }

    func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError) {
        users[address]?.authName = name
    }

    func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser] {
        Array(try await allUsers().filter(query.finds).prefix(limit))
    }

    func identities() async throws(StorageError) -> [UserAddress: AccountIdentity] {
        Dictionary(try await allUsers().map { ($0.address, $0.identity) }) { first, _ in first }
    }

    func allUsers() async throws(StorageError) -> [StoredUser] {
        users.values.sorted { $0.address.text < $1.address.text }
    }
    func add(_ user: StoredUser) async throws(StorageError) { users[user.address] = user }
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        users[address]?.passwordRecord = record
    }
    func upgradePassword(from old: String, to new: String, of address: UserAddress) async throws(StorageError) -> Bool {
        upgrades += 1
        await beforeUpgrade()
        if let upgradeFailure { throw upgradeFailure }
        guard users[address]?.passwordRecord == old else { return false }
        users[address]?.passwordRecord = new
        return true
    }
    func remove(_ address: UserAddress) async throws(StorageError) { users[address] = nil }
}

private func stored(_ name: String, _ password: String) -> StoredUser {
    var random = SeededRandomSource(seed: 1)
    guard let hash = try? PasswordHash(of: password, cost: PasswordHash.Cost(logN: 4), random: &random) else {
        preconditionFailure("a cheap hash can be made")
    }
    return StoredUser(address: address(name), passwordRecord: hash.text)
}
