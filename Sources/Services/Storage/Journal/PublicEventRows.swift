import CallControl
import EventAPI
import Foundation
import GRDB

/// Reads and writes the tables `publicEvent`, `publicEventLog` and `publicEventFloor`.
enum PublicEventRows {
    /// How much there is of events.
    struct Amount: Equatable, Sendable {
        /// How many events.
        var count = 0
        /// How many bytes they have, their JSON and the lines of those who may see them together.
        var bytes = 0
    }

    /// Where the log stands when it is opened.
    struct Extent: Equatable, Sendable {
        /// The name of the log.
        var name: String
        /// The greatest number that was given; 0: none.
        var last: Int64
        /// Up to this number events may be gone.
        var removedThrough: Int64
        /// What there is.
        var amount: Amount
    }

    /// The bytes of a row, as ``write(_:_:)`` counts them. Of text, `length` alone would count characters.
    private static let size = "length(CAST(addresses AS BLOB)) + length(CAST(event AS BLOB))"

    /// Where the log stands.
    ///
    /// - Throws: `DatabaseError`.
    static func extent(_ database: Database) throws -> Extent {
        let log = try Row.fetchOne(database, sql: "SELECT name, removedThrough FROM publicEventLog")
        let events = try Row.fetchOne(
            database,
            sql: "SELECT count(*) AS count, max(number) AS last, sum(\(size)) AS bytes FROM publicEvent")
        let removed = log?["removedThrough"] as Int64? ?? 0
        return Extent(
            name: log?["name"] ?? "0", last: max(removed, events?["last"] ?? 0), removedThrough: removed,
            amount: Amount(count: events?["count"] ?? 0, bytes: events?["bytes"] ?? 0))
    }

    /// Writes an event at its place.
    ///
    /// - Returns: how many bytes it has.
    static func write(_ event: PublicEvent, _ database: Database) throws -> Int {
        let addresses = text(event.scope)
        try database.cachedStatement(
            sql: "INSERT INTO publicEvent (number, call, type, time, addresses, event) VALUES (?, ?, ?, ?, ?, ?)"
        ).execute(arguments: [
            event.number, event.call, event.type, event.time,
            addresses, String(decoding: event.json, as: UTF8.self),
        ])
        return addresses.utf8.count + event.json.count
    }

    /// The events behind a place, in order.
    ///
    /// - Parameter limit: how many rows are read.
    /// - Throws: `DatabaseError`.
    static func events(after number: Int64, through last: Int64, limit: Int, _ database: Database) throws
        -> [PublicEvent]
    {
        // The cursor reads each value where SQLite has it; rows that are kept would be copied first.
        let rows = try Row.fetchCursor(
            database.cachedStatement(
                sql: """
                    SELECT number, call, type, time, addresses, event FROM publicEvent
                    WHERE number > ? AND number <= ? ORDER BY number LIMIT ?
                    """),
            arguments: [number, last, limit])
        var events: [PublicEvent] = []
        while let row = try rows.next() {
            let json: String = row[5]
            events.append(
                PublicEvent(
                    number: row[0], call: row[1], type: row[2], time: row[3], scope: scope(row[4]),
                    json: Array(json.utf8)))
        }
        return events
    }

    /// What the line of an application starts with. No address has a blank.
    private static let mark = "application "

    /// Who may see an event, one per line.
    private static func text(_ scope: EventScope) -> String {
        (scope.addresses.map(\.text) + scope.applications.map { line(of: $0) }).joined(separator: "\n")
    }

    /// The line of an application: its name and its number.
    private static func line(of application: ApplicationIdentity) -> String { "\(mark)\(application)" }

    private static func scope(_ text: String) -> EventScope {
        EventScope(text.split(separator: "\n").compactMap { holder(of: $0) })
    }

    /// Whom a line names. What is read is never the address of a guest, and no reader has that of one. A line that has
    /// no number names an application that was gone when applications got theirs.
    private static func holder(of line: Substring) -> LegHolder? {
        guard line.hasPrefix(mark) else { return UserAddress(parsing: String(line)).map { .user($0) } }
        return ApplicationIdentity(String(line.dropFirst(mark.count))).map { .application($0) }
    }

    /// Removes some of the oldest events, a bounded number at a time.
    ///
    /// - Parameters:
    ///   - time: those that happened before this go, milliseconds since 1970.
    ///   - surplus: how many events and bytes are too many.
    /// - Returns: the number of the last one that is gone, and how much went; `nil`: none had to go.
    /// - Throws: `DatabaseError`.
    static func removeOldest(before time: Int64, surplus: Amount, _ database: Database) throws
        -> (through: Int64, amount: Amount)?
    {
        let first = try Int64.fetchOne(database, sql: "SELECT time FROM publicEvent ORDER BY number LIMIT 1")
        guard let first, first < time || surplus.count > 0 || surplus.bytes > 0 else { return nil }
        var old = 0
        if first < time {
            let times = try Int64.fetchAll(
                database, sql: "SELECT time FROM publicEvent ORDER BY number LIMIT ?",
                arguments: [JournalWriter.upkeepLimit])
            // An event can tell an earlier time than the one before. It goes with those around it.
            old = times.lastIndex { $0 < time }.map { $0 + 1 } ?? 0
        }
        // Only the rows that go are read whole.
        let rows = try Row.fetchCursor(
            database, sql: "SELECT number, \(size) AS bytes FROM publicEvent ORDER BY number LIMIT ?",
            arguments: [JournalWriter.upkeepLimit])
        var (through, gone) = (nil as Int64?, Amount())
        while gone.count < max(surplus.count, old) || gone.bytes < surplus.bytes,
            gone.bytes < JournalWriter.upkeepBytes, let row = try rows.next()
        {
            let bytes: Int = row["bytes"]
            through = row["number"]
            gone.count += 1
            gone.bytes += bytes
        }
        guard let through else { return nil }
        try database.execute(sql: "DELETE FROM publicEvent WHERE number <= ?", arguments: [through])
        try database.execute(
            sql: "UPDATE publicEventLog SET removedThrough = max(removedThrough, ?)", arguments: [through])
        try database.execute(sql: "DELETE FROM publicEventFloor WHERE number <= ?", arguments: [through])
        return (through, gone)
    }

    /// Notes that an account is new: its user is not shown what happened before, when another one may have had the
    /// address. An application needs no such note, since its number is in the events that it may see.
    static func setFloor(of user: UserAddress, _ database: Database) throws {
        try database.execute(
            sql: """
                INSERT OR REPLACE INTO publicEventFloor (address, number)
                SELECT ?, number FROM publicEvent ORDER BY number DESC LIMIT 1
                """, arguments: [user.text])
    }

    /// The last event that this user is not shown; 0: none.
    ///
    /// - Throws: `DatabaseError`.
    static func floor(of user: UserAddress, _ database: Database) throws -> Int64 {
        try Int64.fetchOne(
            database, sql: "SELECT number FROM publicEventFloor WHERE address = ?", arguments: [user.text]) ?? 0
    }
}
