import CallControl
import CallRuntime
import Foundation
import Logging
import Testing

import Storage

@Suite struct UserStoreTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let alice = StoredUser(
        address: UserAddress(parsing: "alice@example.com")!, passwordRecord: "$scrypt$a", displayName: "Alice")
    private let bob = StoredUser(address: UserAddress(parsing: "bob@example.com")!, passwordRecord: "$scrypt$b")

    private func makeStore() throws -> UserStore {
        try GatewayDatabase(.temporary, logger: logger).users
    }

    @Test func `a user is found as stored`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        #expect(try await users.user(alice.address) == alice)
        #expect(try await users.user(bob.address) == nil)
    }

    @Test func `users are listed in the order of their addresses`() async throws {
        let users = try makeStore()
        try await users.add(bob)
        try await users.add(alice)
        #expect(try await users.allUsers() == [alice, bob])
    }

    @Test func `an address can be taken once`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        var again = alice
        again.passwordRecord = "$scrypt$other"
        await #expect(throws: StorageError.userExists(alice.address)) { try await users.add(again) }
        #expect(try await users.user(alice.address) == alice)
    }

    @Test func `a password changes only for its user`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        try await users.add(bob)
        try await users.setPassword("$scrypt$new", of: alice.address)
        #expect(try await users.user(alice.address)?.passwordRecord == "$scrypt$new")
        #expect(try await users.user(bob.address) == bob)
    }

    @Test func `who is not there can neither change nor go`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        await #expect(throws: StorageError.noSuchUser(bob.address)) {
            try await users.setPassword("$scrypt$x", of: bob.address)
        }
        await #expect(throws: StorageError.noSuchUser(bob.address)) { try await users.remove(bob.address) }
        #expect(try await users.allUsers() == [alice])
    }

    @Test func `a removed user is gone`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        try await users.remove(alice.address)
        #expect(try await users.user(alice.address) == nil)
    }
}
