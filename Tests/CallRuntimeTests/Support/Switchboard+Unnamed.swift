import CallControl
import CallRuntime

/// Requests that do not say which device they are from.
extension Switchboard {
    func ringing(_ user: UserAddress, _ session: SessionID) async throws(CallError) {
        try await ringing(user, session, from: nil)
    }

    func reject(_ user: UserAddress, _ session: SessionID, replacement: Bool) async throws(CallError) {
        try await reject(user, session, from: nil, replacement: replacement)
    }

    func end(_ user: UserAddress, _ session: SessionID, reasonText: String?) async throws(CallError) {
        try await end(user, session, from: nil, reasonText: reasonText)
    }
}
