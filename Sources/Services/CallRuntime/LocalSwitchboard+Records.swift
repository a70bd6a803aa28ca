package import CallControl

/// What an application can ask about a user's calls, in progress and finished.
extension LocalSwitchboard {
    /// The user's calls in progress, in the order in which the user joined them.
    package func callSessions(_ user: UserAddress) async -> [CallSession] {
        var sessions: [CallSession] = []
        for leg in await users.existing(user)?.legs ?? [] {
            // A call that has ended meanwhile is left out.
            do throws(CallError) { sessions.append(try await session(of: leg)) } catch {}
        }
        return sessions
    }

    /// The records of the user's calls, the latest first; see `CallLog`.
    ///
    /// - Throws: `StorageError.failed` if the records cannot be read.
    package func callRecords(
        _ user: UserAddress, from start: Int, count: Int
    ) async throws(StorageError) -> [CallLogRecord] {
        try await environment.log.records(of: user, from: start, count: count)
    }

    /// The record of one call; `nil` if the user has none of that name.
    ///
    /// - Throws: `StorageError.failed` if the records cannot be read.
    package func callRecord(_ user: UserAddress, _ id: SessionID) async throws(StorageError) -> CallLogRecord? {
        try await environment.log.record(id, of: user)
    }

    /// Removes a record; `false` if the user had none of that name.
    /// - Throws: `StorageError.failed` if the records cannot be read.
    package func removeCallRecord(_ user: UserAddress, _ id: SessionID) async throws(StorageError) -> Bool {
        try await environment.log.remove(id, of: user)
    }

    /// Removes all records of the user.
    package func removeCallRecords(_ user: UserAddress) async { await environment.log.removeAll(of: user) }

    /// What the media plane has measured of a call; `own` is the leg of the user who asks.
    ///
    /// - Throws: `noSuchCall`.
    package func statistics(
        _ user: UserAddress, _ session: SessionID
    ) async throws(CallError) -> (own: LegID, statistics: CallMediaStatistics) {
        let leg = try await leg(of: session, for: user)
        // Nothing is measured of a call whose media goes from peer to peer.
        return (leg.leg, await environment.media.statistics(of: leg.call) ?? CallMediaStatistics(legs: []))
    }
}
