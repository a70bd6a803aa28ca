package import CallControl

/// From which networks somebody has logged in to which account, as keyed marks.
package struct FamiliarNetworks: Sendable {
    private struct Entry {
        var mark: UInt64
        /// Seconds since 1970.
        var expires: Int64
    }

    /// Networks remembered for one account; that which expires first makes room.
    package static let limitPerAccount = 16

    private let accountLimit: Int
    private var accounts: [UserAddress: [Entry]] = [:]

    /// - Parameter accountLimit: beyond it, accounts that were not used for longest are forgotten.
    package init(accountLimit: Int) {
        precondition(accountLimit >= 2, "at least two users can be logged in")
        self.accountLimit = accountLimit
    }

    package func contains(_ mark: UInt64, for account: UserAddress) -> Bool {
        accounts[account]?.contains { $0.mark == mark } ?? false
    }

    /// - Parameters:
    ///   - expires: seconds since 1970.
    ///   - renewal: what is known already is changed only if that gains so many seconds.
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
