import CallControl
import CallRuntime
import Foundation
import GRDB
import Logging
import Testing

import Storage

@Suite struct `Remembered logins` {
    private let database: GatewayDatabase
    private let key: [UInt8] = [1, 2, 3]
    private let other: [UInt8] = [4, 5, 6]
    private let alice = UserAddress(parsing: "alice@example.com")!
    private let bob = UserAddress(parsing: "bob@example.com")!

    init() async throws {
        database = try GatewayDatabase(.temporary, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        for address in [alice, bob] {
            try await database.users.add(StoredUser(address: address, passwordRecord: "$scrypt$x"))
        }
    }

    private func credentials(_ number: UInt8, of account: UserAddress, expires: Int64 = 1_000)
        -> RememberedLogins.Credentials
    {
        .init(digest: [number], account: account, record: [9], expires: expires)
    }

    private func kept(under key: [UInt8]? = nil, at now: Int64 = 0, limit: Int = 1_000) async throws -> RememberedLogins
    {
        try await database.logins.rememberedLogins(under: key ?? self.key, at: now, limit: limit)
    }

    @Test func `what was remembered is there, the latest to expire first`() async throws {
        let networks = [
            RememberedLogins.Network(account: alice, mark: .max, expires: 7), .init(account: bob, mark: 1, expires: 6),
        ]
        let logins = RememberedLogins(
            credentials: [credentials(1, of: alice, expires: 8), credentials(2, of: bob, expires: 5)],
            networks: networks)
        try await database.logins.remember(logins, under: key)
        #expect(try await kept() == logins)
        #expect(
            try await kept(limit: 1) == RememberedLogins(credentials: [logins.credentials[0]], networks: [networks[0]]))
    }

    @Test func `what has expired, or belongs to another key, is removed`() async throws {
        let logins = RememberedLogins(
            credentials: [credentials(1, of: alice, expires: 10), credentials(2, of: bob, expires: 11)],
            networks: [.init(account: alice, mark: 1, expires: 10), .init(account: alice, mark: 2, expires: 11)])
        try await database.logins.remember(logins, under: key)
        #expect(
            try await kept(at: 10)
                == RememberedLogins(credentials: [logins.credentials[1]], networks: [logins.networks[1]]))
        #expect(try await kept(under: other).isEmpty)
        #expect(try await kept().isEmpty)
    }

    @Test func `a new password and the removal of a user take their logins along`() async throws {
        let logins = RememberedLogins(
            credentials: [credentials(1, of: alice), credentials(2, of: bob)],
            networks: [.init(account: alice, mark: 1, expires: 1_000), .init(account: bob, mark: 2, expires: 1_000)])
        try await database.logins.remember(logins, under: key)
        try await database.users.setPassword("$scrypt$y", of: alice)
        #expect(try await kept().credentials == [logins.credentials[1]])
        try await database.users.remove(bob)
        #expect(try await kept() == RememberedLogins(networks: [logins.networks[0]]))
    }

    @Test func `users who do not exist are passed over`() async throws {
        let eve = UserAddress(parsing: "eve@example.com")!
        let logins = RememberedLogins(
            credentials: [credentials(1, of: eve), credentials(2, of: bob)],
            networks: [.init(account: eve, mark: 1, expires: 1_000)])
        try await database.logins.remember(logins, under: key)
        #expect(try await kept() == RememberedLogins(credentials: [logins.credentials[1]]))
    }

    @Test func `an account has sixteen of each at most, and one that comes again is one`() async throws {
        for number in 1...40 {
            let logins = RememberedLogins(
                credentials: [
                    credentials(UInt8(number), of: alice, expires: Int64(number)),
                    credentials(99, of: alice, expires: 1_000),
                ],
                networks: [.init(account: alice, mark: UInt64(number), expires: Int64(number))])
            try await database.logins.remember(logins, under: key)
        }
        let kept = try await kept()
        #expect(kept.credentials.map(\.digest) == [[99]] + (26...40).reversed().map { [$0] })
        #expect(kept.networks.map(\.mark) == (25...40).reversed())
    }
}
