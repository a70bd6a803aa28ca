package import CallControl

/// The users that may register. Implemented by `Storage`.
package protocol UserRepository: Sendable {
    /// `nil` if there is no such user.
    func user(_ address: UserAddress) async throws(StorageError) -> StoredUser?
    /// In the order of their addresses.
    func allUsers() async throws(StorageError) -> [StoredUser]
    /// Throws `.userExists` if the address is taken.
    func add(_ user: StoredUser) async throws(StorageError)
    /// Throws `.noSuchUser`.
    func setPassword(_ record: String, of address: UserAddress) async throws(StorageError)
    /// Throws `.noSuchUser`.
    func remove(_ address: UserAddress) async throws(StorageError)
}

package struct StoredUser: Equatable, Sendable {
    package var address: UserAddress
    /// Salted hash in PHC text form (`$scrypt$…`); see `Cryptography.PasswordHash`.
    package var passwordRecord: String
    /// Shown to the people this user calls; empty if none was given.
    package var displayName: String

    package init(address: UserAddress, passwordRecord: String, displayName: String = "") {
        self.address = address
        self.passwordRecord = passwordRecord
        self.displayName = displayName
    }
}

package enum StorageError: Error, Equatable {
    case userExists(UserAddress)
    case noSuchUser(UserAddress)
    /// The database refused; the text is a sentence for the operator, not for a client.
    case failed(String)
}

extension StorageError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .userExists(let address): "\(address) exists already"
        case .noSuchUser(let address): "there is no user \(address)"
        case .failed(let sentence): sentence
        }
    }
}
