import CallControl
import CallRuntime
import Foundation
import GRDB
import GatewayAPI
import Registration

/// Reads and writes the tables `keptMessage`, `presence`, `interest` and `voicemail`.
enum ServiceRows {
    // MARK: - Writing

    /// Writes a change.
    static func write(_ change: ServiceChange, _ database: Database) throws {
        switch change {
        case .messageKept(let message, let user):
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO keptMessage (user, id, message) VALUES (?, ?, ?)"
            ).execute(arguments: [user.text, message.id, text(message)])
        case .messagesRemoved(let names, let user):
            let statement = try database.cachedStatement(sql: "DELETE FROM keptMessage WHERE user = ? AND id = ?")
            for name in names { try statement.execute(arguments: [user.text, name]) }
        case .presence(let presence?, let user):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO presence (user, presence) VALUES (?, ?)")
                .execute(arguments: [user.text, text(presence)])
        case .presence(nil, let user): try remove("presence", user, database)
        case .interests(let interests?, let user):
            try database.cachedStatement(sql: "INSERT OR REPLACE INTO interest (user, interests) VALUES (?, ?)")
                .execute(arguments: [user.text, text(interests)])
        case .interests(nil, let user): try remove("interest", user, database)
        case .voicemail(.empty, let user): try remove("voicemail", user, database)
        case .voicemail(let count, let user):
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO voicemail (user, unheard, heard) VALUES (?, ?, ?)"
            )
            .execute(arguments: [user.text, count.unheard, count.total - count.unheard])
        }
    }

    /// Removes everything of a user.
    static func removeAll(of user: UserAddress, _ database: Database) throws {
        for table in ["keptMessage", "presence", "interest", "voicemail"] { try remove(table, user, database) }
    }

    private static func remove(_ table: String, _ user: UserAddress, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM \(table) WHERE user = ?").execute(arguments: [user.text])
    }

    private static func text(_ value: some Encodable) -> String {
        String(decoding: WireJSON.encode(value), as: UTF8.self)
    }

    // MARK: - Reading

    /// What there is.
    ///
    /// - Throws: `DatabaseError`; `StorageError.failed` if a row cannot be understood.
    static func contents(_ database: Database) throws -> StoredServices {
        var services = StoredServices()
        try forEach("SELECT user, message AS value FROM keptMessage ORDER BY number", database) { user, row in
            services.messages[user, default: []].append(try value(row))
        }
        try forEach("SELECT user, presence AS value FROM presence", database) { user, row in
            services.presence[user] = try value(row)
        }
        try forEach("SELECT user, interests AS value FROM interest", database) { user, row in
            services.interests[user] = try value(row)
        }
        try forEach("SELECT user, unheard, heard FROM voicemail", database) { user, row in
            services.voicemail[user] = VoicemailCount(unheard: row["unheard"], heard: row["heard"])
        }
        return services
    }

    private static func forEach(
        _ sql: String, _ database: Database, _ body: (UserAddress, Row) throws -> Void
    ) throws {
        let rows = try Row.fetchCursor(database, sql: sql)
        while let row = try rows.next() {
            let text: String = row["user"]
            guard let user = UserAddress(parsing: text) else {
                throw StorageError.failed("the database holds a user address that is none: \(text)")
            }
            try body(user, row)
        }
    }

    private static func value<Value: Decodable>(_ row: Row) throws -> Value {
        let text: String = row["value"]
        do {
            return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
        } catch {
            throw StorageError.failed("what is kept for a service cannot be read: \(error)")
        }
    }
}
