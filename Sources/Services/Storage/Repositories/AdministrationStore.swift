package import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The tables `adminToken`, `auditEntry` and `idempotentRequest`.
package struct AdministrationStore: AdministrationRepository {
    private let queue: DatabaseQueue
    private let counts: KeyCounts

    init(_ queue: DatabaseQueue, counts: KeyCounts) {
        self.queue = queue
        self.counts = counts
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
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func reserve(
        key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationIdentity?, at now: Int64,
        age: Duration, limit: Int
    ) async throws(StorageError) -> KeyReservation {
        let owner = application?.name.description
        let milliseconds = age.components.seconds * 1_000
        do throws(StorageError) {
            return try await storageErrors(at: queue.path) {
                try await queue.write { database in
                    if let application, try !ApplicationRow.exists(application, database) {
                        throw StorageError.noSuchApplication(application.name)
                    }
                    try forgetKeys(of: owner, before: now - milliseconds, after: now + milliseconds, database)
                    let row = try Row.fetchOne(
                        database, sql: "SELECT * FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
                    if let row {
                        let known: Data = row["fingerprint"]
                        guard Array(known) == fingerprint else { return .ofAnotherRequest }
                        if let answer = KeptAnswer(row) { return .answered(answer) }
                        let carrier: String = row["process"]
                        if carrier == process { return .inProgress }
                    } else if let owner, try count(of: owner, database) >= limit {
                        let oldest = try Int64.fetchOne(
                            database,
                            sql: "SELECT time FROM idempotentRequest WHERE application IS ? ORDER BY time LIMIT 1",
                            arguments: [owner])
                        return .full(.milliseconds(max(1, (oldest ?? now) + milliseconds + 1 - now)))
                    }
                    try database.execute(
                        sql: """
                            INSERT OR REPLACE INTO idempotentRequest (key, fingerprint, time, process, application)
                            VALUES (?, ?, ?, ?, ?)
                            """, arguments: [Data(key), Data(fingerprint), now, process, owner])
                    if let owner {
                        if row == nil { counts.add(1, of: owner) }
                    } else if try count(of: nil, database) > limit {
                        try Self.makeRoom(for: key, of: owner, limit: limit, database)
                    }
                    return .reserved
                }
            }
        } catch {
            counts.forget()
            throw error
        }
    }

    /// Deletes the keys from before and after their time.
    private func forgetKeys(of owner: String?, before first: Int64, after last: Int64, _ database: Database) throws {
        // Each of the two finds its rows in the index; with "OR" all rows of the owner would be looked at.
        for (condition, time) in [("time < ?", first), ("time > ?", last)] {
            try database.execute(
                sql: "DELETE FROM idempotentRequest WHERE application IS ? AND \(condition)", arguments: [owner, time])
            if let owner { counts.add(-database.changesCount, of: owner) }
        }
    }

    /// How many keys an application has; `nil`: operators.
    private func count(of owner: String?, _ database: Database) throws -> Int {
        func ask() throws -> Int {
            try Int.fetchOne(
                database, sql: "SELECT count(*) FROM idempotentRequest WHERE application IS ?", arguments: [owner]) ?? 0
        }
        guard let owner else { return try ask() }
        return try counts.count(of: owner, ask)
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
        do throws(StorageError) {
            try await storageErrors(at: queue.path) {
                try await queue.write { database in
                    guard let answer else { return try giveUp(key, database) }
                    try database.execute(
                        sql: "UPDATE idempotentRequest SET status = ?, contentType = ?, body = ? WHERE key = ?",
                        arguments: [answer.status, answer.contentType, Data(answer.body), Data(key)])
                }
            }
        } catch {
            counts.forget()
            throw error
        }
    }

    private func giveUp(_ key: [UInt8], _ database: Database) throws {
        let owner = try String.fetchOne(
            database, sql: "SELECT application FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
        try database.execute(sql: "DELETE FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
        if let owner { counts.add(-database.changesCount, of: owner) }
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
