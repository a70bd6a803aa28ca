package import CallControl
package import Primitives
package import Registration
import Synchronization

/// Guests, that is callers without an account (spidr-wire §7).
///
/// A guest is a user of its own, whose address cannot be written: it can be neither called nor logged in to. It has one
/// subscription, and one call at a time, to the account that it was admitted for.
extension LocalSwitchboard {
    /// The display name of RFC 3323 §4.1 for users who withhold theirs.
    static var guestName: String { "Anonymous" }

    /// Subscribes a guest; see `Registrar`.
    ///
    /// - Throws: `limitOfGuests`, `limitOfNetworkGuests`, `limitOfAllSubscriptions`, `unsupportedServices`, or
    ///   `draining`.
    package func admit(
        _ request: SubscriptionRequest, toCall account: UserAddress, from network: SourceNetwork?
    ) async throws(RegistrationError) -> SubscriptionGrant {
        try checkRoom()
        var random = environment.random.generator
        let guest = GuestID(random: &random)
        let owner = try await users.owner(of: guest, toCall: account, from: network)
        // The subscription fails only if the gateway has stopped meanwhile: then owners that own nothing retire.
        guard let grant = try await owner.subscribe(request, displayName: Self.guestName) else { throw .draining }
        environment.journal.append(.guest(StoredGuest(guest: guest, account: account, network: network)))
        return grant
    }

    /// The account that a guest may call; `nil` if there is no such guest any more.
    package func account(of guest: GuestID) async -> UserAddress? { await users.account(of: guest) }

    /// Throws `notForGuests` if this user is a guest who may not make a request with this rule.
    func check(_ rule: CallRequest.GuestRule, for user: UserAddress) async throws(CallError) {
        guard let guest = user.guest else { return }
        switch rule {
        case .open: break
        case .account(let account):
            guard await users.account(of: guest) == account else { throw .notForGuests(.otherAccount) }
        case .closed(let limit): throw .notForGuests(limit)
        }
    }
}
