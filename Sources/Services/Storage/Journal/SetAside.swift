import CallRuntime
import Foundation
import GRDB
import GatewayAPI

/// Rows that cannot be understood. They are moved to the table `setAside`, so that the others can be used, and an
/// operator can look at them.
struct SetAside: Equatable, Sendable {
    /// The most rows that are kept; the oldest make room.
    static let limit = 1_000

    /// When the rows are found, milliseconds since 1970.
    private let now: Int64
    /// The rows that were found, in order.
    private(set) var entries: [SetAsideRow] = []

    /// Makes an empty list.
    ///
    /// - Parameter now: milliseconds since 1970.
    init(at now: Int64) { self.now = now }

    /// What is wrong, without what stands there.
    static func reason(of error: any Error) -> String {
        guard let error = error as? DecodingError else { return "it is no JSON" }
        let path: [any CodingKey] =
            switch error {
            case .keyNotFound(let key, let context): context.codingPath + [key]
            case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
                context.codingPath
            @unknown default: []
            }
        return path.isEmpty ? "it is not of the known form" : "see \(path.map(\.stringValue).joined(separator: "."))"
    }

    /// Copies a row to the table `setAside`, and removes it.
    ///
    /// - Parameters:
    ///   - row: all columns of the row.
    ///   - key: the column that identifies the row.
    mutating func move(
        _ row: Row, from table: String, key: String, because reason: String, _ database: Database
    ) throws {
        try copy(row, from: table, because: reason, database)
        try database.execute(sql: "DELETE FROM \(table) WHERE \(key) = ?", arguments: [row[key] as DatabaseValue])
    }

    /// Copies a row to the table `setAside`. What becomes of the row itself is decided by the caller.
    mutating func copy(
        _ row: Row, from table: String, because reason: String, _ database: Database
    ) throws {
        let columns = Dictionary(row.map { ($0, String.fromDatabaseValue($1) ?? $1.description) }) { first, _ in first }
        try database.execute(
            sql: "INSERT INTO setAside (time, source, reason, content) VALUES (?, ?, ?, ?)",
            arguments: [now, table, reason, String(decoding: WireJSON.encode(columns), as: UTF8.self)])
        try database.execute(
            sql: """
                DELETE FROM setAside WHERE number <= (SELECT max(number) FROM setAside) - ?
                """, arguments: [Self.limit])
        entries.append(SetAsideRow(table: table, reason: reason))
    }
}
