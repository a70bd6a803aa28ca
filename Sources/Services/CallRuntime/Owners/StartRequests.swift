import CallControl

/// The requests that started a user's calls, for as long as the calls last. A user may have a thousand.
struct StartRequests {
    private var requests: [SessionID: RequestDigest] = [:]
    private var sessions: [RequestDigest: SessionID] = [:]

    /// The call that this request has started; `nil`: none that lasts.
    subscript(request: RequestDigest) -> SessionID? { sessions[request] }

    /// A request has started a call.
    mutating func insert(_ request: RequestDigest, of session: SessionID) {
        remove(session)
        requests[session] = request
        sessions[request] = session
    }

    /// Forgets the request that started a call.
    mutating func remove(_ session: SessionID) {
        guard let request = requests.removeValue(forKey: session), sessions[request] == session else { return }
        sessions[request] = nil
    }
}
