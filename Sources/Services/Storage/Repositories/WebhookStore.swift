import CallControl
package import CallRuntime
package import EventAPI
import Foundation
import GRDB
import Primitives

/// The tables `webhook`, `webhookPlace` and `webhookDelivery`.
///
/// What webhooks are owed is written on the connection of the journal: two connections would wait for each other.
package struct WebhookStore: WebhookRepository {
    private let queue: DatabaseQueue
    private let journal: DatabaseQueue

    /// - Parameter journal: the connection of the journal, whose database may be another one.
    init(_ queue: DatabaseQueue, journal: DatabaseQueue) {
        self.queue = queue
        self.journal = journal
    }

    /// All webhooks, in the order of their names.
    ///
    /// - Throws: `StorageError.failed`.
    package func allWebhooks() async throws(StorageError) -> [Webhook] {
        try await storageErrors(at: queue.path) {
            try await queue.read { database in
                try Row.fetchAll(database, sql: "SELECT * FROM webhook ORDER BY id").map(Self.webhook)
            }
        }
    }

    /// Writes a webhook that is new, or was changed.
    ///
    /// - Throws: `StorageError.noSuchApplication`, also if the name is another application's by now;
    ///   `StorageError.failed`.
    package func put(_ webhook: Webhook) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write { database in
                guard try ApplicationRow.exists(webhook.application, database) else {
                    throw StorageError.noSuchApplication(webhook.application.name)
                }
                try database.execute(
                    sql: """
                        INSERT INTO webhook
                        (id, application, applicationNumber, url, keys, types, isEnabled, disabledBecause)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET url = excluded.url,
                        keys = excluded.keys, types = excluded.types, isEnabled = excluded.isEnabled,
                        disabledBecause = excluded.disabledBecause
                        """,
                    arguments: [
                        webhook.id, webhook.application.name.description, webhook.application.number, webhook.url,
                        webhook.keys.value.joined(separator: " "), webhook.types.joined(separator: " "),
                        webhook.isEnabled, webhook.disabledBecause,
                    ])
            }
        }
    }

    /// Removes a webhook.
    ///
    /// - Throws: `StorageError.failed`.
    package func remove(_ id: String) async throws(StorageError) {
        try await storageErrors(at: queue.path) {
            try await queue.write { try $0.execute(sql: "DELETE FROM webhook WHERE id = ?", arguments: [id]) }
        }
    }

    // MARK: What is owed

    /// What a webhook is owed; see `WebhookRepository`.
    ///
    /// - Throws: `StorageError.failed`.
    package func outbox(of id: String) async throws(StorageError) -> (
        deliveries: [WebhookQueue.Delivery], place: Int64
    )? {
        try await storageErrors(at: journal.path) {
            try await journal.read { database in
                let place = try Int64.fetchOne(
                    database, sql: "SELECT number FROM webhookPlace WHERE webhook = ?", arguments: [id])
                guard let place else { return nil }
                return (try Self.deliveries(of: id, areParked: false, database), place)
            }
        }
    }

    /// Notes what a webhook is owed; see `WebhookRepository`.
    ///
    /// - Throws: `StorageError.failed`.
    package func take(
        _ deliveries: [WebhookQueue.Delivery], through place: Int64, for id: String
    ) async throws(StorageError) {
        try await storageErrors(at: journal.path) {
            try await journal.write { database in
                for delivery in deliveries {
                    try database.cachedStatement(
                        sql: "INSERT INTO webhookDelivery (webhook, number, call, content) VALUES (?, ?, ?, ?)"
                    ).execute(arguments: [
                        id, delivery.number, delivery.call, String(decoding: delivery.content, as: UTF8.self),
                    ])
                }
                try database.cachedStatement(sql: "INSERT OR REPLACE INTO webhookPlace (webhook, number) VALUES (?, ?)")
                    .execute(arguments: [id, place])
            }
        }
    }

    /// Notes what attempts have led to.
    ///
    /// - Throws: `StorageError.failed`.
    package func settle(_ verdicts: [Int64: WebhookQueue.Verdict], of id: String) async throws(StorageError) {
        try await storageErrors(at: journal.path) {
            try await journal.write { database in
                for (number, verdict) in verdicts {
                    switch verdict {
                    case .delivered:
                        try database.cachedStatement(
                            sql: "DELETE FROM webhookDelivery WHERE webhook = ? AND number = ?"
                        ).execute(arguments: [id, number])
                    case .retried(let delivery): try Self.note(delivery, isParked: false, of: id, database)
                    case .parked(let delivery): try Self.note(delivery, isParked: true, of: id, database)
                    }
                }
            }
        }
    }

    /// Takes back what was given up.
    ///
    /// - Throws: `StorageError.failed`.
    package func unpark(_ id: String) async throws(StorageError) -> [WebhookQueue.Delivery] {
        try await storageErrors(at: journal.path) {
            try await journal.write { database in
                var deliveries = try Self.deliveries(of: id, areParked: true, database)
                try database.execute(
                    sql: """
                        UPDATE webhookDelivery SET isParked = 0, attempts = 0, failingSince = NULL
                        WHERE webhook = ? AND isParked
                        """, arguments: [id])
                for index in deliveries.indices {
                    (deliveries[index].attempts, deliveries[index].failingSince) = (0, nil)
                }
                return deliveries
            }
        }
    }

    /// How far each webhook is.
    ///
    /// - Throws: `StorageError.failed`.
    package func progress() async throws(StorageError) -> [String: WebhookProgress] {
        try await storageErrors(at: journal.path) {
            try await journal.read { database in
                var found: [String: WebhookProgress] = [:]
                let rows = try Row.fetchAll(
                    database,
                    sql: """
                        SELECT webhook, sum(NOT isParked) AS waiting, sum(isParked) AS parked, max(number) FILTER
                        (WHERE reason IS NOT NULL) AS failed FROM webhookDelivery GROUP BY webhook
                        """)
                for row in rows {
                    let reason = try String.fetchOne(
                        database, sql: "SELECT reason FROM webhookDelivery WHERE webhook = ? AND number = ?",
                        arguments: [row["webhook"] as String, row["failed"] as Int64?])
                    found[row["webhook"]] = WebhookProgress(
                        waiting: row["waiting"], parked: row["parked"], reason: reason)
                }
                return found
            }
        }
    }

    /// Removes what belongs to webhooks that are none of these.
    ///
    /// - Throws: `StorageError.failed`.
    package func removeAll(but ids: Set<String>) async throws(StorageError) {
        try await storageErrors(at: journal.path) {
            let known = try await journal.read { database in
                try String.fetchAll(
                    database, sql: "SELECT webhook FROM webhookPlace UNION SELECT DISTINCT webhook FROM webhookDelivery"
                )
            }
            let gone = known.filter { !ids.contains($0) }
            guard !gone.isEmpty else { return }
            try await journal.write { database in
                for id in gone {
                    try database.execute(sql: "DELETE FROM webhookPlace WHERE webhook = ?", arguments: [id])
                    try database.execute(sql: "DELETE FROM webhookDelivery WHERE webhook = ?", arguments: [id])
                }
            }
        }
    }

    // MARK: Rows

    private static func note(
        _ delivery: WebhookQueue.Delivery, isParked: Bool, of id: String, _ database: Database
    ) throws {
        try database.cachedStatement(
            sql: """
                UPDATE webhookDelivery SET attempts = ?, failingSince = ?, reason = ?, isParked = ?
                WHERE webhook = ? AND number = ?
                """
        ).execute(arguments: [
            delivery.attempts, delivery.failingSince, delivery.reason, isParked, id, delivery.number,
        ])
    }

    private static func deliveries(
        of id: String, areParked: Bool, _ database: Database
    ) throws -> [WebhookQueue.Delivery] {
        try Row.fetchAll(
            database, sql: "SELECT * FROM webhookDelivery WHERE webhook = ? AND isParked = ? ORDER BY number",
            arguments: [id, areParked]
        ).map { row in
            let content: String = row["content"]
            return WebhookQueue.Delivery(
                number: row["number"], call: row["call"], content: Array(content.utf8), attempts: row["attempts"],
                failingSince: row["failingSince"], reason: row["reason"])
        }
    }

    private static func webhook(_ row: Row) throws -> Webhook {
        let (name, keys, types): (String, String, String) = (row["application"], row["keys"], row["types"])
        guard let application = ApplicationName(name) else {
            throw StorageError.failed("the database holds a name of an application that is none: \(name)")
        }
        return Webhook(
            id: row["id"], application: ApplicationIdentity(name: application, number: row["applicationNumber"]),
            url: row["url"],
            keys: Redacted(keys.split(separator: " ").map(String.init)),
            types: types.split(separator: " ").map(String.init), isEnabled: row["isEnabled"],
            disabledBecause: row["disabledBecause"])
    }
}
