package import CallControl
package import Primitives
import Synchronization

/// Callers without an account (spidr-wire §7).
///
/// A guest is a user of its own, whose address nobody can write: it can be neither called nor logged in. It has one subscription and
/// one call at a time, to the account it came for.
extension LocalSwitchboard {
    package func admit(
        _ request: SubscriptionRequest, toCall account: UserAddress, from network: SourceNetwork?
    ) async throws(RegistrationError) -> SubscriptionGrant {
        guard !isDraining.load(ordering: .acquiring) else { throw .draining }
        var random = environment.random.generator
        let owner = try await users.owner(of: GuestID(random: &random), toCall: account, from: network)
        // The name that RFC 3323 §4.1 gives to those who keep theirs.
        // Only the end of the gateway can have come between: it lets go of whoever has nothing yet.
        guard let grant = try await owner.subscribe(request, displayName: "Anonymous") else { throw .draining }
        return grant
    }

    package func account(of guest: GuestID) async -> UserAddress? { await users.account(of: guest) }

    /// Throws unless this user may call that account.
    func checkMayCall(_ callee: UserAddress, _ user: UserAddress) async throws(CallError) {
        guard let guest = user.guest, await users.account(of: guest) != callee else { return }
        throw .notForGuests("A guest calls the account it came for, and nobody else.")
    }

    /// Throws if this user is a guest: who brings others into calls must have an account.
    func checkIsNoGuest(_ user: UserAddress) throws(CallError) {
        guard user.guest == nil else { throw .notForGuests("A guest can neither transfer nor join calls.") }
    }
}
