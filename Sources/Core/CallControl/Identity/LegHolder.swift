/// Whose a leg is. Its address does not tell: a user may have an address of an application, and an address may have
/// been another application's before. Nor does the name of an application: one of that name may have been before it.
package enum LegHolder: Hashable, Sendable {
    /// The user of this address, or a guest.
    case user(UserAddress)
    /// An application, at whichever of its addresses.
    case application(ApplicationIdentity)
}
