package import CallControl

/// A user with an account, and whether the user may log in.
package struct Account: Equatable, Sendable {
    /// The user.
    package var user: StoredUser
    /// A disabled account cannot log in, be called or be found, and has no subscriptions. It keeps everything else.
    package var isEnabled: Bool

    /// Makes an account of its parts; each parameter is the property of that name.
    package init(_ user: StoredUser, isEnabled: Bool = true) {
        self.user = user
        self.isEnabled = isEnabled
    }
}

/// A change of an account. What is `nil` stays as it is.
package struct AccountChange: Equatable, Sendable {
    /// The record of a new password.
    package var passwordRecord: String?
    /// A new display name; empty: none.
    package var displayName: String?
    /// A new auth name; the inner `nil`: the user logs in with the address.
    package var authName: AuthName??
    /// Whether the user may log in.
    package var isEnabled: Bool?

    /// Makes a change that changes nothing.
    package init() {}

    /// Whether nothing is changed.
    package var isEmpty: Bool {
        passwordRecord == nil && displayName == nil && authName == nil && isEnabled == nil
    }
}

/// Which accounts are listed.
package struct AccountFilter: Equatable, Sendable {
    /// Only addresses of this domain; `nil`: of any.
    package var domain: String?
    /// Only addresses that start so; empty: all.
    package var prefix = ""
    /// Only accounts that are enabled, or disabled; `nil`: both.
    package var isEnabled: Bool?

    /// Makes a filter that all accounts pass.
    package init() {}
}

/// The accounts as operators see them: also those that are disabled, which `UserRepository` does not show. Every
/// function throws `StorageError.failed` if the database refuses.
package protocol UserAccounts: Sendable {
    /// Accounts that pass a filter, in the order of their addresses.
    ///
    /// - Parameter address: only accounts behind this one; `nil`: from the first on.
    func accounts(_ filter: AccountFilter, after address: UserAddress?, limit: Int) async throws(StorageError)
        -> [Account]
    /// The account of this address; `nil`: there is none.
    func account(_ address: UserAddress) async throws(StorageError) -> Account?
    /// Adds accounts, all of them or none.
    ///
    /// - Parameter replaces: whether an account that exists is replaced; its call log stays.
    /// - Throws: ``AccountFault`` with the place in the list of the account that cannot be added.
    func add(_ accounts: [Account], replacing replaces: Bool) async throws(AccountFault)
    /// Changes an account, and forgets the user's remembered credentials unless only the display name changes.
    ///
    /// - Throws: `noSuchUser`, `authNameTaken`.
    func change(_ address: UserAddress, _ change: AccountChange) async throws(StorageError)
    /// Removes a user.
    ///
    /// - Throws: `noSuchUser`.
    func remove(_ address: UserAddress) async throws(StorageError)
}

/// Why accounts were not added.
package struct AccountFault: Error, Equatable {
    /// The place in the list, from 0; `nil`: it is not the fault of one of them.
    package var index: Int?
    /// What is wrong.
    package var error: StorageError

    /// Makes a fault of its parts; each parameter is the property of that name.
    package init(index: Int?, error: StorageError) {
        self.index = index
        self.error = error
    }
}
