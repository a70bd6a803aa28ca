package import CallControl
package import CallRuntime
import Foundation
import GRDB
package import Primitives

/// The tables `application` and `applicationToken`.
package struct ApplicationStore: ApplicationRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) { self.queue = queue }

    /// Reads an application; `nil` if there is none of this name.
    ///
    /// - Throws: `StorageError.failed`.
    package func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication? {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try ApplicationRow.fetchOne(database, key: name.description)
            }?.application()
        }
    }

    /// All applications in the order of their names.
    ///
    /// - Throws: `StorageError.failed`.
    package func allApplications() async throws(StorageError) -> [StoredApplication] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try ApplicationRow.order(Column("name")).fetchAll(database)
            }.map { try $0.application() }
        }
    }

    /// Adds an application.
    ///
    /// - Throws: `StorageError.applicationExists`; `StorageError.failed`.
    package func add(_ application: StoredApplication) async throws(StorageError) {
        let row = ApplicationRow(application)
        try await storageErrors(at: queue.path) {
            do {
                try await queue.write { try row.insert($0) }
            } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY {
                throw StorageError.applicationExists(application.name)
            }
        }
    }

    /// Replaces the secret of an application.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func setSecret(_ secret: Redacted<String>, of name: ApplicationName) async throws(StorageError) {
        try await change(name) { row, database in
            try row.updateAll(database, Column("secret").set(to: secret.value))
        }
    }

    /// Removes an application and its tokens.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func remove(_ name: ApplicationName) async throws(StorageError) {
        try await change(name) { row, database in try row.deleteAll(database) }
    }

    /// Keeps a token, within the limit of its application.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.noSuchUser`; `StorageError.failed`.
    package func keep(
        _ token: ApplicationToken, of application: ApplicationName, limit: Int, at now: Int64
    ) async throws(StorageError) {
        let name = application.description
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard try ApplicationRow.exists(database, key: name) else {
                    throw StorageError.noSuchApplication(application)
                }
                let user = try Row.fetchOne(
                    database, sql: "SELECT 1 FROM user WHERE address = ?", arguments: [token.user.text])
                guard user != nil else { throw StorageError.noSuchUser(token.user) }
                try database.execute(
                    sql: "INSERT INTO applicationToken (digest, application, address, expires) VALUES (?, ?, ?, ?)",
                    arguments: [Data(token.digest), name, token.user.text, token.expires])
                try database.execute(
                    sql: """
                        DELETE FROM applicationToken WHERE application = :name AND (expires <= :now OR digest IN (
                            SELECT digest FROM applicationToken WHERE application = :name
                            ORDER BY expires DESC LIMIT -1 OFFSET :limit))
                        """, arguments: ["name": name, "now": now, "limit": limit])
            }
        }
    }

    /// Deletes a token of this user, and says when it expires.
    ///
    /// - Throws: `StorageError.failed`.
    package func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64? {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try Int64.fetchOne(
                    database,
                    sql: "DELETE FROM applicationToken WHERE digest = ? AND address = ? RETURNING expires",
                    arguments: [Data(digest), user.text])
            }
        }
    }

    /// Runs a statement that must change exactly the row of `name`.
    private func change(
        _ name: ApplicationName,
        _ statement: @escaping @Sendable (QueryInterfaceRequest<ApplicationRow>, Database) throws -> Int
    ) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            let changed = try await queue.write { database in
                try statement(ApplicationRow.filter(key: name.description), database)
            }
            guard changed > 0 else { throw StorageError.noSuchApplication(name) }
        }
    }
}

/// A row of the table as SQLite has it.
private struct ApplicationRow: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "application"

    var name: String
    var domain: String
    var secret: String

    init(_ application: StoredApplication) {
        name = application.name.description
        domain = application.domain
        secret = application.secret.value
    }

    func application() throws(StorageError) -> StoredApplication {
        guard let name = ApplicationName(name) else {
            throw .failed("the database holds a name of an application that is none: \(name)")
        }
        return StoredApplication(name: name, domain: domain, secret: Redacted(secret))
    }
}
