import CallControl
import CallRuntime
import Foundation
import GRDB
import GatewayAPI

/// Writes the table `callRecord`. Every function returns by how much the number of its rows has changed.
enum RecordRows {
    /// Writes a record, which continues that of the same session. The user's oldest records make room.
    ///
    /// - Parameter found: gets the part that was there, if it cannot be read.
    static func write(
        _ record: CallLogRecord, perUser limit: Int, settingAside found: inout [SetAsideRow], _ database: Database
    ) throws -> Int {
        var record = record
        let part = try database.cachedStatement(
            sql: "DELETE FROM callRecord WHERE user = ? AND id = ? RETURNING record")
        var change = 0
        if let text = try String.fetchOne(part, arguments: [record.user.text, record.id.rawValue]) {
            change -= 1
            do {
                record = try JSONDecoder().decode(CallLogRecord.self, from: Data(text.utf8)).continued(by: record)
            } catch {
                // A part that cannot be read must not keep the journal from being written. It is kept for a look.
                var setAside = SetAside(at: record.endedAt)
                try setAside.copy(
                    ["user": record.user.text, "id": record.id.rawValue, "record": text], from: "callRecord",
                    because: "the first part of a record cannot be read: \(SetAside.reason(of: error))", database)
                found += setAside.entries
            }
        }
        try database.cachedStatement(
            sql: "INSERT INTO callRecord (user, id, isOpen, endedAt, record) VALUES (?, ?, ?, ?, ?)"
        ).execute(arguments: [
            record.user.text, record.id.rawValue, record.ending == nil, record.endedAt,
            String(decoding: WireJSON.encode(record), as: UTF8.self),
        ])
        try database.cachedStatement(
            sql: """
                DELETE FROM callRecord WHERE number IN
                (SELECT number FROM callRecord WHERE user = ? ORDER BY number DESC LIMIT -1 OFFSET ?)
                """
        ).execute(arguments: [record.user.text, limit])
        return change + 1 - database.changesCount
    }

    /// Removes what a user does not want to see any more. A record that awaits its continuation stays.
    ///
    /// - Parameter id: the session; `nil`: all.
    static func remove(_ id: SessionID?, of user: UserAddress, _ database: Database) throws -> Int {
        try database.cachedStatement(
            sql: "DELETE FROM callRecord WHERE user = :user AND (:id IS NULL OR id = :id) AND NOT isOpen"
        ).execute(arguments: ["user": user.text, "id": id?.rawValue])
        return -database.changesCount
    }

    /// How many rows there are, and the number of the last one; 0: none.
    static func extent(_ database: Database) throws -> (count: Int, last: Int64) {
        (
            try Int.fetchOne(database, sql: "SELECT count(*) FROM callRecord") ?? 0,
            try Int64.fetchOne(database, sql: "SELECT max(number) FROM callRecord") ?? 0
        )
    }

    /// Removes the records that await a continuation which no call can bring any more.
    ///
    /// - Parameter last: the last number that an earlier process has given.
    static func removeOpen(through last: Int64, _ database: Database) throws -> Int {
        try database.execute(sql: "DELETE FROM callRecord WHERE isOpen AND number <= ?", arguments: [last])
        return -database.changesCount
    }

    /// Removes the oldest records, a bounded number at a time.
    ///
    /// - Parameters:
    ///   - time: records of calls that ended before this go, milliseconds since 1970.
    ///   - surplus: so many of the oldest go in any case.
    static func removeOldest(before time: Int64, surplus: Int, _ database: Database) throws -> Int {
        // They stand in the order of their ends.
        let rows = try Row.fetchCursor(
            database, sql: "SELECT number, endedAt FROM callRecord ORDER BY number LIMIT ?",
            arguments: [JournalWriter.upkeepLimit])
        var (count, last) = (0, nil as Int64?)
        while let row = try rows.next(), count < surplus || (row["endedAt"] as Int64) < time {
            count += 1
            last = row["number"]
        }
        guard let last else { return 0 }
        try database.execute(sql: "DELETE FROM callRecord WHERE number <= ?", arguments: [last])
        return -database.changesCount
    }
}
