import CallControl
import Primitives

/// Decides which registrations there are, and makes the owner of one when there is something to own. Whoever looks one
/// up asks the `OwnerTable`, which waits for nobody.
actor UserDirectory {
    private let environment: RuntimeEnvironment
    private let newcomers: Inbox<OwnerLoop>
    private var owners: [UserAddress: RegistrationOwner] = [:]
    private var guests: GuestBook

    init(_ environment: RuntimeEnvironment, newcomers: Inbox<OwnerLoop>) {
        self.environment = environment
        self.newcomers = newcomers
        guests = GuestBook(environment.configuration.guests)
    }

    func existing(_ user: UserAddress) -> RegistrationOwner? { owners[user] }

    /// The owner of a user's registration, made if there is none.
    ///
    /// - Parameter retired: an owner that was found before and owns nothing any more; it is replaced.
    func owner(of user: UserAddress, insteadOf retired: RegistrationOwner? = nil) -> RegistrationOwner {
        if let owner = owners[user], owner !== retired { return owner }
        let owner = RegistrationOwner(user, environment)
        owners[user] = owner
        newcomers.post(.registration(owner))
        return owner
    }

    /// Removes an owner that has retired. Another one may have taken its place already, and stays.
    func remove(_ owner: RegistrationOwner) {
        if owners[owner.user] === owner { owners[owner.user] = nil }
        // Guests subscribe once: with the owner of that subscription they are gone.
        if let guest = owner.user.guest { guests.leave(guest) }
    }

    /// Admits a guest, and makes its owner.
    ///
    /// - Throws: `limitOfGuests` or `limitOfNetworkGuests`.
    func owner(of guest: GuestID, toCall account: UserAddress, from network: SourceNetwork?) throws(RegistrationError)
        -> RegistrationOwner
    {
        try guests.enter(guest, toCall: account, from: network)
        return owner(of: UserAddress(guest))
    }

    /// Frees the place of a guest, whose owner may not have ended yet.
    func leave(_ guest: GuestID) { guests.leave(guest) }

    /// The account that a guest may call; `nil` if there is no such guest.
    func account(of guest: GuestID) -> UserAddress? { guests.account(of: guest) }

    var all: [RegistrationOwner] { Array(owners.values) }
}
