package import CallControl
package import CallRuntime
import GRDB

/// The accounts as operators see them.
extension UserStore: UserAccounts {
    /// Accounts that pass a filter, in the order of their addresses.
    ///
    /// - Throws: `StorageError.failed`.
    package func accounts(
        _ filter: AccountFilter, after address: UserAddress?, limit: Int
    ) async throws(StorageError) -> [Account] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                var request = AccountRow.order(Column("address")).limit(limit)
                if let address { request = request.filter(Column("address") > address.text) }
                if !filter.prefix.isEmpty {
                    request = request.filter(
                        sql: "substr(address, 1, ?) = ?", arguments: [filter.prefix.count, filter.prefix])
                }
                if let domain = filter.domain {
                    request = request.filter(sql: "substr(address, instr(address, '@') + 1) = ?", arguments: [domain])
                }
                if let isEnabled = filter.isEnabled { request = request.filter(Column("disabled") == !isEnabled) }
                return try request.fetchAll(database)
            }.map { try $0.account() }
        }
    }

    /// The account of this address; `nil`: there is none.
    ///
    /// - Throws: `StorageError.failed`.
    package func account(_ address: UserAddress) async throws(StorageError) -> Account? {
        try await storageErrors(at: queue.path) {
            try await queue.read { try AccountRow.filter(Column("address") == address.text).fetchOne($0) }?.account()
        }
    }

    /// Adds accounts, all of them or none.
    ///
    /// - Throws: `AccountFault` with the place in the list of the account that cannot be added.
    package func add(_ accounts: [Account], replacing replaces: Bool) async throws(AccountFault) {
        let path = queue.path
        do {
            try await queue.write { database in
                for (index, account) in accounts.enumerated() {
                    do {
                        try Self.add(account, replacing: replaces, database)
                    } catch let error as StorageError {
                        throw AccountFault(index: index, error: error)
                    }
                }
            }
        } catch let fault as AccountFault {
            throw fault
        } catch {
            throw AccountFault(index: nil, error: StorageError(error, at: path))
        }
    }

    private static func add(_ account: Account, replacing replaces: Bool, _ database: Database) throws {
        let user = account.user
        let exists = try AccountRow.filter(Column("address") == user.address.text).fetchOne(database) != nil
        guard replaces || !exists else { throw StorageError.userExists(user.address) }
        try checkName(user.authName, of: user.address, database)
        do {
            if exists {
                try database.execute(sql: "DELETE FROM login WHERE address = ?", arguments: [user.address.text])
                try AccountRow(account).update(database)
            } else {
                try AccountRow(account).insert(database)
                // Who gets an address must not see whom its user before called.
                try PublicEventRows.setFloor(of: user.address, database)
            }
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
            throw user.authName.map { StorageError.authNameTaken($0) } ?? .failed("\(error)")
        }
    }

    /// Changes an account, and forgets the user's remembered credentials unless only the display name changes.
    ///
    /// - Throws: `StorageError.noSuchUser`; `StorageError.authNameTaken`; `StorageError.failed`.
    package func change(_ address: UserAddress, _ change: AccountChange) async throws(StorageError) {
        try await self.change(address) { database in
            guard var row = try AccountRow.filter(Column("address") == address.text).fetchOne(database) else {
                return 0
            }
            var credentialsChange = false
            if let record = change.passwordRecord { (row.passwordRecord, credentialsChange) = (record, true) }
            if let name = change.displayName { row.displayName = name }
            if let isEnabled = change.isEnabled { (row.disabled, credentialsChange) = (!isEnabled, true) }
            if let name = change.authName {
                try Self.checkName(name, of: address, database)
                (row.authName, credentialsChange) = (name?.text, true)
            }
            if credentialsChange {
                try database.execute(sql: "DELETE FROM login WHERE address = ?", arguments: [address.text])
            }
            do {
                try row.update(database)
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_UNIQUE {
                throw (change.authName ?? nil).map { StorageError.authNameTaken($0) } ?? .failed("\(error)")
            }
            return 1
        }
    }
}

/// A row of the table `user` with all of its columns.
private struct AccountRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "user"

    var address: String
    var passwordRecord: String
    var displayName: String
    var authName: String?
    var disabled: Bool

    init(_ account: Account) {
        address = account.user.address.text
        passwordRecord = account.user.passwordRecord
        displayName = account.user.displayName
        authName = account.user.authName?.text
        disabled = !account.isEnabled
    }

    func account() throws(StorageError) -> Account {
        guard let address = UserAddress(parsing: address) else {
            throw .failed("the database holds a user address that is none: \(address)")
        }
        let user = StoredUser(
            address: address, passwordRecord: passwordRecord, displayName: displayName,
            authName: authName.flatMap(AuthName.init))
        return Account(user, isEnabled: !disabled)
    }
}
