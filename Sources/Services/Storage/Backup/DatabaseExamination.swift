package import CallRuntime
import Foundation
import GRDB

/// What a look at the database file shows. Nothing of it is changed, and a gateway may be using it.
package struct DatabaseExamination: Equatable, Sendable {
    /// The size of the file and of its write-ahead log, in bytes.
    package var bytes: Int
    /// The bytes that are free on its disk; `nil`: unknown.
    package var freeBytes: Int?
    /// The last change of the schema, such as `5 call records`.
    package var schema: String
    /// Whether this version knows all changes of the schema.
    package var isKnown: Bool
    /// Whether this version would change the schema when it opens the database.
    package var isBehind: Bool
    /// How many users there are.
    package var users: Int

    /// Looks at a file, and checks all of it.
    ///
    /// - Returns: `nil` if there is no such file.
    /// - Throws: `StorageError.failed` if it is damaged, or cannot be read.
    package init?(_ path: String) throws(StorageError) {
        let files = FileManager.default
        guard files.fileExists(atPath: path) else { return nil }
        do {
            func attribute(_ name: FileAttributeKey, _ attributes: [FileAttributeKey: Any]?) -> Int? {
                (attributes?[name] as? NSNumber)?.intValue
            }
            bytes = [path, path + "-wal"].reduce(0) {
                $0 + (attribute(.size, try? files.attributesOfItem(atPath: $1)) ?? 0)
            }
            let folder = URL(filePath: path).deletingLastPathComponent().path
            freeBytes = attribute(.systemFreeSize, try? files.attributesOfFileSystem(forPath: folder))
            var configuration = GRDB.Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(GatewayDatabase.busyTimeout)
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            let migrator = Schema.migrator
            (schema, isKnown, isBehind, users) = try queue.read { database in
                try PageCheck.check(database, at: path, naming: 3)
                let applied = try migrator.appliedIdentifiers(database)
                let users = try applied.isEmpty ? 0 : Int.fetchOne(database, sql: "SELECT count(*) FROM user") ?? 0
                return (
                    migrator.migrations.last { applied.contains($0) } ?? "none",
                    try !migrator.hasBeenSuperseded(database), try !migrator.hasCompletedMigrations(database), users
                )
            }
        } catch {
            throw StorageError(error, at: path)
        }
    }
}
