package import CallControl
package import CallRuntime
package import Primitives
package import Registration
import Synchronization

/// The stored users, together with whether they can be read at present. Load balancers should send no
/// clients to a gateway that cannot log in users.
package final class WatchedUsers: UserRepository {
    private let users: any UserRepository
    private let clock: any RuntimeClock
    private let record = Mutex(ReadingRecord())

    /// Watches a repository.
    package init(_ users: any UserRepository, clock: any RuntimeClock) {
        self.users = users
        self.clock = clock
    }

    /// Whether the users can be read: `false` after several failures in a row.
    ///
    /// After a failure this reads by itself, at most once a second. Otherwise a gateway that is sent no clients would
    /// never notice that the database works again.
    package func areReadable() async -> Bool {
        if record.withLock({ $0.shouldTry(at: clock.now) }) {
            // No user has this name. Only whether the database answers matters, and that is recorded.
            do throws(StorageError) { _ = try await user(Self.nobody) } catch {}
        }
        return record.withLock { !$0.isFailing }
    }

    private static let nobody: UserAddress = {
        guard let address = UserAddress(parsing: "nobody@orbweaver.invalid") else {
            preconditionFailure("this is an address")
        }
        return address
    }()

    /// Reads a user, and records whether that succeeded.
    ///
    /// - Returns: `nil` if there is no such user.
    /// - Throws: `StorageError.failed` if the database refuses.
    package func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        try await recording { () async throws(StorageError) in try await users.user(address) }
    }

    private func recording(
        _ read: () async throws(StorageError) -> StoredUser?
    ) async throws(StorageError) -> StoredUser? {
        do throws(StorageError) {
            let user = try await read()
            record.withLock { $0.succeeded() }
            return user
        } catch {
            record.withLock { $0.failed(at: clock.now) }
            throw error
        }
    }

    /// Reads the user who logs in with this auth name, and records whether that succeeded.
    ///
    /// - Returns: `nil` if there is no such user.
    /// - Throws: `StorageError.failed` if the database refuses.
    package func user(named name: AuthName) async throws(StorageError) -> StoredUser? {
        try await recording { () async throws(StorageError) in try await users.user(named: name) }
    }

    /// All users; passed on to the repository.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    package func allUsers() async throws(StorageError) -> [StoredUser] { try await users.allUsers() }

    /// Users whom a query finds; passed on to the repository.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    package func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser] {
        try await users.search(query, limit: limit)
    }

    /// The addresses of all users, and which account each has; passed on to the repository.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    package func identities() async throws(StorageError) -> [UserAddress: AccountIdentity] {
        try await users.identities()
    }

    /// Adds a user; passed on to the repository.
    ///
    /// - Throws: `StorageError.userExists` if the address is taken, `authNameTaken` if the auth name is, `failed` if
    ///   the database refuses.
    package func add(_ user: StoredUser) async throws(StorageError) { try await users.add(user) }

    /// Gives a user an auth name, or takes it away; passed on to the repository.
    ///
    /// - Throws: `StorageError.noSuchUser` if there is none, `authNameTaken` if another user has the name, `failed` if
    ///   the database refuses.
    package func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError) {
        try await users.setAuthName(name, of: address)
    }

    /// Replaces the password record of a user; passed on to the repository.
    ///
    /// - Throws: `StorageError.noSuchUser` if there is none, `failed` if the database refuses.
    package func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        try await users.setPassword(record, of: address)
    }

    /// Replaces the password record of a user by another one of the same password; passed on to the repository.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    package func upgradePassword(
        from old: String, to new: String, of address: UserAddress
    ) async throws(StorageError) -> Bool {
        try await users.upgradePassword(from: old, to: new, of: address)
    }

    /// Removes a user; passed on to the repository.
    ///
    /// - Throws: `StorageError.noSuchUser` if there is none, `failed` if the database refuses.
    package func remove(_ address: UserAddress) async throws(StorageError) { try await users.remove(address) }
}

/// How many times in a row reading has failed.
package struct ReadingRecord: Equatable, Sendable {
    /// The number of failures in a row from which the database counts as unreadable. A single failure may pass.
    package static let limit = 3
    /// The time between two attempts that are made only to find out.
    package static let interval = Duration.seconds(1)

    private var failures = 0
    private var lastAttempt: MonotonicTime?

    /// Makes a record without failures.
    package init() {}

    /// Whether reading has failed ``limit`` times in a row.
    package var isFailing: Bool { failures >= Self.limit }

    /// Notes a success, which ends the failures in a row.
    package mutating func succeeded() { self = ReadingRecord() }

    /// Notes a failure.
    package mutating func failed(at now: MonotonicTime) {
        failures = min(failures + 1, Self.limit)
        lastAttempt = now
    }

    /// Whether it is time to find out; `true` once per ``interval``, and only after a failure.
    package mutating func shouldTry(at now: MonotonicTime) -> Bool {
        guard failures > 0, let last = lastAttempt, now - last >= Self.interval else { return false }
        lastAttempt = now
        return true
    }
}
