/// Why a call did not begin, or rang nobody, although nothing was wrong with the request.
package enum CallRefusal: Equatable, Sendable, CaseIterable {
    /// The user who asks has as many legs of calls as one user may have.
    case userCalls
    /// The user who asks began too many calls in too short a time.
    case userRate
    /// The user who is called has as many legs of calls as one user may have.
    case calleeCalls
    /// As many calls ring at the user who is called as may, or as many of one caller.
    case calleeRinging
    /// The gateway, or all its media workers, carry as many calls as they may.
    case gatewayCalls
}
