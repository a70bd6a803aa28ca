package import Primitives

/// Which guests there are, and whom each of them came to call (spidr-wire §7).
///
/// Accounts that do not exist are counted like any other: whether there is such an account is not for guests to know.
package struct GuestBook: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Guests at a time, 1 or more.
        package var maximumGuests: Int
        /// Of these, guests who came to call the same account, 1 or more.
        package var maximumPerAccount: Int
        /// Guests at a time who come from the same network, 1 or more.
        package var maximumPerNetwork: Int

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

    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// The account that this guest may call, and no other; `nil` if there is no such guest.
    package func account(of guest: GuestID) -> UserAddress? { accounts[guest] }

    /// Throws `.limitOfGuests` or `.limitOfNetworkGuests`.
    ///
    /// - Parameter network: where the guest comes from; one that is not known cannot be limited.
    package mutating func enter(_ guest: GuestID, toCall account: UserAddress, from network: SourceNetwork? = nil)
        throws(RegistrationError)
    {
        precondition(accounts[guest] == nil, "guests are told apart by 64 random bits")
        let count = guestCounts[account, default: 0]
        guard accounts.count < configuration.maximumGuests, count < configuration.maximumPerAccount else {
            throw .limitOfGuests
        }
        if let network {
            let neighbours = networkCounts[network, default: 0]
            guard neighbours < configuration.maximumPerNetwork else { throw .limitOfNetworkGuests }
            networks[guest] = network
            networkCounts[network] = neighbours + 1
        }
        accounts[guest] = account
        guestCounts[account] = count + 1
    }

    /// A guest who has left before is none any more, and that is all right.
    package mutating func leave(_ guest: GuestID) {
        guard let account = accounts.removeValue(forKey: guest), let count = guestCounts[account] else { return }
        guestCounts[account] = count > 1 ? count - 1 : nil
        guard let network = networks.removeValue(forKey: guest), let neighbours = networkCounts[network] else { return }
        networkCounts[network] = neighbours > 1 ? neighbours - 1 : nil
    }
}
