import CallControl
import Primitives

/// Finds the owner of a user's registration, and makes it when there is something to own.
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

    /// - Parameter retired: the owner that was found before and has nothing to own any more.
    func owner(of user: UserAddress, insteadOf retired: RegistrationOwner? = nil) -> RegistrationOwner {
        if let owner = owners[user], owner !== retired { return owner }
        let owner = RegistrationOwner(user, environment)
        owners[user] = owner
        newcomers.post(.registration(owner))
        return owner
    }

    /// The owner has retired; another one may have taken its place already.
    func remove(_ owner: RegistrationOwner) {
        if owners[owner.user] === owner { owners[owner.user] = nil }
        // Guests subscribe once: with the owner of that subscription they are gone.
        if let guest = owner.user.guest { guests.leave(guest) }
    }

    /// A guest comes in.
    func owner(of guest: GuestID, toCall account: UserAddress, from network: SourceNetwork?) throws(RegistrationError)
        -> RegistrationOwner
    {
        try guests.enter(guest, toCall: account, from: network)
        return owner(of: UserAddress(guest))
    }

    /// A guest's place is free from now on, though its owner may still be about to end.
    func leave(_ guest: GuestID) { guests.leave(guest) }

    /// The account that a guest may call; `nil` if there is no such guest.
    func account(of guest: GuestID) -> UserAddress? { guests.account(of: guest) }

    var all: [RegistrationOwner] { Array(owners.values) }
}
