import CallControl
import Foundation
import GRDB

/// What applications that have calls need.
extension DatabaseMigrator {
    /// What applications say about streams. Events name the applications whose legs the calls had: those that were kept
    /// before get the names of the applications that have these addresses now, which were shown them until now.
    mutating func registerApplicationStreams() {
        registerMigration("20 application streams") { database in
            try database.execute(
                sql: """
                    ALTER TABLE application ADD COLUMN streamURL TEXT;          -- NULL: none
                    ALTER TABLE application ADD COLUMN maximumStreams INTEGER;  -- NULL: any number
                    """)
            let owners = try FormerOwners(database)
            guard !owners.isEmpty else { return }
            let function = DatabaseFunction("withApplications", argumentCount: 1, pure: true) { values in
                String.fromDatabaseValue(values[0]).map { owners.added(to: $0) }
            }
            database.add(function: function)
            defer { database.remove(function: function) }
            try database.execute(sql: "UPDATE publicEvent SET addresses = withApplications(addresses)")
        }
    }

    /// The migration in the order of ``Schema``.
    mutating func registerApplicationCalls() {
        registerMigration("16 application calls") { database in
            try database.execute(
                sql: """
                    ALTER TABLE application ADD COLUMN displayName TEXT NOT NULL DEFAULT '';
                    ALTER TABLE application ADD COLUMN scopes TEXT NOT NULL DEFAULT '["users:login"]'; -- JSON, as below
                    ALTER TABLE application ADD COLUMN addresses TEXT NOT NULL DEFAULT '[]';
                    ALTER TABLE application ADD COLUMN decisionTime INTEGER NOT NULL DEFAULT 10000; -- milliseconds
                    ALTER TABLE application ADD COLUMN fallback TEXT NOT NULL DEFAULT '{"reject":"unavailable"}';
                    ALTER TABLE application ADD COLUMN maximumCalls INTEGER NOT NULL DEFAULT 100;
                    ALTER TABLE application ADD COLUMN callsPerSecond INTEGER;  -- NULL: any number
                    ALTER TABLE application ADD COLUMN formerSecret TEXT;
                    ALTER TABLE application ADD COLUMN formerUntil INTEGER;     -- milliseconds since 1970, as below
                    CREATE TABLE applicationKey (
                        id          TEXT NOT NULL PRIMARY KEY,
                        application TEXT NOT NULL REFERENCES application (name) ON DELETE CASCADE,
                        digest      BLOB NOT NULL UNIQUE,       -- SHA-256 of the key
                        ending      TEXT NOT NULL,              -- its last characters
                        createdAt   INTEGER NOT NULL,
                        createdBy   TEXT NOT NULL,
                        expiresAt   INTEGER
                    ) STRICT, WITHOUT ROWID;
                    CREATE INDEX applicationKeyApplication ON applicationKey (application, createdAt);
                    ALTER TABLE idempotentRequest
                        ADD COLUMN application TEXT REFERENCES application (name) ON DELETE CASCADE; -- NULL: an operator
                    CREATE INDEX idempotentRequestTime ON idempotentRequest (application, time)
                    """)
        }
    }
}

/// The owners of addresses when events were still kept without them. A single address comes before a domain.
private struct FormerOwners: Sendable {
    private var singles: [String: String] = [:]
    private var domains: [String: String] = [:]

    /// Reads the applications. Addresses that cannot be read own nothing.
    init(_ database: Database) throws {
        for row in try Row.fetchAll(database, sql: "SELECT name, addresses FROM application") {
            let name: String = row["name"]
            let written: String = row["addresses"]
            let texts = (try? JSONDecoder().decode([String].self, from: Data(written.utf8))) ?? []
            for address in texts.compactMap({ ApplicationAddress($0) }) {
                if let single = address.single { singles[single.text] = name }
                if let domain = address.wholeDomain { domains[domain] = name }
            }
        }
    }

    var isEmpty: Bool { singles.isEmpty && domains.isEmpty }

    /// The lines of an event, with one more for each application that owns one of the addresses.
    func added(to text: String) -> String {
        var lines = text.split(separator: "\n").map(String.init)
        for address in lines {
            let domain = address.split(separator: "@").last.map(String.init) ?? ""
            guard let name = singles[address] ?? domains[domain] else { continue }
            let line = "application \(name)"
            if !lines.contains(line) { lines.append(line) }
        }
        return lines.joined(separator: "\n")
    }
}
