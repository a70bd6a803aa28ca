package import CallControl

/// The networks from which users have logged in to each account, as keyed marks.
package struct FamiliarNetworks: Sendable {
    private struct Entry {
        var mark: UInt64
        /// Seconds since 1970.
        var expires: Int64
    }

    /// How many networks are remembered for one account. The one that expires first makes room.
    package static let limitPerAccount = 16

    private let accountLimit: Int
    private var accounts: [UserAddress: [Entry]] = [:]

    /// Makes an empty list.
    ///
    /// - Parameter accountLimit: how many accounts are remembered, at least 2. Beyond that, those that were not used
    ///   for longest are forgotten.
    package init(accountLimit: Int) {
        precondition(accountLimit >= 2, "at least two users can be logged in")
        self.accountLimit = accountLimit
    }

    /// Whether a login to the account from the network with this mark is remembered.
    package func contains(_ mark: UInt64, for account: UserAddress) -> Bool {
        accounts[account]?.contains { $0.mark == mark } ?? false
    }

    /// Remembers a network, or prolongs its time.
    ///
    /// - Parameters:
    ///   - mark: the mark of account and network; see ``CredentialDigest/Key``.
    ///   - expires: seconds since 1970.
    ///   - renewal: the time of a known network is changed only if that gains more than so many seconds.
    /// - Returns: whether anything has changed.
    @discardableResult
    package mutating func insert(_ mark: UInt64, for account: UserAddress, expires: Int64, renewal: Int64 = 0) -> Bool {
        if accounts[account] == nil, accounts.count >= accountLimit { makeRoom() }
        var entries = accounts[account] ?? []
        if let index = entries.firstIndex(where: { $0.mark == mark }) {
            guard expires - entries[index].expires > renewal else { return false }
            entries[index].expires = expires
        } else {
            if entries.count >= Self.limitPerAccount,
                let oldest = entries.indices.min(by: { entries[$0].expires < entries[$1].expires })
            {
                entries.remove(at: oldest)
            }
            entries.append(Entry(mark: mark, expires: expires))
        }
        accounts[account] = entries
        return true
    }

    private mutating func makeRoom() {
        let latest = accounts.mapValues { $0.reduce(0) { max($0, $1.expires) } }
        let keep = latest.sorted { $0.value > $1.value }.prefix(accountLimit / 2)
        accounts = Dictionary(uniqueKeysWithValues: keep.map { ($0.key, accounts[$0.key] ?? []) })
    }
}
