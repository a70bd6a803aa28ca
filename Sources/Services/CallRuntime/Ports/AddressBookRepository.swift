package import CallControl

/// The address books of users. Implemented by `Storage`. What a function has changed is durable when it returns.
package protocol AddressBookRepository: Sendable {
    /// The entries of a user, in the order of their nicknames.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    func entries(of user: UserAddress) async throws(StorageError) -> [AddressBookEntry]
    /// The entry of this nickname; `nil` if the user has none.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    func entry(_ nickname: String, of user: UserAddress) async throws(StorageError) -> AddressBookEntry?
    /// Adds entries, all or none.
    ///
    /// - Parameter limit: the most entries that the user may have then.
    /// - Throws: `exists`, `full`; `storage` if there is no such user, or the database refuses.
    func add(_ entries: [AddressBookEntry], to user: UserAddress, limit: Int) async throws(AddressBookError)
    /// Puts an entry in the place of another, which may have another nickname.
    ///
    /// - Throws: `noSuchEntry`, `exists`; `storage` if the database refuses.
    func replace(
        _ nickname: String, with entry: AddressBookEntry, of user: UserAddress
    ) async throws(AddressBookError)
    /// Removes an entry.
    ///
    /// - Throws: `noSuchEntry`; `storage` if the database refuses.
    func remove(_ nickname: String, of user: UserAddress) async throws(AddressBookError)
}

/// Why an address book was not changed.
package enum AddressBookError: Error, Equatable {
    /// The user has no entry of this nickname.
    case noSuchEntry(String)
    /// The user has an entry of this nickname, or it comes twice in the request.
    case exists(String)
    /// The user would have more entries than `limit`.
    case full(limit: Int)
    /// The store failed.
    case storage(StorageError)
}
