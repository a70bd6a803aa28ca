/// Why a call was not started, or rang no device, although nothing was wrong with the request.
package enum CallRefusal: Equatable, Sendable, CaseIterable {
    /// The user who calls already has as many legs as one user may have.
    case userCalls
    /// The user who calls has started too many calls in too short a time.
    case userRate
    /// The user who is called already has as many legs as one user may have.
    case calleeCalls
    /// As many calls ring at the user who is called as may ring, or as many from one caller.
    case calleeRinging
    /// The gateway, or every media worker, carries as many calls as it may.
    case gatewayCalls
}
