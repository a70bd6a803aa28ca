package import CallControl

/// The users who may register. Implemented by `Storage`. Every function throws `StorageError.failed` if the database
/// refuses.
package protocol UserRepository: Sendable {
    /// The user of this address; `nil` if there is none.
    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser?
    /// All users, in the order of their addresses.
    func allUsers() async throws(StorageError) -> [StoredUser]
    /// Adds a user.
    ///
    /// - Throws: `userExists` if the address is taken.
    func add(_ user: StoredUser) async throws(StorageError)
    /// Changes the password record of a user.
    ///
    /// - Throws: `noSuchUser`.
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError)
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

    /// Makes a user of its parts; each parameter is the property of that name.
    package init(address: UserAddress, passwordRecord: String, displayName: String = "") {
        self.address = address
        self.passwordRecord = passwordRecord
        self.displayName = displayName
    }
}

/// Why a function of the store failed.
package enum StorageError: Error, Equatable {
    /// There is a user of this address already.
    case userExists(UserAddress)
    /// There is no user of this address.
    case noSuchUser(UserAddress)
    /// The database refused. The text is a sentence for the operator, not for a client.
    case failed(String)
}

extension StorageError: CustomStringConvertible {
    /// A sentence for the operator.
    package var description: String {
        switch self {
        case .userExists(let address): "\(address) exists already"
        case .noSuchUser(let address): "there is no user \(address)"
        case .failed(let sentence): sentence
        }
    }
}
