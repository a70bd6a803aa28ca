import CallRuntime
import GRDB

/// Runs `body` and turns every error that the library throws into a `StorageError`. GRDB leaves statement arguments out
/// of its descriptions, so no password record reaches a log this way.
///
/// - Parameter path: the file that the error names.
func storageErrors<Value>(at path: String, _ body: () async throws -> Value) async throws(StorageError) -> Value {
    do {
        return try await body()
    } catch {
        throw StorageError(error, at: path)
    }
}

extension StorageError {
    /// Makes an error of what the library threw: a sentence that names the file, what is wrong with it and what to do.
    init(_ error: any Error, at path: String) {
        if let error = error as? StorageError {
            self = error
        } else if let error = error as? DatabaseError {
            self = .failed(error.sentence(about: path))
        } else {
            self = .failed("\(path) cannot be used: \(error)")
        }
    }
}

extension DatabaseError {
    /// Whether a smaller transaction may succeed: the disk is full, or the file may not grow as far.
    var lacksRoom: Bool { resultCode == .SQLITE_FULL || extendedResultCode == .SQLITE_IOERR_WRITE }

    /// The sentence for a result code (https://www.sqlite.org/rescode.html).
    fileprivate func sentence(about path: String) -> String {
        switch resultCode {
        case .SQLITE_NOTADB: "\(path) is not an SQLite database: correct storage.path, or put a backup in its place"
        case .SQLITE_CORRUPT: "\(path) is damaged: put a backup in its place"
        case .SQLITE_CANTOPEN:
            "\(path) cannot be opened: it must be a file that this user may read and write, and so must be its folder"
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            "\(path) cannot be written: this user must be allowed to write to the file and to its folder"
        case .SQLITE_FULL: "\(path) cannot grow: the database or disk is full"
        case .SQLITE_BUSY, .SQLITE_LOCKED: "\(path) is in use: another process has kept the database locked, try again"
        case .SQLITE_IOERR: "\(path) cannot be read or written: the disk reports an error (\(message ?? "no details"))"
        default: "\(path) cannot be used: SQLite error \(extendedResultCode.rawValue), \(message ?? "no details")"
        }
    }
}
