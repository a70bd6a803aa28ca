/// Why a user cannot have one more leg now.
package enum LegRefusal: Error, Equatable {
    /// No subscription of the user belongs to a device, and no device that is asleep can be woken.
    case noDevice
    /// The user already has as many legs as one user may have.
    case limitOfLegs
    /// As many calls ring at the user's devices as may ring, or as many from the same caller.
    case limitOfRinging
    /// The user has started too many calls in too short a time; the next is allowed after `retryAfter`.
    case tooOften(retryAfter: Duration)
}

/// How a user gets a leg.
package enum LegRole: Equatable, Sendable {
    /// The user dialled, joined calls, or takes one call in place of another.
    case own
    /// The user is rung by the given one.
    case rung(by: UserAddress)
}
