package import CallControl
package import Primitives

/// The guests that are present, and the account that each of them may call (spidr-wire §7).
///
/// Accounts that do not exist are counted like all others, so that a guest does not learn whether an account exists.
package struct GuestTable: Equatable, Sendable {
    /// The limits on the number of guests.
    package struct Configuration: Equatable, Sendable {
        /// The most guests at a time, 1 or more.
        package var maximumGuests: Int
        /// The most guests at a time who may call the same account, 1 or more.
        package var maximumPerAccount: Int
        /// The most guests at a time from the same network, 1 or more.
        package var maximumPerNetwork: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(maximumGuests: Int = 1_000, maximumPerAccount: Int = 20, maximumPerNetwork: Int = 3) {
            self.maximumGuests = maximumGuests
            self.maximumPerAccount = maximumPerAccount
            self.maximumPerNetwork = maximumPerNetwork
        }
    }

    private let configuration: Configuration
    private var accounts: [GuestID: UserAddress] = [:]
    private var guestCounts: [UserAddress: Int] = [:]
    private var networks: [GuestID: SourceNetwork] = [:]
    private var networkCounts: [SourceNetwork: Int] = [:]

    /// Makes a table without guests.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// The account that this guest may call, and no other; `nil` if there is no such guest.
    package func account(of guest: GuestID) -> UserAddress? { accounts[guest] }

    /// The network that this guest comes from; `nil`: unknown, or there is no such guest.
    package func network(of guest: GuestID) -> SourceNetwork? { networks[guest] }

    /// Admits a guest.
    ///
    /// - Parameter network: the network that the guest comes from; `nil`: unknown, and so not limited.
    /// - Throws: `limitOfGuests` or `limitOfNetworkGuests`.
    package mutating func enter(_ guest: GuestID, toCall account: UserAddress, from network: SourceNetwork? = nil)
        throws(RegistrationError)
    {
        precondition(accounts[guest] == nil, "guests are told apart by 64 random bits")
        let count = guestCounts[account, default: 0]
        guard accounts.count < configuration.maximumGuests, count < configuration.maximumPerAccount else {
            throw .limitOfGuests
        }
        if let network {
            let guestsThere = networkCounts[network, default: 0]
            guard guestsThere < configuration.maximumPerNetwork else { throw .limitOfNetworkGuests }
            networks[guest] = network
            networkCounts[network] = guestsThere + 1
        }
        accounts[guest] = account
        guestCounts[account] = count + 1
    }

    /// Removes a guest. A guest who has left before is ignored.
    package mutating func leave(_ guest: GuestID) {
        guard let account = accounts.removeValue(forKey: guest), let count = guestCounts[account] else { return }
        guestCounts[account] = count > 1 ? count - 1 : nil
        guard let network = networks.removeValue(forKey: guest), let guestsThere = networkCounts[network] else {
            return
        }
        networkCounts[network] = guestsThere > 1 ? guestsThere - 1 : nil
    }
}
