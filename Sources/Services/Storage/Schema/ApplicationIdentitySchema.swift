import Foundation
import GRDB

/// The numbers that tell an application from others that had its name before (docs/adr/0019).
extension DatabaseMigrator {
    /// The migration in the order of ``Schema``. Each application gets a number, and what was an application's by its
    /// name is from now on its own by name and number. What was left by applications that are gone is nobody's.
    mutating func registerApplicationIdentities() {
        registerMigration("21 application identities") { database in
            // Numbers are below 2^53, so that readers of JSON whose numbers are all binary64 have them exactly.
            try database.execute(
                sql: """
                    ALTER TABLE application ADD COLUMN number INTEGER NOT NULL DEFAULT 0;  -- 0 until the trigger
                    UPDATE application SET number = abs(random() % 9007199254740991) + 1;
                    CREATE UNIQUE INDEX applicationNumber ON application (number);
                    CREATE TRIGGER applicationIdentity AFTER INSERT ON application WHEN NEW.number = 0 BEGIN
                        UPDATE application SET number = abs(random() % 9007199254740991) + 1 WHERE name = NEW.name;
                    END;
                    ALTER TABLE webhook ADD COLUMN applicationNumber INTEGER NOT NULL DEFAULT 0;
                    UPDATE webhook SET applicationNumber = coalesce(
                        (SELECT owner.number FROM application AS owner WHERE owner.name = webhook.application), 0);
                    DROP TRIGGER recordingsOfRemovedApplication;
                    DROP INDEX recordingApplication;
                    ALTER TABLE recording ADD COLUMN applicationNumber INTEGER NOT NULL DEFAULT 0;  -- 0: nobody's
                    UPDATE recording SET applicationNumber = coalesce(
                        (SELECT owner.number FROM application AS owner WHERE owner.name = recording.application), 0);
                    CREATE INDEX recordingApplication ON recording (applicationNumber, startedAt, id);
                    UPDATE callEvent SET event = json_set(
                        event, '$.fact.joined.party.applicationNumber',
                        (SELECT owner.number FROM application AS owner
                            WHERE owner.name = json_extract(callEvent.event, '$.fact.joined.party.application')))
                    WHERE instr(event, '"application"') > 0 AND
                        CASE WHEN json_valid(event) THEN json_extract(event, '$.fact.joined.party.application') END
                        IN (SELECT name FROM application)
                    """)
            let applications = try NumberedApplications(database)
            guard !applications.isEmpty else { return }
            let function = DatabaseFunction("withNumbers", argumentCount: 2, pure: true) { values in
                guard let text = String.fromDatabaseValue(values[0]) else { return nil }
                return applications.numbered(text, at: Int64.fromDatabaseValue(values[1]) ?? 0)
            }
            database.add(function: function)
            defer { database.remove(function: function) }
            try database.execute(
                sql: """
                    UPDATE publicEvent SET addresses = withNumbers(addresses, number)
                    WHERE instr(addresses, 'application ') > 0;
                    DELETE FROM publicEventFloor WHERE address LIKE 'application %'
                    """)
            try applications.numberKeys(database)
        }
    }
}

/// The numbers of applications, for what was kept with their names alone.
private struct NumberedApplications: Sendable {
    private static let mark = "application "

    /// By the line of the application in events: the number, and the last event that the application is not shown,
    /// since it is older.
    private var known: [String: (number: Int64, floor: Int64)] = [:]

    init(_ database: Database) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT application.name AS name, application.number AS number, publicEventFloor.number AS floor
                FROM application LEFT JOIN publicEventFloor ON address = ? || name
                """, arguments: [Self.mark])
        for row in rows {
            let name: String = row["name"]
            known[Self.mark + name] = (row["number"], row["floor"] ?? 0)
        }
    }

    var isEmpty: Bool { known.isEmpty }

    /// The lines of an event at this place, with the numbers of the applications that are shown it. Lines of others
    /// stay without, and name nobody.
    func numbered(_ text: String, at place: Int64) -> String {
        text.split(separator: "\n").map { part in
            let line = String(part)
            guard let (number, floor) = known[line], place > floor else { return line }
            return "\(line)#\(number)"
        }.joined(separator: "\n")
    }

    /// Appends to the idempotency keys of applications their numbers, as requests look for them from now on.
    func numberKeys(_ database: Database) throws {
        let rows = try Row.fetchAll(
            database,
            sql: """
                SELECT key, number FROM idempotentRequest
                JOIN application ON application.name = idempotentRequest.application
                """)
        for row in rows {
            let (key, number): (Data, Int64) = (row["key"], row["number"])
            try database.execute(
                sql: "UPDATE idempotentRequest SET key = ? WHERE key = ?",
                arguments: [key + Data("\(number)".utf8), key])
        }
    }
}
