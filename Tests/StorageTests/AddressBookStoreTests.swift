import CallControl
import CallRuntime
import Logging
import Testing

import Storage

@Suite struct AddressBookStoreTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let bob = UserAddress(parsing: "bob@example.com")!
    private let ann = AddressBookEntry(
        nickname: "ann", details: [.primaryContact: "ann@example.com", .lastName: "Sömmer \"x\""], isFriend: true)
    private let carl = AddressBookEntry(nickname: "carl", details: [:], isFriend: false)

    private func makeDatabase() async throws -> GatewayDatabase {
        let database = try GatewayDatabase(
            .temporary, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for user in [Self.alice, Self.bob] {
            try await database.users.add(StoredUser(address: user, passwordRecord: "$scrypt$x"))
        }
        return database
    }

    private func makeBooks() async throws -> AddressBookStore { try await makeDatabase().addressBooks }

    @Test func `entries are found as they were added, by the user who has them`() async throws {
        let books = try await makeBooks()
        try await books.add([carl, ann], to: Self.alice, limit: 9)
        #expect(try await books.entries(of: Self.alice) == [ann, carl])
        #expect(try await books.entry("ann", of: Self.alice) == ann)
        #expect(try await books.entry("Ann", of: Self.alice) == nil)
        #expect(try await books.entries(of: Self.bob).isEmpty)
        #expect(try await books.entry("ann", of: Self.bob) == nil)
    }

    @Test func `a nickname is one entry's, and all entries are added or none`() async throws {
        let books = try await makeBooks()
        try await books.add([ann], to: Self.alice, limit: 9)
        await #expect(throws: AddressBookError.exists("ann")) {
            try await books.add([carl, ann], to: Self.alice, limit: 9)
        }
        await #expect(throws: AddressBookError.exists("carl")) {
            try await books.add([carl, carl], to: Self.alice, limit: 9)
        }
        #expect(try await books.entries(of: Self.alice) == [ann])
        try await books.add([ann], to: Self.bob, limit: 9)
    }

    @Test func `a book takes so many entries`() async throws {
        let books = try await makeBooks()
        try await books.add([ann], to: Self.alice, limit: 1)
        await #expect(throws: AddressBookError.full(limit: 1)) {
            try await books.add([carl], to: Self.alice, limit: 1)
        }
        #expect(try await books.entries(of: Self.alice) == [ann])
        try await books.replace("ann", with: carl, of: Self.alice)
        #expect(try await books.entries(of: Self.alice) == [carl])
    }

    @Test func `an entry is replaced, and may have another nickname then`() async throws {
        let books = try await makeBooks()
        try await books.add([ann, carl], to: Self.alice, limit: 9)
        let anna = AddressBookEntry(nickname: "anna", details: [.workPhone: "+1"], isFriend: false)
        try await books.replace("ann", with: anna, of: Self.alice)
        #expect(try await books.entries(of: Self.alice) == [anna, carl])
        await #expect(throws: AddressBookError.noSuchEntry("ann")) {
            try await books.replace("ann", with: anna, of: Self.alice)
        }
        await #expect(throws: AddressBookError.exists("carl")) {
            try await books.replace("anna", with: carl, of: Self.alice)
        }
        #expect(try await books.entries(of: Self.alice) == [anna, carl])
    }

    @Test func `an entry is removed once, from the book of its user`() async throws {
        let books = try await makeBooks()
        try await books.add([ann, carl], to: Self.alice, limit: 9)
        await #expect(throws: AddressBookError.noSuchEntry("ann")) { try await books.remove("ann", of: Self.bob) }
        try await books.remove("ann", of: Self.alice)
        await #expect(throws: AddressBookError.noSuchEntry("ann")) { try await books.remove("ann", of: Self.alice) }
        #expect(try await books.entries(of: Self.alice) == [carl])
    }

    @Test func `a book ends with its user, and who gets the address next has an empty one`() async throws {
        let database = try await makeDatabase()
        try await database.addressBooks.add([ann], to: Self.alice, limit: 9)
        try await database.users.remove(Self.alice)
        await #expect(throws: AddressBookError.storage(.noSuchUser(Self.alice))) {
            try await database.addressBooks.add([carl], to: Self.alice, limit: 9)
        }
        try await database.users.add(StoredUser(address: Self.alice, passwordRecord: "$scrypt$y"))
        #expect(try await database.addressBooks.entries(of: Self.alice).isEmpty)
    }
}
