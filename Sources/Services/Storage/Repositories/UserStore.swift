package import CallControl
package import CallRuntime
import GRDB

/// The table `user`.
package struct UserStore: UserRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) {
        self.queue = queue
    }

    /// Reads a user; `nil` if there is no such user.
    ///
    /// - Throws: `StorageError.failed`.
    package func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try UserRow.fetchOne(database, key: address.text)
            }?.user()
        }
    }

    /// All users in the order of their addresses.
    ///
    /// - Throws: `StorageError.failed`.
    package func allUsers() async throws(StorageError) -> [StoredUser] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try UserRow.order(Column("address")).fetchAll(database)
            }.map { try $0.user() }
        }
    }

    /// Whether there are no users.
    package var isEmpty: Bool {
        get async throws(StorageError) {
            try await storageErrors(at: queue.path) { try await queue.read { try UserRow.fetchOne($0) == nil } }
        }
    }

    /// Adds a user.
    ///
    /// - Throws: `StorageError.userExists` if the address is taken; `StorageError.failed`.
    package func add(_ user: StoredUser) async throws(StorageError) {
        let row = UserRow(user)
        try await storageErrors(at: queue.path) {
            do {
                try await queue.write { try row.insert($0) }
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY {
                throw StorageError.userExists(user.address)
            }
        }
    }

    /// Replaces the password record of a user, and forgets the user's remembered credentials.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func setPassword(_ record: String, of address: UserAddress) async throws(StorageError) {
        try await change(address) { database in
            // Remembered credentials would be refused anyhow: they belong to the old record.
            try database.execute(sql: "DELETE FROM login WHERE address = ?", arguments: [address.text])
            return try UserRow.filter(key: address.text).updateAll(database, Column("passwordRecord").set(to: record))
        }
    }

    /// Removes a user together with everything remembered of the user's logins.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func remove(_ address: UserAddress) async throws(StorageError) {
        try await change(address) { database in
            try UserRow.filter(key: address.text).deleteAll(database)
        }
    }

    /// Runs a statement that must change exactly the row of `address`.
    private func change(_ address: UserAddress, _ statement: @escaping @Sendable (Database) throws -> Int)
        async throws(StorageError)
    {
        try await storageErrors(at: queue.path) {
            guard try await queue.write({ try statement($0) }) > 0 else { throw StorageError.noSuchUser(address) }
        }
    }
}

/// A row of the table as SQLite has it.
private struct UserRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"

    var address: String
    var passwordRecord: String
    var displayName: String

    init(_ user: StoredUser) {
        address = user.address.text
        passwordRecord = user.passwordRecord
        displayName = user.displayName
    }

    func user() throws(StorageError) -> StoredUser {
        guard let address = UserAddress(parsing: address) else {
            throw .failed("the database holds a user address that is none: \(address)")
        }
        return StoredUser(address: address, passwordRecord: passwordRecord, displayName: displayName)
    }
}
