import CallControl
import CallRuntime
import Foundation
import Logging
import Registration
import Testing

import Storage

@Suite struct UserStoreTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let alice = StoredUser(
        address: UserAddress(parsing: "alice@example.com")!, passwordRecord: "$scrypt$a", displayName: "Alice",
        identity: AccountIdentity(1))
    private let bob = StoredUser(
        address: UserAddress(parsing: "bob@example.com")!, passwordRecord: "$scrypt$b", identity: AccountIdentity(2))

    private func makeStore() throws -> UserStore {
        try GatewayDatabase(.temporary, logger: logger).users
    }

    @Test func `a record is replaced only if it is still the one that it was made from`() async throws {
        let users = try makeStore()
        try await users.add(alice)
        #expect(try await users.upgradePassword(from: "$scrypt$other", to: "$scrypt$b", of: alice.address) == false)
        #expect(try await users.upgradePassword(from: "$scrypt$a", to: "$scrypt$b", of: bob.address) == false)
        #expect(try await users.user(alice.address)?.passwordRecord == "$scrypt$a")
        #expect(try await users.upgradePassword(from: "$scrypt$a", to: "$scrypt$b", of: alice.address))
        #expect(try await users.user(alice.address)?.passwordRecord == "$scrypt$b")
        #expect(try await users.upgradePassword(from: "$scrypt$a", to: "$scrypt$c", of: alice.address) == false)
        #expect(try await users.user(alice.address)?.passwordRecord == "$scrypt$b")
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

    // MARK: Auth names

    @Test func `an account that is made again is another one`() async throws {
        let users = try makeStore()
        var account = alice
        account.identity = AccountIdentity(0)
        var identities: Set<AccountIdentity> = [account.identity]
        for _ in 1...3 {
            try await users.add(account)
            let identity = try #require(try await users.identities()[alice.address])
            #expect(identities.insert(identity).inserted)
            try await users.setPassword("$scrypt$new", of: alice.address)
            #expect(try await users.user(alice.address)?.identity == identity)
            try await users.remove(alice.address)
        }
        #expect(try await users.identities().isEmpty)
    }

    @Test func `a user is found by the auth name, and by no other`() async throws {
        let users = try makeStore()
        var named = alice
        named.authName = AuthName("A.Liddell")
        try await users.add(named)
        #expect(try await users.user(named: #require(AuthName("a.liddell"))) == named)
        #expect(try await users.user(named: #require(AuthName("alice"))) == nil)
        try await users.setAuthName(nil, of: alice.address)
        #expect(try await users.user(named: #require(AuthName("a.liddell"))) == nil)
        #expect(try await users.user(alice.address) == alice)
    }

    @Test func `an auth name is one user's, and no other user's address`() async throws {
        let users = try makeStore()
        let name = try #require(AuthName("liddell"))
        try await users.add(alice)
        try await users.setAuthName(name, of: alice.address)
        try await users.add(bob)
        await #expect(throws: StorageError.authNameTaken(name)) { try await users.setAuthName(name, of: bob.address) }
        let bobs = try #require(AuthName("bob"))
        await #expect(throws: StorageError.authNameTaken(bobs)) {
            try await users.setAuthName(bobs, of: alice.address)
        }
        try await users.setAuthName(bobs, of: bob.address)
        let liddell = StoredUser(address: UserAddress(parsing: "liddell@example.com")!, passwordRecord: "$scrypt$c")
        await #expect(throws: StorageError.authNameTaken(name)) { try await users.add(liddell) }
        let carol = try #require(UserAddress(parsing: "carol@example.com"))
        await #expect(throws: StorageError.noSuchUser(carol)) {
            try await users.setAuthName(AuthName("other"), of: carol)
        }
    }

    @Test(arguments: ["", "a@b", "a:b", "a b", "a/b", String(repeating: "a", count: 129)])
    func `what is no auth name`(_ text: String) { #expect(AuthName(text) == nil) }
}
