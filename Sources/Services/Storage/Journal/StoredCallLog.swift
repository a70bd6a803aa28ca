package import CallControl
package import CallRuntime
import Foundation
import GRDB
import Logging
import Observability

/// The call log in the table `callRecord`. The journal writes it, so that a record is durable together with the event
/// that ended the call.
///
/// Records are read on a connection of their own, which does not wait for commits. A request whose answer waited for
/// the journal is thus seen by every request after it.
package struct StoredCallLog: CallLog {
    private let journal: JournalStore
    private let reader: DatabaseQueue
    private let limits: JournalStore.Configuration

    private let logger: Logger

    init(_ journal: JournalStore, reader: DatabaseQueue, limits: JournalStore.Configuration, logger: Logger) {
        self.logger = logger
        self.journal = journal
        self.reader = reader
        self.limits = limits
    }

    /// Adds a record; see `CallLog`.
    ///
    /// - Returns: what the journal has to keep; `nil` if no records are kept.
    package func add(_ record: CallLogRecord) -> JournalEntry? {
        limits.recordsPerUser > 0 && limits.records > 0 ? .record(record) : nil
    }

    /// The records of a user, the latest first; see `CallLog`.
    ///
    /// - Throws: `StorageError.failed`.
    package func records(
        of user: UserAddress, from start: Int, count: Int
    ) async throws(StorageError) -> [CallLogRecord] {
        try await read(
            """
            SELECT record FROM callRecord WHERE user = ? AND NOT isOpen ORDER BY number DESC LIMIT ? OFFSET ?
            """, [user.text, count, start])
    }

    /// The record of this session; see `CallLog`.
    ///
    /// - Throws: `StorageError.failed`.
    package func record(_ id: SessionID, of user: UserAddress) async throws(StorageError) -> CallLogRecord? {
        try await read(
            "SELECT record FROM callRecord WHERE user = ? AND id = ? AND NOT isOpen", [user.text, id.rawValue]
        ).first
    }

    /// Removes a record; see `CallLog`.
    ///
    /// - Throws: `StorageError.failed`.
    package func remove(_ id: SessionID, of user: UserAddress) async throws(StorageError) -> Bool {
        guard try await record(id, of: user) != nil else { return false }
        journal.append(.recordRemoved(user, id))
        return true
    }

    /// Removes all records of a user; see `CallLog`.
    package func removeAll(of user: UserAddress) async { journal.append(.recordRemoved(user, nil)) }

    private func read(_ sql: String, _ arguments: StatementArguments) async throws(StorageError) -> [CallLogRecord] {
        let texts = try await storageErrors(at: reader.path) {
            try await reader.read { try String.fetchAll($0, sql: sql, arguments: arguments) }
        }
        let decoder = JSONDecoder()
        return texts.compactMap { text in
            do {
                return try decoder.decode(CallLogRecord.self, from: Data(text.utf8))
            } catch {
                // The others can be read.
                logger.warning(
                    "a record of a call cannot be read", metadata: [LogKey.reason: "\(SetAside.reason(of: error))"])
                return nil
            }
        }
    }
}
