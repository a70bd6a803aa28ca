package import CallControl

/// What a signalling dialect can ask of calls: one door for requests, and what can be looked at.
///
/// Every function names the authenticated user. A session of another user is treated as one that does not exist, so
/// that nothing about it is revealed. `device` is the name that the request gives to the device it comes from
/// (spidr-wire §1.2); `nil`: it gives none.
package protocol Switchboard: Sendable {
    /// Carries out a request about calls.
    ///
    /// - Parameter outlivesCall: whether the request succeeds, once its call is over, until the device has been told.
    /// - Returns: the session that the request was about; for a call that was started or joined, its new session.
    /// - Throws: `CallError`, with the reason for the refusal.
    @discardableResult
    func perform(
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?, outlivesCall: Bool
    ) async throws(CallError) -> SessionID
    /// A call in progress, as the user may see it.
    ///
    /// - Throws: `noSuchCall`.
    func callSession(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> CallSession
    /// What the media plane has measured of a call; `own` is the leg of the user who asks.
    ///
    /// - Throws: `noSuchCall`.
    func statistics(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> (
        own: LegID, statistics: CallMediaStatistics
    )
    /// The user's calls in progress, in the order in which the user joined them.
    func callSessions(_ user: UserAddress) async -> [CallSession]
}

extension Switchboard {
    /// Carries out a request that is refused as soon as its call is over; see the function with `outlivesCall`.
    ///
    /// - Throws: `CallError`, with the reason for the refusal.
    @discardableResult
    package func perform(
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?
    ) async throws(CallError) -> SessionID {
        try await perform(request, by: user, from: device, outlivesCall: false)
    }
}
