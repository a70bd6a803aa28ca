package import CallControl
package import Registration

/// The users who may register. Implemented by `Storage`. Every function throws `StorageError.failed` if the database
/// refuses.
package protocol UserRepository: Sendable {
    /// The user of this address; `nil` if there is none.
    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser?
    /// The user who logs in with this auth name; `nil` if there is none.
    func user(named name: AuthName) async throws(StorageError) -> StoredUser?
    /// All users, in the order of their addresses.
    func allUsers() async throws(StorageError) -> [StoredUser]
    /// Users whom a query finds, in the order of their addresses, at most so many.
    func search(_ query: DirectoryQuery, limit: Int) async throws(StorageError) -> [StoredUser]
    /// The addresses of all users, and which account each has.
    func identities() async throws(StorageError) -> [UserAddress: AccountIdentity]
    /// Adds a user.
    ///
    /// - Throws: `userExists` if the address is taken, `authNameTaken` if its auth name is another user's.
    func add(_ user: StoredUser) async throws(StorageError)
    /// Gives a user an auth name, or takes it away.
    ///
    /// - Parameter name: the name; `nil`: the user logs in with the address.
    /// - Throws: `noSuchUser`, `authNameTaken`.
    func setAuthName(_ name: AuthName?, of address: UserAddress) async throws(StorageError)
    /// Changes the password record of a user.
    ///
    /// - Throws: `noSuchUser`.
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError)
    /// Changes the password record of a user to another one of the same password, if it is still the first one.
    ///
    /// Nothing else changes: remembered logins, which belong to the password, stay.
    ///
    /// - Returns: whether the record was changed.
    func upgradePassword(from old: String, to new: String, of address: UserAddress) async throws(StorageError) -> Bool
    /// Removes a user.
    ///
    /// - Throws: `noSuchUser`.
    func remove(_ address: UserAddress) async throws(StorageError)
}

/// A user with an account, as stored.
package struct StoredUser: Equatable, Sendable {
    /// The address; unique.
    package var address: UserAddress
    /// The salted hash of the password in PHC text form (`$scrypt$…`); see `Cryptography.PasswordHash`.
    package var passwordRecord: String
    /// The display name, shown to the users whom this user calls; empty if none was given.
    package var displayName: String
    /// The name with which the user logs in; `nil`: the address.
    package var authName: AuthName?
    /// Which account of this address it is. If it is 0, the repository draws one for an account that is added.
    package var identity: AccountIdentity

    /// Makes a user of its parts; each parameter is the property of that name.
    package init(
        address: UserAddress, passwordRecord: String, displayName: String = "", authName: AuthName? = nil,
        identity: AccountIdentity = AccountIdentity(0)
    ) {
        self.address = address
        self.passwordRecord = passwordRecord
        self.displayName = displayName
        self.authName = authName
        self.identity = identity
    }
}

/// Why a function of the store failed.
package enum StorageError: Error, Equatable {
    /// There is a user of this address already.
    case userExists(UserAddress)
    /// There is no user of this address.
    case noSuchUser(UserAddress)
    /// Another user logs in with this name.
    case authNameTaken(AuthName)
    /// There is an application of this name already.
    case applicationExists(ApplicationName)
    /// There is no application of this name.
    case noSuchApplication(ApplicationName)
    /// Another application has this address.
    case applicationAddressTaken(ApplicationAddress, by: ApplicationName)
    /// The database refused. The text is a sentence for the operator, not for a client.
    case failed(String)
}

extension StorageError: CustomStringConvertible {
    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .userExists(let address): "\(address) exists already"
        case .noSuchUser(let address): "there is no user \(address)"
        case .authNameTaken(let name): "another user logs in as \(name)"
        case .applicationExists(let name): "there is an application \(name) already"
        case .noSuchApplication(let name): "there is no application \(name)"
        case .applicationAddressTaken(let address, let name): "\(address) is an address of the application \(name)"
        case .failed(let sentence): sentence
        }
    }
}
