package import CallControl
package import CallRuntime
import Foundation
import GRDB

/// The tables `adminToken`, `auditEntry` and `idempotentRequest`.
package struct AdministrationStore: AdministrationRepository {
    private let queue: DatabaseQueue
    private let counts = KeyCounts()

    init(_ queue: DatabaseQueue) { self.queue = queue }

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

    /// How many keys whose time is over a new one removes at most, so that it does not hold up other writes.
    package static let forgottenAtOnce = 500

    /// Looks up an idempotency key, and reserves it if nothing is known of it; see `IdempotencyRepository`.
    ///
    /// - Throws: `StorageError.noSuchApplication`; `StorageError.failed`.
    package func reserve(
        key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationIdentity?, at now: Int64,
        age: Duration, limit: Int
    ) async throws(StorageError) -> KeyReservation {
        let use = KeyUse(
            key: Data(key), fingerprint: Data(fingerprint), process: process, application: application, now: now,
            age: age.components.seconds * 1_000, limit: limit)
        while true {
            let reservation = try await storageErrors(at: queue.path) {
                try await queue.write { try reserve(use, $0) }
            }
            if let reservation { return reservation }
            // Not within the write, so that the journal does not wait until all are counted.
            let limited = try await storageErrors(at: queue.path) {
                try await queue.read { try refusal(of: use, $0) }
            }
            if let limited { return limited }
        }
    }

    /// Looks up a key, and reserves it.
    ///
    /// - Returns: `nil`: the keys of the application have to be counted.
    private func reserve(_ use: KeyUse, _ database: Database) throws -> KeyReservation? {
        if let application = use.application, try !ApplicationRow.exists(application, database) {
            throw StorageError.noSuchApplication(application.name)
        }
        let row = try Row.fetchOne(
            database, sql: "SELECT * FROM idempotentRequest WHERE key = ? AND time BETWEEN ? AND ?",
            arguments: [use.key, use.times.lowerBound, use.times.upperBound])
        if let row {
            let known: Data = row["fingerprint"]
            guard known == use.fingerprint else { return .ofAnotherRequest }
            if let answer = KeptAnswer(row) { return .answered(answer) }
            let carrier: String = row["process"]
            if carrier == use.process { return .inProgress }
        } else if let application = use.application {
            switch counts.add(of: application, limit: use.limit, at: use.now) {
            case .added: break
            case .full(let oldest) where oldest >= use.times.lowerBound: return use.refusal(oldest: oldest)
            case .full, .unknown: return nil
            }
        }
        try Self.forgetKeys(of: use, database)
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO idempotentRequest (key, fingerprint, time, process, application)
                VALUES (?, ?, ?, ?, ?)
                """, arguments: [use.key, use.fingerprint, use.now, use.process, use.owner])
        if use.application == nil { try Self.makeRoom(for: use, database) }
        return .reserved
    }

    /// Deletes some of the keys from before and after their time. Nothing else sees those that are left.
    private static func forgetKeys(of use: KeyUse, _ database: Database) throws {
        var left = forgottenAtOnce
        // Each of the two finds its rows in the index; with "OR" all rows of the owner would be looked at.
        for (condition, time) in [("time < ?", use.times.lowerBound), ("time > ?", use.times.upperBound)] {
            try database.execute(
                sql: """
                    DELETE FROM idempotentRequest WHERE key IN (
                        SELECT key FROM idempotentRequest WHERE application IS ? AND \(condition)
                        ORDER BY time LIMIT ?)
                    """, arguments: [use.owner, time, left])
            left -= database.changesCount
        }
    }

    /// Counts the keys of an application whose time is not over.
    ///
    /// - Returns: the refusal of a further one; `nil`: it may have one.
    private func refusal(of use: KeyUse, _ database: Database) throws -> KeyReservation? {
        guard let application = use.application else { return nil }
        let row = try Row.fetchOne(
            database,
            sql: """
                SELECT count(*) AS count, min(time) AS oldest FROM idempotentRequest
                WHERE application = ? AND time BETWEEN ? AND ?
                """, arguments: [use.owner, use.times.lowerBound, use.times.upperBound])
        let count = row?["count"] as Int? ?? 0
        let oldest = row?["oldest"] as Int64? ?? use.now
        counts.set(count, oldest: oldest, of: application, at: use.now)
        return count >= use.limit ? use.refusal(oldest: oldest) : nil
    }

    /// Deletes the oldest keys of operators but this one, if there are too many; also some of those that could stay, so
    /// that it is not needed again soon: it passes over all of them.
    private static func makeRoom(for use: KeyUse, _ database: Database) throws {
        let (first, last) = (use.times.lowerBound, use.times.upperBound)
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM idempotentRequest WHERE application IS NULL AND time BETWEEN ? AND ?",
            arguments: [first, last])
        guard let count, count > use.limit else { return }
        try database.execute(
            sql: """
                DELETE FROM idempotentRequest WHERE key IN (
                    SELECT key FROM idempotentRequest
                    WHERE application IS NULL AND key <> :key AND time BETWEEN :first AND :last
                    ORDER BY time DESC LIMIT -1 OFFSET :others)
                """,
            arguments: ["key": use.key, "first": first, "last": last, "others": use.limit - use.limit / 100 - 1])
    }

    /// Keeps the answer to the request of a reserved key; `nil` gives the reservation up.
    ///
    /// - Throws: `StorageError.failed`.
    package func keep(_ answer: KeptAnswer?, for key: [UInt8]) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                if let answer {
                    try database.execute(
                        sql: "UPDATE idempotentRequest SET status = ?, contentType = ?, body = ? WHERE key = ?",
                        arguments: [answer.status, answer.contentType, Data(answer.body), Data(key)])
                } else {
                    try database.execute(
                        sql: "DELETE FROM idempotentRequest WHERE key = ?", arguments: [Data(key)])
                }
            }
        }
    }
}

/// The use of an idempotency key that is looked up.
private struct KeyUse: Sendable {
    let key: Data
    let fingerprint: Data
    let process: String
    /// Who used it; `nil`: an operator.
    let application: ApplicationIdentity?
    /// Milliseconds since 1970.
    let now: Int64
    /// How long a key is remembered, in milliseconds.
    let age: Int64
    /// How many keys are remembered.
    let limit: Int

    /// Who used it, as the table has it. The keys of a removed application leave with it, so that all of this name are
    /// those of the application that there is.
    var owner: String? { application?.name.description }

    /// There are as many keys as the limit: the oldest is forgotten first.
    func refusal(oldest: Int64) -> KeyReservation { .full(.milliseconds(max(1, oldest + age + 1 - now))) }

    /// The times of the keys that are remembered.
    var times: ClosedRange<Int64> { now - age...now + age }
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
