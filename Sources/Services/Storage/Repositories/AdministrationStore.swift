package import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The tables `adminToken`, `auditEntry` and `idempotentRequest`.
package struct AdministrationStore: AdministrationRepository {
    private let queue: DatabaseQueue

    init(_ queue: DatabaseQueue) {
        self.queue = queue
    }

    // MARK: Tokens

    /// The token of this digest; `nil`: none.
    ///
    /// - Throws: `StorageError.failed`.
    package func adminToken(_ digest: [UInt8]) async throws(StorageError) -> StoredAdminToken? {
        try await storageErrors(at: queue.path) {
            try await queue.read {
                try Row.fetchOne($0, sql: "SELECT * FROM adminToken WHERE digest = ?", arguments: [Data(digest)])
                    .flatMap(StoredAdminToken.init)
            }
        }
    }

    /// All tokens, in the order of their names.
    ///
    /// - Throws: `StorageError.failed`.
    package func adminTokens() async throws(StorageError) -> [StoredAdminToken] {
        try await storageErrors(at: queue.path) {
            try await queue.read {
                try Row.fetchAll($0, sql: "SELECT * FROM adminToken ORDER BY name").compactMap(StoredAdminToken.init)
            }
        }
    }

    /// Adds a token; `false` if there is one of that name.
    ///
    /// - Throws: `StorageError.failed`.
    package func addAdminToken(_ token: StoredAdminToken) async throws(StorageError) -> Bool {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT OR IGNORE INTO adminToken (name, digest, role, createdAt, createdBy, expiresAt)
                        VALUES (?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        token.name, Data(token.digest), token.role.rawValue, token.createdAt, token.createdBy,
                        token.expiresAt,
                    ])
                return database.changesCount > 0
            }
        }
    }

    /// Removes a token; `false` if there is none of that name.
    ///
    /// - Throws: `StorageError.failed`.
    package func removeAdminToken(_ name: String) async throws(StorageError) -> Bool {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try database.execute(sql: "DELETE FROM adminToken WHERE name = ?", arguments: [name])
                return database.changesCount > 0
            }
        }
    }

    // MARK: Audit log

    /// Adds an entry to the audit log, and removes what is beyond the limits.
    ///
    /// - Returns: the number of the entry.
    /// - Throws: `StorageError.failed`.
    package func addAudit(_ entry: AuditEntry, limits: AuditLimits) async throws(StorageError) -> Int64 {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                try database.execute(
                    sql: """
                        INSERT INTO auditEntry (time, who, role, operation, target, status, result)
                        VALUES (?, ?, ?, ?, ?, ?, ?)
                        """,
                    arguments: [
                        entry.time, entry.who, entry.role.rawValue, entry.operation, entry.target, entry.status,
                        entry.result,
                    ])
                let number = database.lastInsertedRowID
                try database.execute(
                    sql: "DELETE FROM auditEntry WHERE number <= ?", arguments: [number - Int64(limits.count)])
                // Entries are in the order of their times unless the clock was set back.
                try database.execute(
                    sql: """
                        DELETE FROM auditEntry WHERE time < ? AND number IN
                        (SELECT number FROM auditEntry ORDER BY number LIMIT 100)
                        """, arguments: [entry.time - limits.age.components.seconds * 1_000])
                return number
            }
        }
    }

    /// Says what became of the request of an entry.
    ///
    /// - Throws: `StorageError.failed`.
    package func finishAudit(_ number: Int64, status: Int, result: String) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write {
                try $0.execute(
                    sql: "UPDATE auditEntry SET status = ?, result = ? WHERE number = ?",
                    arguments: [status, result, number])
            }
        }
    }

    /// Entries, the latest first.
    ///
    /// - Throws: `StorageError.failed`.
    package func audit(before number: Int64?, who: String?, limit: Int) async throws(StorageError) -> [AuditEntry] {
        try await storageErrors(at: queue.path) {
            try await queue.read {
                try Row.fetchAll(
                    $0,
                    sql: """
                        SELECT * FROM auditEntry WHERE number < :before AND (:who IS NULL OR who = :who)
                        ORDER BY number DESC LIMIT :limit
                        """, arguments: ["before": number ?? .max, "who": who, "limit": limit]
                ).compactMap(AuditEntry.init)
            }
        }
    }

    // MARK: Idempotency

    /// Looks up an idempotency key, and reserves it if nothing is known of it.
    ///
    /// - Throws: `StorageError.failed`.
    package func reserve(
        key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationName?, at now: Int64,
        age: Duration, limit: Int
    ) async throws(StorageError) -> KeyReservation {
        let owner = application?.description
        return try await storageErrors(at: queue.path) {
            try await queue.write { database in
                let time = age.components.seconds * 1_000
                // Each of the two finds its rows in the index; with "OR" all rows of the owner would be looked at.
                try database.execute(
                    sql: "DELETE FROM idempotentRequest WHERE application IS ? AND time < ?",
                    arguments: [owner, now - time])
                try database.execute(
                    sql: "DELETE FROM idempotentRequest WHERE application IS ? AND time > ?",
                    arguments: [owner, now + time])
                let row = try Row.fetchOne(
                    database, sql: "SELECT * FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
                if let row {
                    let known: Data = row["fingerprint"]
                    guard Array(known) == fingerprint else { return .ofAnotherRequest }
                    if let answer = KeptAnswer(row) { return .answered(answer) }
                    let owner: String = row["process"]
                    if owner == process { return .inProgress }
                }
                try database.execute(
                    sql: """
                        INSERT OR REPLACE INTO idempotentRequest (key, fingerprint, time, process, application)
                        VALUES (?, ?, ?, ?, ?)
                        """, arguments: [Data(key), Data(fingerprint), now, process, owner])
                let count = try Int.fetchOne(
                    database, sql: "SELECT count(*) FROM idempotentRequest WHERE application IS ?", arguments: [owner])
                if count ?? 0 > limit { try Self.makeRoom(for: key, of: owner, limit: limit, database) }
                return .reserved
            }
        }
    }

    /// Deletes the oldest keys but this one, also some of those that could stay, so that it is not needed again soon:
    /// it passes over all of them.
    private static func makeRoom(
        for key: [UInt8], of owner: String?, limit: Int, _ database: Database
    ) throws {
        try database.execute(
            sql: """
                DELETE FROM idempotentRequest WHERE key IN (
                    SELECT key FROM idempotentRequest WHERE application IS :owner AND key <> :key
                    ORDER BY time DESC LIMIT -1 OFFSET :others)
                """, arguments: ["owner": owner, "key": Data(key), "others": limit - limit / 100 - 1])
    }

    /// Keeps the answer to the request of a reserved key; `nil` gives the reservation up.
    ///
    /// - Throws: `StorageError.failed`.
    package func keep(_ answer: KeptAnswer?, for key: [UInt8]) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard let answer else {
                    return try database.execute(
                        sql: "DELETE FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
                }
                try database.execute(
                    sql: "UPDATE idempotentRequest SET status = ?, contentType = ?, body = ? WHERE key = ?",
                    arguments: [answer.status, answer.contentType, Data(answer.body), Data(key)])
            }
        }
    }
}

extension StoredAdminToken {
    /// Reads a row; `nil` if it names no role.
    fileprivate init?(_ row: Row) {
        let (digest, word): (Data, String) = (row["digest"], row["role"])
        guard let role = AdminRole(rawValue: word) else { return nil }
        self.init(
            name: row["name"], digest: Array(digest), role: role, createdAt: row["createdAt"],
            createdBy: row["createdBy"], expiresAt: row["expiresAt"])
    }
}

extension AuditEntry {
    /// Reads a row; `nil` if it names no role.
    fileprivate init?(_ row: Row) {
        let word: String = row["role"]
        guard let role = AdminRole(rawValue: word) else { return nil }
        self.init(
            number: row["number"], time: row["time"], who: row["who"], role: role, operation: row["operation"],
            target: row["target"], status: row["status"], result: row["result"])
    }
}

extension KeptAnswer {
    /// Reads a row; `nil` if it has no answer yet.
    fileprivate init?(_ row: Row) {
        guard let status: Int = row["status"], let contentType: String = row["contentType"],
            let body: Data = row["body"]
        else { return nil }
        self.init(status: status, contentType: contentType, body: Array(body))
    }
}
