package import CallControl

/// What an application can ask about a user's calls, while they go on and afterwards.
extension LocalSwitchboard {
    package func callSessions(_ user: UserAddress) async -> [CallSession] {
        var sessions: [CallSession] = []
        for (call, leg) in await users.existing(user)?.legs ?? [] {
            // One that has ended meanwhile is none.
            do throws(CallError) { sessions.append(try await call.session(for: leg)) } catch {}
        }
        return sessions
    }

    package func callRecords(_ user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord] {
        await environment.log.records(of: user, from: start, count: count)
    }

    package func callRecord(_ user: UserAddress, _ id: SessionID) async -> CallLogRecord? {
        await environment.log.record(id, of: user)
    }

    package func removeCallRecord(_ user: UserAddress, _ id: SessionID) async -> Bool {
        await environment.log.remove(id, of: user)
    }

    package func removeCallRecords(_ user: UserAddress) async { await environment.log.removeAll(of: user) }
}
