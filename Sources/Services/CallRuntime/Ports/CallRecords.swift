package import CallControl

/// What a signalling dialect can ask of the records of calls that are over (spidr-wire §10). What is removed is gone
/// once the journal is durable.
package protocol CallRecords: Sendable {
    /// The records of the user's calls, the latest first; see `CallLog`.
    ///
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func callRecords(_ user: UserAddress, from start: Int, count: Int) async throws(StorageError) -> [CallLogRecord]
    /// The record of one call; `nil` if the user has none of that name.
    ///
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func callRecord(_ user: UserAddress, _ id: SessionID) async throws(StorageError) -> CallLogRecord?
    /// Removes a record.
    ///
    /// - Returns: `false` if the user had none of that name.
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func removeCallRecord(_ user: UserAddress, _ id: SessionID) async throws(StorageError) -> Bool
    /// Removes all records of the user.
    func removeCallRecords(_ user: UserAddress) async
}
