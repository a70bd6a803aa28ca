import CallControl
import CallRuntime
import Foundation
import GRDB
import GatewayAPI
import Registration

/// Reads and writes the tables `keptMessage`, `presence`, `interest`, `voicemail` and `owedMessage`.
enum ServiceRows {
    // MARK: - Writing

    /// The numbers of the messages that are owed and told within these entries. Of most messages nothing has to be
    /// written, since the owner that is told is quick.
    static func settledAtOnce(_ entries: [JournalEntry]) -> Set<UInt64> {
        var (owed, settled): (Set<UInt64>, Set<UInt64>) = ([], [])
        for case .registration(.service(let change)) in entries {
            if case .owed(let message) = change { owed.insert(message.number) }
            if case .settled(let numbers) = change { settled.formUnion(numbers) }
        }
        return owed.intersection(settled)
    }

    /// Writes a change.
    ///
    /// - Parameter settledAtOnce: the owed messages of which nothing has to be written.
    static func write(_ change: ServiceChange, settledAtOnce: Set<UInt64>, _ database: Database) throws {
        switch change {
        case .owed(let owed):
            guard !settledAtOnce.contains(owed.number) else { break }
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO owedMessage (number, user, message) VALUES (?, ?, ?)"
            )
            .execute(arguments: [Int64(bitPattern: owed.number), owed.receiver.text, text(owed.message)])
        case .settled(let numbers):
            let statement = try database.cachedStatement(sql: "DELETE FROM owedMessage WHERE number = ?")
            for number in numbers where !settledAtOnce.contains(number) {
                try statement.execute(arguments: [Int64(bitPattern: number)])
            }
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

    /// Removes everything of a user but the presence, which those who watch were told: the process that finds that the
    /// user is gone tells them.
    static func removeAll(of user: UserAddress, _ database: Database) throws {
        for table in ["keptMessage", "interest", "voicemail", "owedMessage"] {
            try remove(table, user, database)
        }
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
    /// - Throws: `DatabaseError`.
    static func contents(_ database: Database, _ setAside: inout SetAside) throws -> StoredServices {
        var services = StoredServices()
        try forEach("keptMessage", key: "number", database, &setAside) { user, row in
            services.messages[user, default: []].append(try value(row["message"]))
        }
        try forEach("presence", key: "user", database, &setAside) { user, row in
            services.presence[user] = try value(row["presence"])
        }
        try forEach("interest", key: "user", database, &setAside) { user, row in
            services.interests[user] = try value(row["interests"])
        }
        try forEach("voicemail", key: "user", database, &setAside) { user, row in
            services.voicemail[user] = VoicemailCount(unheard: row["unheard"], heard: row["heard"])
        }
        try forEach("owedMessage", key: "number", database, &setAside) { user, row in
            let number = UInt64(bitPattern: row["number"] as Int64)
            services.owed.append(
                OwedMessage(number: number, receiver: user, message: try value(row["message"])))
        }
        return services
    }

    /// Takes the rows of a table, in the order of their keys. Those whose user is none, or that `body` throws at, are
    /// set aside.
    private static func forEach(
        _ table: String, key: String, _ database: Database, _ setAside: inout SetAside,
        _ body: (UserAddress, Row) throws -> Void
    ) throws {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY \(key)") {
            do {
                guard let user = UserAddress(parsing: row["user"] as String) else { throw Damage.user }
                try body(user, row)
            } catch {
                let reason = error is Damage ? "its user is none" : SetAside.reason(of: error)
                let sentence = "what is kept for a service cannot be read: \(reason)"
                try setAside.move(row, from: table, key: key, because: sentence, database)
            }
        }
    }

    private enum Damage: Error {
        case user
    }

    private static func value<Value: Decodable>(_ text: String) throws -> Value {
        try JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
