import CallControl
import GRDB
import Registration

/// Writes the table `notification`: many rows with one statement, since one event may be told to many subscriptions.
struct NotificationRows {
    /// The values of the rows that are not written yet, in order.
    private var values: [DatabaseValue] = []
    private var texts = ServiceNoticeText()

    private static let columnCount = 10
    /// How many rows one statement writes. SQLite takes 999 values in every version.
    private static let rowCount = 32

    private static let oneRow = insertion(of: 1)
    private static let manyRows = insertion(of: rowCount)

    /// Adds a row behind those that were added before.
    ///
    /// - Parameter isTransmitted: whether the notification has been given to a socket; otherwise the row of the
    ///   subscription tells.
    /// - Throws: `DatabaseError`.
    mutating func add(
        _ frame: NotificationFrame, of id: SubscriptionID, isTransmitted: Bool, _ database: Database
    ) throws {
        let columns = NoticeColumns(frame.notice, &texts)
        values.append(id.rawValue.databaseValue)
        values.append(Int64(bitPattern: frame.eventID).databaseValue)
        values.append(frame.time.databaseValue)
        values.append(isTransmitted.databaseValue)
        values.append(columns.kind.rawValue.databaseValue)
        values.append(columns.lost?.databaseValue ?? .null)
        values.append(columns.call?.databaseValue ?? .null)
        values.append(columns.startedAt?.databaseValue ?? .null)
        values.append(columns.sequence?.databaseValue ?? .null)
        values.append(columns.content?.databaseValue ?? .null)
        guard values.count == Self.columnCount * Self.rowCount else { return }
        try Self.execute(Self.manyRows, values[...], database)
        values.removeAll(keepingCapacity: true)
    }

    /// Writes the rows that are left. To be called before the transaction is committed.
    ///
    /// - Throws: `DatabaseError`.
    mutating func finish(_ database: Database) throws {
        for start in stride(from: 0, to: values.count, by: Self.columnCount) {
            try Self.execute(Self.oneRow, values[start..<start + Self.columnCount], database)
        }
        values.removeAll()
    }

    private static func execute(_ sql: String, _ values: ArraySlice<DatabaseValue>, _ database: Database) throws {
        let statement = try database.cachedStatement(sql: sql)
        // There are as many as the statement asks for, so that they need not be compared with it.
        statement.setUncheckedArguments(StatementArguments(values))
        try statement.execute()
    }

    /// The statement that writes so many rows.
    private static func insertion(of count: Int) -> String {
        let row = "(\([String](repeating: "?", count: columnCount).joined(separator: ", ")))"
        return """
            INSERT INTO notification
            (subscription, eventId, time, isTransmitted, kind, lost, call, startedAt, sequence, content)
            VALUES \([String](repeating: row, count: count).joined(separator: ", "))
            """
    }
}
