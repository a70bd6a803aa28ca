import CallControl
import CallRuntime
import Foundation
import Logging
import Testing

import Storage

@Suite struct AccountTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func address(_ name: String, _ domain: String = "example.com") -> UserAddress {
        UserAddress(parsing: "\(name)@\(domain)")!
    }

    private func account(_ name: String, _ domain: String = "example.com", authName: String? = nil) -> Account {
        Account(
            StoredUser(
                address: address(name, domain), passwordRecord: "$scrypt$\(name)",
                authName: authName.flatMap(AuthName.init)))
    }

    @Test func `pages of accounts follow each other, and can be filtered`() async throws {
        let users = try GatewayDatabase(.temporary, logger: logger).users
        try await users.add(
            ["dave", "alice", "carol", "bob"].map { account($0) } + [account("alice", "other.org")], replacing: false)
        let first = try await users.accounts(AccountFilter(), after: nil, limit: 2)
        #expect(first.map(\.user.address.text) == ["alice@example.com", "alice@other.org"])
        let second = try await users.accounts(AccountFilter(), after: first.last?.user.address, limit: 9)
        #expect(second.map(\.user.address.text) == ["bob@example.com", "carol@example.com", "dave@example.com"])
        var filter = AccountFilter()
        filter.domain = "other.org"
        #expect(try await users.accounts(filter, after: nil, limit: 9).map(\.user.address.text) == ["alice@other.org"])
        filter = AccountFilter()
        filter.prefix = "al%"
        #expect(try await users.accounts(filter, after: nil, limit: 9).isEmpty, "a percent sign is no wildcard")
        filter.prefix = "al"
        #expect(try await users.accounts(filter, after: nil, limit: 9).count == 2)
    }

    @Test func `a disabled account is there for operators alone`() async throws {
        let users = try GatewayDatabase(.temporary, logger: logger).users
        try await users.add([account("alice", authName: "liddell")], replacing: false)
        var change = AccountChange()
        change.isEnabled = false
        try await users.change(address("alice"), change)
        #expect(try await users.user(address("alice")) == nil)
        #expect(try await users.user(named: AuthName("liddell")!) == nil)
        #expect(try await users.allUsers().isEmpty)
        #expect(try await users.identities().isEmpty)
        #expect(try await users.account(address("alice"))?.isEnabled == false)
        await #expect(throws: StorageError.userExists(address("alice"))) { try await users.add(account("alice").user) }
        change.isEnabled = true
        try await users.change(address("alice"), change)
        #expect(try await users.user(address("alice"))?.authName == AuthName("liddell"))
    }

    @Test func `a change changes what it names`() async throws {
        let users = try GatewayDatabase(.temporary, logger: logger).users
        try await users.add([account("alice", authName: "liddell"), account("bob")], replacing: false)
        var change = AccountChange()
        change.displayName = "Alice"
        try await users.change(address("alice"), change)
        var expected = account("alice", authName: "liddell")
        expected.user.displayName = "Alice"
        #expect(try await users.account(address("alice")) == expected)
        change = AccountChange()
        change.authName = .some(nil)
        try await users.change(address("alice"), change)
        #expect(try await users.account(address("alice"))?.user.authName == nil)
        change.authName = .some(AuthName("bob"))
        await #expect(throws: StorageError.authNameTaken(AuthName("bob")!)) {
            try await users.change(address("alice"), change)
        }
        await #expect(throws: StorageError.noSuchUser(address("carol"))) {
            try await users.change(address("carol"), change)
        }
    }

    @Test func `accounts are added all or none, and the fault is named`() async throws {
        let users = try GatewayDatabase(.temporary, logger: logger).users
        try await users.add([account("bob")], replacing: false)
        await #expect(throws: AccountFault(index: 1, error: .userExists(address("bob")))) {
            try await users.add([account("alice"), account("bob")], replacing: false)
        }
        #expect(try await users.account(address("alice")) == nil)
        var changed = account("bob")
        changed.isEnabled = false
        try await users.add([account("alice"), changed], replacing: true)
        #expect(try await users.accounts(AccountFilter(), after: nil, limit: 9) == [account("alice"), changed])
    }
}
