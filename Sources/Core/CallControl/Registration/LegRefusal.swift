/// Why a user cannot have one more leg now.
package enum LegRefusal: Error, Equatable {
    /// No subscription of the user is one of a device.
    case noDevice
    /// The user has as many legs as allowed.
    case limitOfLegs
    /// As many calls ring at the user's devices as allowed, or as many of them by the same caller.
    case limitOfRinging
    /// The user has begun too many calls in too short a time.
    case tooOften(retryAfter: Duration)
}

/// How a user comes to a leg.
package enum LegRole: Equatable, Sendable {
    /// Dialled, joined calls, or takes one call in place of another.
    case own
    /// Is rung by this user.
    case rung(by: UserAddress)
}

/// Whose calls ring at a user's devices. Guests are told apart by nothing that they could not change, and count as one caller.
enum Ringer: Hashable, Sendable {
    case account(UserAddress)
    case guests

    init(_ user: UserAddress) { self = user.guest == nil ? .account(user) : .guests }
}
