package import CallControl

/// What a signalling dialect can ask of the records of calls that are over (spidr-wire §10).
package protocol CallRecords: Sendable {
    /// The records of the user's calls, the latest first; see `CallLog`.
    func callRecords(_ user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord]
    /// The record of one call; `nil` if the user has none of that name.
    func callRecord(_ user: UserAddress, _ id: SessionID) async -> CallLogRecord?
    /// Removes a record.
    ///
    /// - Returns: `false` if the user had none of that name.
    func removeCallRecord(_ user: UserAddress, _ id: SessionID) async -> Bool
    /// Removes all records of the user.
    func removeCallRecords(_ user: UserAddress) async
}
