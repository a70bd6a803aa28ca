package import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The table `addressBookEntry`. The entries of a user are gone with the user.
package struct AddressBookStore: AddressBookRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) {
        self.queue = queue
    }

    /// The entries of a user, in the order of their nicknames.
    ///
    /// - Throws: `StorageError.failed`.
    package func entries(of user: UserAddress) async throws(StorageError) -> [AddressBookEntry] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try EntryRow.filter(Column("user") == user.text).order(Column("nickname")).fetchAll(database)
            }.map { try $0.entry() }
        }
    }

    /// The entry of this nickname; `nil` if the user has none.
    ///
    /// - Throws: `StorageError.failed`.
    package func entry(_ nickname: String, of user: UserAddress) async throws(StorageError) -> AddressBookEntry? {
        try await storageErrors(at: queue.path) {
            try await queue.read { try EntryRow.row(nickname, of: user).fetchOne($0) }?.entry()
        }
    }

    /// Adds entries, all or none.
    ///
    /// - Throws: `exists`, `full`; `storage` with `noSuchUser` or `failed`.
    package func add(
        _ entries: [AddressBookEntry], to user: UserAddress, limit: Int
    ) async throws(AddressBookError) {
        let rows = try entries.map { entry throws(AddressBookError) in try EntryRow(entry, of: user) }
        try await change { database in
            let sql = "SELECT EXISTS (SELECT 1 FROM user WHERE address = ?)"
            guard try Bool.fetchOne(database, sql: sql, arguments: [user.text]) == true else {
                throw StorageError.noSuchUser(user)
            }
            for row in rows {
                guard try EntryRow.row(row.nickname, of: user).isEmpty(database) else {
                    throw AddressBookError.exists(row.nickname)
                }
                try row.insert(database)
            }
            guard try EntryRow.filter(Column("user") == user.text).fetchCount(database) <= limit else {
                throw AddressBookError.full(limit: limit)
            }
        }
    }

    /// Puts an entry in the place of another, which may have another nickname.
    ///
    /// - Throws: `noSuchEntry`, `exists`; `storage` with `failed`.
    package func replace(
        _ nickname: String, with entry: AddressBookEntry, of user: UserAddress
    ) async throws(AddressBookError) {
        let row = try EntryRow(entry, of: user)
        try await change { database in
            guard try EntryRow.row(nickname, of: user).deleteAll(database) > 0 else {
                throw AddressBookError.noSuchEntry(nickname)
            }
            guard try EntryRow.row(row.nickname, of: user).isEmpty(database) else {
                throw AddressBookError.exists(row.nickname)
            }
            try row.insert(database)
        }
    }

    /// Removes an entry.
    ///
    /// - Throws: `noSuchEntry`; `storage` with `failed`.
    package func remove(_ nickname: String, of user: UserAddress) async throws(AddressBookError) {
        try await change { database in
            guard try EntryRow.row(nickname, of: user).deleteAll(database) > 0 else {
                throw AddressBookError.noSuchEntry(nickname)
            }
        }
    }

    /// Makes a change that is kept as a whole, or not at all if it throws.
    private func change(_ body: @escaping @Sendable (Database) throws -> Void) async throws(AddressBookError) {
        do {
            try await queue.write(body)
        } catch let error as AddressBookError {
            throw error
        } catch {
            throw .storage(StorageError(error, at: queue.path))
        }
    }
}

/// A row of the table as SQLite has it.
private struct EntryRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "addressBookEntry"

    var user: String
    var nickname: String
    var isFriend: Bool
    /// A JSON object with the details by name.
    var details: String

    init(_ entry: AddressBookEntry, of user: UserAddress) throws(AddressBookError) {
        self.user = user.text
        nickname = entry.nickname
        isFriend = entry.isFriend
        let named = Dictionary(uniqueKeysWithValues: entry.details.map { ($0.key.rawValue, $0.value) })
        do {
            details = String(decoding: try JSONEncoder().encode(named), as: UTF8.self)
        } catch {
            throw .storage(.failed("an entry of an address book cannot be written: \(error)"))
        }
    }

    /// The row of an entry, if there is one.
    static func row(_ nickname: String, of user: UserAddress) -> QueryInterfaceRequest<EntryRow> {
        filter(Column("user") == user.text && Column("nickname") == nickname)
    }

    /// A detail that this version does not know is left out.
    func entry() throws(StorageError) -> AddressBookEntry {
        do {
            let named = try JSONDecoder().decode([String: String].self, from: Data(details.utf8))
            var known: [AddressBookEntry.Detail: String] = [:]
            for detail in AddressBookEntry.Detail.allCases { known[detail] = named[detail.rawValue] }
            return AddressBookEntry(nickname: nickname, details: known, isFriend: isFriend)
        } catch {
            throw .failed("an entry of an address book cannot be read: \(error)")
        }
    }
}
