package import CallControl
package import CallRuntime
import GRDB
package import Registration

/// The table `user`. Accounts that are disabled are only seen by `UserAccounts`.
package struct UserStore: UserRepository {
    let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) {
        self.queue = queue
    }

    /// Reads a user; `nil` if there is no such user.
    ///
    /// - Throws: `StorageError.failed`.
    package func user(_ address: UserAddress) async throws(StorageError) -> StoredUser? {
        try await storageErrors(at: queue.path) {
            // Every subscription reads its user. A single statement needs no transaction, and is prepared once.
            try await queue.writeWithoutTransaction { database in
                let statement = try database.cachedStatement(
                    sql: "SELECT * FROM user WHERE address = ? AND NOT disabled")
                return try UserRow.fetchOne(statement, arguments: [address.text])
            }?.user()
        }
    }

    /// Reads the user who logs in with this auth name; `nil` if there is no such user.
    ///
    /// - Throws: `StorageError.failed`.
    package func user(named name: AuthName) async throws(StorageError) -> StoredUser? {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try UserRow.enabled.filter(Column("authName") == name.text).fetchOne(database)
            }?.user()
        }
    }

    /// All users in the order of their addresses, without those that are disabled.
    ///
    /// - Throws: `StorageError.failed`.
    package func allUsers() async throws(StorageError) -> [StoredUser] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try UserRow.enabled.order(Column("address")).fetchAll(database)
            }.map { try $0.user() }
        }
    }

    /// Users whom a query finds, in the order of their addresses, at most so many.
    ///
    /// - Throws: `StorageError.failed`.
    package func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                var found: [StoredUser] = []
                let rows = try UserRow.enabled.order(Column("address")).fetchCursor(database)
                while found.count < limit, let row = try rows.next() {
                    let user = try row.user()
                    if query.finds(user) { found.append(user) }
                }
                return found
            }
        }
    }

    /// The addresses of all users, and which account each has.
    ///
    /// - Throws: `StorageError.failed`.
    package func identities() async throws(StorageError) -> [UserAddress: AccountIdentity] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                var found: [UserAddress: AccountIdentity] = [:]
                let rows = try Row.fetchCursor(database, sql: "SELECT address, identity FROM user WHERE NOT disabled")
                while let row = try rows.next() {
                    guard let address = UserAddress(parsing: row["address"] as String) else { continue }
                    found[address] = AccountIdentity(row["identity"])
                }
                return found
            }
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
    /// - Throws: `StorageError.userExists` if the address is taken; `StorageError.authNameTaken` if another user logs
    ///   in with that name; `StorageError.failed`.
    package func add(_ user: StoredUser) async throws(StorageError) {
        let row = UserRow(user)
        try await storageErrors(at: queue.path) {
            do {
                try await queue.write { database in
                    try Self.checkName(user.authName, of: user.address, database)
                    try row.insert(database)
                    try PublicEventRows.setFloor(of: user.address, database)
                }
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY {
                throw StorageError.userExists(user.address)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                throw user.authName.map { StorageError.authNameTaken($0) } ?? .failed("\(error)")
            }
        }
    }

    /// Gives a user an auth name, or takes it away, and forgets the user's remembered credentials.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.authNameTaken`; `StorageError.failed`.
    package func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError) {
        try await change(address) { database in
            do {
                try Self.checkName(name, of: address, database)
                try database.execute(sql: "DELETE FROM login WHERE address = ?", arguments: [address.text])
                return try UserRow.filter(key: address.text)
                    .updateAll(database, Column("authName").set(to: name?.text))
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                throw name.map { StorageError.authNameTaken($0) } ?? .failed("\(error)")
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

    /// Replaces the password record of a user by another one of the same password, if it is still the first one.
    ///
    /// Remembered credentials stay: whoever asks for this writes them down anew.
    ///
    /// - Returns: whether the record was replaced.
    /// - Throws: `StorageError.failed`.
    package func upgradePassword(
        from old: String, to new: String, of address: UserAddress
    ) async throws(StorageError) -> Bool {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try UserRow.filter(key: address.text).filter(Column("passwordRecord") == old)
                    .updateAll(database, Column("passwordRecord").set(to: new)) > 0
            }
        }
    }

    /// Removes a user together with everything remembered of the user's logins.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.failed`.
    package func remove(_ address: UserAddress) async throws(StorageError) {
        try await change(address) { database in
            // Who gets the address next must not see whom this user called, nor what was written to this user.
            try database.execute(sql: "DELETE FROM callRecord WHERE user = ?", arguments: [address.text])
            try ServiceRows.removeAll(of: address, database)
            try OwedPushRows.removeAll(of: address, database)
            return try UserRow.filter(key: address.text).deleteAll(database)
        }
    }

    /// Throws `authNameTaken` if a name without domain would mean two users: the auth name is the user part of another
    /// address, or the user part of this address is the auth name of another user.
    static func checkName(_ name: AuthName?, of address: UserAddress, _ database: Database) throws {
        let isUserPart = try name.map { name in
            try Bool.fetchOne(
                database,
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM user WHERE substr(address, 1, instr(address, '@') - 1) = ? AND address <> ?)
                    """, arguments: [name.text, address.text])
        }
        if let name, isUserPart == true { throw StorageError.authNameTaken(name) }
        guard let own = AuthName(String(address.text.prefix { $0 != "@" })) else { return }
        let holder = try UserRow.filter(Column("authName") == own.text && Column("address") != address.text)
            .fetchOne(database)
        if holder != nil { throw StorageError.authNameTaken(own) }
    }

    /// Runs a statement that must change exactly the row of `address`.
    func change(_ address: UserAddress, _ statement: @escaping @Sendable (Database) throws -> Int)
        async throws(StorageError)
    {
        try await storageErrors(at: queue.path) {
            guard try await queue.write({ try statement($0) }) > 0 else { throw StorageError.noSuchUser(address) }
        }
    }
}

/// A row of the table as SQLite has it.
struct UserRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"

    /// The accounts that may log in.
    static var enabled: QueryInterfaceRequest<UserRow> { filter(Column("disabled") == 0) }

    var address: String
    var passwordRecord: String
    var displayName: String
    var authName: String?
    /// A 0 that is inserted is replaced by a random number, by the database.
    var identity: Int64

    init(_ user: StoredUser) {
        authName = user.authName?.text
        address = user.address.text
        passwordRecord = user.passwordRecord
        displayName = user.displayName
        identity = user.identity.rawValue
    }

    func user() throws(StorageError) -> StoredUser {
        guard let address = UserAddress(parsing: address) else {
            throw .failed("the database holds a user address that is none: \(address)")
        }
        return StoredUser(
            address: address, passwordRecord: passwordRecord, displayName: displayName,
            authName: authName.flatMap(AuthName.init), identity: AccountIdentity(identity))
    }
}
