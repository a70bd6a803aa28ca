import CallControl

/// The origin of the calls that ring at a user's devices. All guests count as one caller, because everything that tells
/// guests apart can be changed by them.
enum Ringer: Hashable, Sendable {
    /// The user with this account.
    case account(UserAddress)
    /// All guests.
    case guests

    init(_ user: UserAddress) { self = user.guest == nil ? .account(user) : .guests }
}
