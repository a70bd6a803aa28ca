package import CallControl

/// Keeps the records of finished calls, for the call log of each user (spidr-wire §10).
package protocol CallLog: Sendable {
    /// Adds a record; returns at once. A record whose leg went on in another call (`ending` is `nil`) is not shown
    /// until the record of the same leg in that call continues it.
    ///
    /// - Returns: what the journal has to keep together with the event that ends the call; `nil`: nothing.
    func add(_ record: CallLogRecord) -> JournalEntry?

    /// The records of a user, the latest first.
    ///
    /// - Parameters:
    ///   - start: how many of the latest to skip, 0 or more.
    ///   - count: how many to return at most, 0 or more.
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func records(of user: UserAddress, from start: Int, count: Int) async throws(StorageError) -> [CallLogRecord]

    /// The record of this session; `nil` if the user has none of that name.
    ///
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func record(_ id: SessionID, of user: UserAddress) async throws(StorageError) -> CallLogRecord?

    /// Removes a record, once the journal is durable.
    ///
    /// - Returns: `false` if the user had none of that name.
    /// - Throws: `StorageError.failed` if the records cannot be read.
    func remove(_ id: SessionID, of user: UserAddress) async throws(StorageError) -> Bool

    /// Removes all records of a user, once the journal is durable.
    func removeAll(of user: UserAddress) async
}
