package import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The table `applicationKey`.
extension ApplicationStore {
    /// The application of a key, and the key.
    ///
    /// - Throws: `StorageError.failed`.
    package func application(
        ofKey digest: [UInt8]
    ) async throws(StorageError) -> (application: StoredApplication, key: StoredApplicationKey)? {
        try await storageErrors(at: lookups.path) {
            try await lookups.read { database in
                let row = try Row.fetchOne(
                    database, sql: "SELECT * FROM applicationKey WHERE digest = ?", arguments: [Data(digest)])
                guard let key = row.flatMap(StoredApplicationKey.init) else { return nil }
                let application = try ApplicationRow.fetchOne(database, key: key.application.description)
                guard let application else { return nil }
                return (application: try application.application(), key: key)
            }
        }
    }

    /// The keys of an application, the oldest first.
    ///
    /// - Throws: `StorageError.failed`.
    package func keys(of name: ApplicationName) async throws(StorageError) -> [StoredApplicationKey] {
        try await storageErrors(at: queue.path) {
            try await queue.read {
                try Row.fetchAll(
                    $0, sql: "SELECT * FROM applicationKey WHERE application = ? ORDER BY createdAt, id",
                    arguments: [name.description]
                ).compactMap(StoredApplicationKey.init)
            }
        }
    }

    /// Adds a key, unless the application has as many as it may have.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func add(
        _ key: StoredApplicationKey, digest: [UInt8], of name: ApplicationName
    ) async throws(StorageError) -> Bool {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard try ApplicationRow.exists(database, key: name.description) else {
                    throw StorageError.noSuchApplication(name)
                }
                try database.execute(
                    sql: """
                        INSERT INTO applicationKey (id, application, digest, ending, createdAt, createdBy, expiresAt)
                        SELECT ?, ?, ?, ?, ?, ?, ?
                        WHERE (SELECT count(*) FROM applicationKey WHERE application = ?) < ?
                        """,
                    arguments: [
                        key.id, name.description, Data(digest), key.ending, key.createdAt, key.createdBy,
                        key.expiresAt, name.description, StoredApplicationKey.limit,
                    ])
                return database.changesCount > 0
            }
        }
    }

    /// Removes a key.
    ///
    /// - Throws: `StorageError.failed`.
    package func removeKey(
        _ id: String, of name: ApplicationName
    ) async throws(StorageError) -> StoredApplicationKey? {
        try await storageErrors(at: queue.path) {
            try await queue.write {
                try Row.fetchOne(
                    $0, sql: "DELETE FROM applicationKey WHERE id = ? AND application = ? RETURNING *",
                    arguments: [id, name.description]
                ).flatMap(StoredApplicationKey.init)
            }
        }
    }
}

extension StoredApplicationKey {
    /// Reads a row; `nil` if it names no application.
    fileprivate init?(_ row: Row) {
        let name: String = row["application"]
        guard let application = ApplicationName(name) else { return nil }
        self.init(
            id: row["id"], application: application, ending: row["ending"], createdAt: row["createdAt"],
            createdBy: row["createdBy"], expiresAt: row["expiresAt"])
    }
}
