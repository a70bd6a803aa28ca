import CallControl
import CallRuntime

/// Address books in memory.
actor MemoryAddressBooks: AddressBookRepository {
    private var books: [UserAddress: [String: AddressBookEntry]] = [:]
    private var failure: StorageError?

    func set(failure: StorageError?) { self.failure = failure }

    func entries(of user: UserAddress) async throws(StorageError) -> [AddressBookEntry] {
        if let failure { throw failure }
        return (books[user] ?? [:]).values.sorted { $0.nickname < $1.nickname }
    }

    func entry(_ nickname: String, of user: UserAddress) async throws(StorageError) -> AddressBookEntry? {
        if let failure { throw failure }
        return books[user]?[nickname]
    }

    func add(_ entries: [AddressBookEntry], to user: UserAddress, limit: Int) async throws(AddressBookError) {
        var book = books[user] ?? [:]
        for entry in entries {
            guard book.updateValue(entry, forKey: entry.nickname) == nil else { throw .exists(entry.nickname) }
        }
        try keep(book, of: user, limit: limit)
    }

    func replace(
        _ nickname: String, with entry: AddressBookEntry, of user: UserAddress
    ) async throws(AddressBookError) {
        var book = books[user] ?? [:]
        guard book.removeValue(forKey: nickname) != nil else { throw .noSuchEntry(nickname) }
        guard book.updateValue(entry, forKey: entry.nickname) == nil else { throw .exists(entry.nickname) }
        try keep(book, of: user, limit: .max)
    }

    func remove(_ nickname: String, of user: UserAddress) async throws(AddressBookError) {
        var book = books[user] ?? [:]
        guard book.removeValue(forKey: nickname) != nil else { throw .noSuchEntry(nickname) }
        try keep(book, of: user, limit: .max)
    }

    private func keep(
        _ book: [String: AddressBookEntry], of user: UserAddress, limit: Int
    ) throws(AddressBookError) {
        if let failure { throw .storage(failure) }
        guard book.count <= limit else { throw .full(limit: limit) }
        books[user] = book
    }
}
