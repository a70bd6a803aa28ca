package import CallRuntime
import Foundation
import GRDB
package import Sockets

/// Copies of the database: made while a gateway runs, and put in its place while none does.
package enum DatabaseCopy {
    /// By how much the numbers of notifications go on after a restore: more than any gateway gives between a backup and
    /// the restore, so that a client never takes a new notification for one that it knows.
    private static let numberGap: Int64 = 1_000_000

    /// Takes the lock of a database, which one gateway holds at a time.
    ///
    /// - Throws: `StorageError.failed` if a gateway holds it, or its file cannot be made.
    package static func lock(_ path: String) throws(StorageError) -> FileLock {
        let lock: FileLock?
        do throws(SocketError) {
            lock = try FileLock.take(path + ".lock")
        } catch {
            throw .failed(
                "\(path).lock cannot be created: does its folder exist, and may this user write there? (\(error))")
        }
        guard let lock else { throw .failed("another gateway runs on \(path): it holds \(path).lock") }
        return lock
    }

    /// Writes a copy of the database at one moment, also while a gateway writes to it. Nothing of the database is
    /// changed, and `target` is there whole or not at all.
    ///
    /// - Parameter target: a path that no file has.
    /// - Throws: `StorageError.failed`.
    package static func back(up path: String, to target: String) throws(StorageError) {
        guard !FileManager.default.fileExists(atPath: target) else {
            throw .failed("\(target) exists: name a file that does not")
        }
        let partial = target + ".partial"
        do throws(SocketError) {
            try DurableFile.create(partial)
        } catch {
            throw .failed(
                "\(partial) cannot be made (\(error)): a backup that was killed leaves it behind, remove it then")
        }
        do {
            try copy(path, to: partial)
            try check(partial, with: "quick_check")
            try DurableFile.sync(partial)
            try DurableFile.renameExclusively(partial, to: target)
            try DurableFile.sync(folder(of: target))
        } catch {
            discard(partial)
            throw failure(error, about: partial)
        }
    }

    /// Puts a backup in the place of the database. The former one is kept as `<path>.before-restore`.
    ///
    /// Subscriptions go on, with numbers of notifications that were never given. Notifications and events of calls are
    /// left out, since they are of the time before the backup.
    ///
    /// - Returns: whether there was a former database.
    /// - Throws: `StorageError.failed` if a gateway runs on the database, or the backup cannot be used.
    package static func restore(_ backup: String, to path: String) throws(StorageError) -> Bool {
        let lock = try lock(path)
        defer { lock.release() }
        let partial = path + ".partial"
        do {
            try check(backup, with: "integrity_check")
            try DurableFile.remove(partial)
            try DurableFile.create(partial)
            try copy(backup, to: partial)
            try renumber(partial)
            try DurableFile.sync(partial)
            let isThere = FileManager.default.fileExists(atPath: path)
            if isThere { try setAside(path) }
            try DurableFile.rename(partial, to: path)
            try DurableFile.sync(folder(of: path))
            return isThere
        } catch {
            discard(partial)
            throw failure(error, about: partial)
        }
    }

    // MARK: - Private

    private static func open(_ path: String, readOnly: Bool) throws -> DatabaseQueue {
        guard FileManager.default.fileExists(atPath: path) else { throw StorageError.failed("\(path) does not exist") }
        var configuration = GRDB.Configuration()
        configuration.readonly = readOnly
        configuration.busyMode = .timeout(GatewayDatabase.busyTimeout)
        do {
            return try DatabaseQueue(path: path, configuration: configuration)
        } catch {
            throw StorageError(error, at: path)
        }
    }

    /// Copies a database into an empty file, in one snapshot.
    private static func copy(_ path: String, to target: String) throws {
        let queue = try open(path, readOnly: true)
        do {
            try checkVersion(queue)
        } catch {
            throw StorageError(error, at: path)
        }
        do {
            try queue.writeWithoutTransaction { try $0.execute(sql: "VACUUM INTO ?", arguments: [target]) }
        } catch {
            throw StorageError(error, at: target)
        }
        try queue.close()
    }

    private static func checkVersion(_ queue: DatabaseQueue) throws {
        let (isNewer, isOurs) = try queue.read {
            (try Schema.migrator.hasBeenSuperseded($0), try !Schema.migrator.appliedIdentifiers($0).isEmpty)
        }
        if isNewer { throw StorageError.failed("\(queue.path) was written by a newer version of orbweaver") }
        if !isOurs { throw StorageError.failed("\(queue.path) is not a database of orbweaver") }
    }

    private static func check(_ path: String, with pragma: String) throws {
        let queue = try open(path, readOnly: true)
        do {
            let answer = try queue.read { try String.fetchAll($0, sql: "PRAGMA \(pragma)") }
            guard answer == ["ok"] else { throw StorageError.failed("\(path) is damaged: \(answer.first ?? "")") }
            try queue.close()
        } catch {
            throw StorageError(error, at: path)
        }
    }

    /// Brings a copy up to date, and makes of it what the next gateway finds.
    private static func renumber(_ path: String) throws {
        let queue = try open(path, readOnly: false)
        do {
            try Schema.migrator.migrate(queue)
            try queue.write { database in
                try database.execute(
                    sql: """
                        UPDATE subscription SET numbered = :gap + max(numbered, transmitted, forgotten, firstEventId,
                        ifnull((SELECT max(eventId) FROM notification WHERE subscription = id), 0));
                        DELETE FROM notification;
                        DELETE FROM callEvent;
                        DELETE FROM owedPush;
                        DELETE FROM callRecord WHERE isOpen
                        """, arguments: ["gap": numberGap])
            }
            try queue.close()
        } catch {
            throw StorageError(error, at: path)
        }
    }

    /// Keeps a database under another name. A file of its own name is there at every moment, so that no gateway starts
    /// on an empty one.
    private static func setAside(_ path: String) throws {
        let kept = path + ".before-restore"
        for suffix in ["", "-wal", "-shm"] { try DurableFile.remove(kept + suffix) }
        // Moves the write-ahead log into the file. That of a damaged file stays, and is kept with it.
        if let queue = try? open(path, readOnly: false) {
            _ = try? queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
            try? queue.close()
        }
        if FileManager.default.fileExists(atPath: path + "-wal") {
            try DurableFile.rename(path + "-wal", to: kept + "-wal")
        }
        try DurableFile.remove(path + "-shm")
        try DurableFile.link(path, to: kept)
    }

    private static func folder(of path: String) -> String {
        URL(filePath: path).absoluteURL.deletingLastPathComponent().path
    }

    private static func discard(_ partial: String) {
        for suffix in ["", "-journal", "-wal", "-shm"] {
            // The error that is reported is the one before.
            try? DurableFile.remove(partial + suffix)
        }
    }

    private static func failure(_ error: any Error, about path: String) -> StorageError {
        if let error = error as? SocketError { return .failed("\(path) cannot be written (\(error))") }
        return StorageError(error, at: path)
    }
}
