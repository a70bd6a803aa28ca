import CallRuntime
import GRDB

/// Looks for damage in the pages of a database (https://www.sqlite.org/pragma.html#pragma_quick_check).
enum PageCheck {
    /// What SQLite says before the faults of a file.
    private static let heading = "*** in database main ***\n"

    /// Reads every page.
    ///
    /// - Parameter limit: how many faults the error names at most.
    /// - Throws: `StorageError.failed` with what is wrong and what to do; `DatabaseError`.
    static func check(_ database: Database, at path: String, naming limit: Int) throws {
        let faults = try String.fetchAll(database, sql: "PRAGMA quick_check(\(limit))")
        guard faults != ["ok"] else { return }
        let named = faults.joined(separator: "; ").replacing(heading, with: "").replacing("\n", with: "; ")
        throw StorageError.failed("\(path) is damaged (\(named)): put a backup in its place")
    }
}
