import CallControl
import CallRuntime
import Logging
import Primitives
import Storage
import Testing

@Suite struct `Applications` {
    private let portal = StoredApplication(
        name: ApplicationName("portal")!, domain: "example.com", secret: Redacted("s1"))
    private let shop = StoredApplication(
        name: ApplicationName("shop-2")!, domain: "example.org", secret: Redacted("s2"))
    private let alice = UserAddress(parsing: "alice@example.com")!
    private let bob = UserAddress(parsing: "bob@example.com")!

    private func database() async throws -> GatewayDatabase {
        let database = try GatewayDatabase(
            .temporary, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        for address in [alice, bob] { try await database.users.add(StoredUser(address: address, passwordRecord: "-")) }
        for application in [shop, portal] { try await database.applications.add(application) }
        return database
    }

    private func token(_ number: UInt8, of user: UserAddress, expires: Int64 = 100) -> ApplicationToken {
        ApplicationToken(digest: [UInt8](repeating: number, count: 32), user: user, expires: expires)
    }

    @Test func `applications are added, listed by name, given a new secret, and removed`() async throws {
        let store = try await database().applications
        #expect(try await store.allApplications() == [portal, shop])
        await #expect(throws: StorageError.applicationExists(portal.name)) { try await store.add(portal) }
        try await store.setSecret(Redacted("s3"), of: shop.name)
        #expect(try await store.application(shop.name)?.secret == Redacted("s3"))
        try await store.remove(portal.name)
        #expect(try await store.application(portal.name) == nil)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) { try await store.remove(portal.name) }
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            try await store.setSecret(Redacted("s4"), of: portal.name)
        }
    }

    @Test func `a token is taken once, and by its user only`() async throws {
        let store = try await database().applications
        let token = token(1, of: alice)
        try await store.keep(token, of: portal.name, limit: 9, at: 0)
        #expect(try await store.take(token.digest, of: bob) == nil)
        #expect(try await store.take(token.digest, of: alice) == 100)
        #expect(try await store.take(token.digest, of: alice) == nil)
    }

    @Test func `old tokens of an application make room, those of others stay`() async throws {
        let store = try await database().applications
        try await store.keep(token(1, of: alice, expires: 10), of: portal.name, limit: 2, at: 0)
        try await store.keep(token(2, of: alice, expires: 10), of: shop.name, limit: 2, at: 0)
        // The first of the portal has expired now.
        try await store.keep(token(3, of: alice, expires: 20), of: portal.name, limit: 2, at: 10)
        try await store.keep(token(4, of: alice, expires: 30), of: portal.name, limit: 2, at: 10)
        try await store.keep(token(5, of: alice, expires: 40), of: portal.name, limit: 2, at: 10)
        var left: [UInt8] = []
        for number in 1...5 as ClosedRange<UInt8>
        where try await store.take(token(number, of: alice).digest, of: alice) != nil {
            left.append(number)
        }
        #expect(left == [2, 4, 5])
    }

    @Test func `tokens end with their user and with their application`() async throws {
        let database = try await database()
        let store = database.applications
        try await store.keep(token(1, of: alice), of: portal.name, limit: 9, at: 0)
        try await store.keep(token(2, of: bob), of: portal.name, limit: 9, at: 0)
        try await database.users.remove(alice)
        #expect(try await store.take(token(1, of: alice).digest, of: alice) == nil)
        try await store.remove(portal.name)
        #expect(try await store.take(token(2, of: bob).digest, of: bob) == nil)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            try await store.keep(token(3, of: bob), of: portal.name, limit: 9, at: 0)
        }
        await #expect(throws: StorageError.noSuchUser(alice)) {
            try await store.keep(token(3, of: alice), of: shop.name, limit: 9, at: 0)
        }
    }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "a", count: 65)])
    func `a name of an application goes into a path as it is`(_ text: String) {
        #expect(ApplicationName(text) == nil)
    }
}
