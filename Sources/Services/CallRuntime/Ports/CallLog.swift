package import CallControl

/// Keeps the records of finished calls, for the call log of each user (spidr-wire §10).
package protocol CallLog: Sendable {
    /// Adds a record; returns at once. A record whose leg went on in another call (`ending` is `nil`) is not shown
    /// until the record of the same leg in that call continues it.
    func add(_ record: CallLogRecord)

    /// The records of a user, the latest first.
    ///
    /// - Parameters:
    ///   - start: how many of the latest to skip, 0 or more.
    ///   - count: how many to return at most, 0 or more.
    func records(of user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord]

    /// The record of this session; `nil` if the user has none of that name.
    func record(_ id: SessionID, of user: UserAddress) async -> CallLogRecord?

    /// Removes a record.
    ///
    /// - Returns: `false` if the user had none of that name.
    func remove(_ id: SessionID, of user: UserAddress) async -> Bool

    /// Removes all records of a user.
    func removeAll(of user: UserAddress) async
}
