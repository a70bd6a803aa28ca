/// Why a call was not started, or rang no device, although nothing was wrong with the request. The raw value is the
/// word that metrics use.
package enum CallRefusal: String, Hashable, Sendable, CaseIterable {
    /// The user who calls already has as many legs as one user may have.
    case userCalls = "user_calls"
    /// The user who calls has started too many calls in too short a time.
    case userRate = "user_rate"
    /// The user who is called already has as many legs as one user may have.
    case calleeCalls = "callee_calls"
    /// As many calls ring at the user who is called as may ring, or as many from one caller.
    case calleeRinging = "callee_ringing"
    /// The gateway, or every media worker, carries as many calls as it may.
    case gatewayCalls = "gateway_calls"
}
