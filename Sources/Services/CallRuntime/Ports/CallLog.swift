package import CallControl

/// Keeps what calls were, for the call log of each user (spidr-wire §10).
package protocol CallLog: Sendable {
    /// Returns at once. A record whose leg went on in another call (`ending` is `nil`) is shown to nobody until the record of the
    /// same leg there continues it.
    func add(_ record: CallLogRecord)

    /// The latest first.
    ///
    /// - Parameters:
    ///   - start: how many of the latest are passed over, 0 or more.
    ///   - count: 0 or more.
    func records(of user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord]

    /// `nil` if there is none of that name for this user.
    func record(_ id: SessionID, of user: UserAddress) async -> CallLogRecord?

    /// `false` if there was none.
    func remove(_ id: SessionID, of user: UserAddress) async -> Bool

    func removeAll(of user: UserAddress) async
}
