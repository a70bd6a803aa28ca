package import CallControl
package import CallRuntime
package import Primitives
import Synchronization

/// The users, and whether they can be read at present: a gateway that cannot log anybody in should be sent no clients.
package final class WatchedUsers: UserRepository {
    private let users: any UserRepository
    private let clock: any RuntimeClock
    private let record = Mutex(ReadingRecord())

    package init(_ users: any UserRepository, clock: any RuntimeClock) {
        self.users = users
        self.clock = clock
    }

    /// Whether reading has not failed several times in a row.
    ///
    /// Once it has failed at all, this tries again by itself, at most once a second: a gateway that is sent no clients would otherwise never
    /// find out that the database is there again.
    package func areReadable() async -> Bool {
        if record.withLock({ $0.shouldTry(at: clock.now) }) {
            // Nobody has this name; the answer does not matter, that there is one does, and is recorded.
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

    package func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        do throws(StorageError) {
            let user = try await users.user(address)
            record.withLock { $0.succeeded() }
            return user
        } catch {
            record.withLock { $0.failed(at: clock.now) }
            throw error
        }
    }

    package func allUsers() async throws(StorageError) -> [StoredUser] { try await users.allUsers() }

    package func add(_ user: StoredUser) async throws(StorageError) { try await users.add(user) }

    package func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        try await users.setPassword(record, of: address)
    }

    package func remove(_ address: UserAddress) async throws(StorageError) { try await users.remove(address) }
}

/// How often in a row something could not be read.
package struct ReadingRecord: Equatable, Sendable {
    /// From so many failures on it counts as failing; one alone may be a moment.
    package static let limit = 3
    /// Between two attempts that are made only to find out.
    package static let interval = Duration.seconds(1)

    private var failures = 0
    private var lastAttempt: MonotonicTime?

    package init() {}

    package var isFailing: Bool { failures >= Self.limit }

    package mutating func succeeded() { self = ReadingRecord() }

    package mutating func failed(at now: MonotonicTime) {
        failures = min(failures + 1, Self.limit)
        lastAttempt = now
    }

    /// Whether it is time to find out; `true` once per interval.
    package mutating func shouldTry(at now: MonotonicTime) -> Bool {
        guard failures > 0, let last = lastAttempt, now - last >= Self.interval else { return false }
        lastAttempt = now
        return true
    }
}
