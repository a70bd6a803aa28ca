/// Rules that all placements share.
enum PlacementRules {
    /// The error for a user who cannot have one more leg.
    ///
    /// - Parameter error: the error if the user has no device.
    static func error(_ refusal: LegRefusal, of user: UserAddress, withoutDevice error: CallError) -> CallError {
        switch refusal {
        case .noDevice: error
        case .limitOfLegs, .limitOfRinging: user.guest == nil ? .limitOfLegs : .notAllowed(.start, .guestHasCall)
        case .tooOften(let wait): .tooManyCalls(retryAfter: wait)
        }
    }

    /// The first of the names that is not empty; otherwise the address.
    static func name(_ names: String?..., or address: UserAddress) -> String {
        names.lazy.compactMap(\.self).first { !$0.isEmpty } ?? address.text
    }
}

/// Whether a user can be rung, found out in one question or two.
enum Reachability: Equatable {
    /// The user's devices ring.
    case rings(Contact)
    /// No device rings, for this reason.
    case unreachable(CallEndCause.Unreachable, limit: CallRefusal?)
    /// The user is not registered: whether there is such an account decides what the caller is told.
    case unknown

    /// - Parameters:
    ///   - reply: the reply of the user's registration.
    ///   - rejectsBusy: no device of a user with another call rings.
    ///   - caller: the user who calls. Guests do not learn which accounts exist, not even from the time that the answer
    ///     takes.
    init(_ reply: ContactReply, rejectsBusy: Bool, for caller: UserAddress) {
        switch reply {
        case .contact(let contact):
            self = contact.isEngaged && rejectsBusy ? .unreachable(.busy, limit: nil) : .rings(contact)
        case .refused(.limitOfLegs): self = .unreachable(.busy, limit: .calleeCalls)
        case .refused(.limitOfRinging), .refused(.tooOften): self = .unreachable(.busy, limit: .calleeRinging)
        case .refused(.noDevice), .absent:
            self = caller.guest == nil ? .unknown : .unreachable(.notRegistered, limit: nil)
        }
    }
}
