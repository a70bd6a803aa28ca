import CallControl
import Primitives
import Registration

/// Makes the owner of a user's registration when the user first needs one, replaces an owner that is retired, and
/// admits guests. It also counts the subscriptions of each network. To look up an owner, use the `OwnerTable`, which is
/// not isolated to this actor.
actor UserDirectory {
    private nonisolated let environment: RuntimeEnvironment
    private nonisolated let owners: OwnerTable
    private let startedOwners: Inbox<OwnerLoop>
    private var guests: GuestTable
    private var networks: NetworkTable
    private var rates: AccountRates

    init(_ environment: RuntimeEnvironment, _ owners: OwnerTable, startedOwners: Inbox<OwnerLoop>) {
        self.environment = environment
        self.owners = owners
        self.startedOwners = startedOwners
        guests = GuestTable(environment.configuration.guests)
        networks = NetworkTable(environment.configuration.networks)
        rates = AccountRates(environment.configuration.subscriptionRate)
    }

    /// The owner of a user's registration; `nil` if there is none.
    nonisolated func existing(_ user: UserAddress) -> RegistrationOwner? { owners.registration(of: user) }

    /// The owner of a user's registration, made if there is none.
    ///
    /// - Parameter retired: an owner that was found before and owns nothing any more; it is replaced.
    func owner(of user: UserAddress, insteadOf retired: RegistrationOwner? = nil) -> RegistrationOwner {
        if let owner = existing(user), owner !== retired { return owner }
        let owner = RegistrationOwner(
            user, environment, network: user.guest.flatMap { guests.network(of: $0) })
        owners.set(owner)
        startedOwners.post(.registration(owner))
        return owner
    }

    /// Removes an owner that has retired. Another one may have taken its place already, and stays.
    func remove(_ owner: RegistrationOwner) {
        owners.remove(owner)
        // A guest has one subscription; with the owner of that subscription the guest is gone.
        if let guest = owner.user.guest { guests.leave(guest) }
    }

    /// Counts a request of a user for a subscription.
    ///
    /// - Throws: `tooOften`; `limitOfNetwork` or `tooOftenFromNetwork`.
    func enter(_ user: UserAddress, from network: SourceNetwork?) throws(RegistrationError) {
        try rates.charge(user, at: environment.clock.now)
        try enter(network)
    }

    /// Counts a subscription that a user is about to make, for the network that it comes from.
    ///
    /// - Parameter replacing: it takes the place of another one of the user.
    /// - Throws: `limitOfNetwork` or `tooOftenFromNetwork`.
    func enter(_ network: SourceNetwork?, replacing: Bool = false) throws(RegistrationError) {
        try networks.enter(network, replacing: replacing, at: environment.clock.now)
    }

    /// A subscription that was counted is not made after all.
    func withdraw(_ network: SourceNetwork?) { networks.withdraw(network) }

    /// What a network holds has changed.
    func note(_ change: NetworkChange) {
        switch change {
        case .found(let network): networks.found(network)
        case .left(let network): networks.leave(network)
        }
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

    /// Takes over a guest from a process that has ended.
    ///
    /// - Throws: `limitOfGuests` or `limitOfNetworkGuests`, if fewer are allowed now.
    func restore(_ guest: StoredGuest) throws(RegistrationError) {
        try guests.enter(guest.guest, toCall: guest.account, from: guest.network)
    }

    /// Frees the place of a guest, whose owner may not have ended yet.
    func leave(_ guest: GuestID) { guests.leave(guest) }

    /// The account that a guest may call; `nil` if there is no such guest.
    func account(of guest: GuestID) -> UserAddress? { guests.account(of: guest) }

    /// All owners that there are.
    var all: [RegistrationOwner] { owners.allRegistrations }
}
