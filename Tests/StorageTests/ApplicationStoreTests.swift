import CallControl
import CallRuntime
import Logging
import Primitives
import Storage
import Testing

@Suite struct `Applications` {
    private let portal = StoredApplication(
        name: ApplicationName("portal")!, number: 1, domain: "example.com", secret: Redacted("s1"))
    private let shop = StoredApplication(
        name: ApplicationName("shop-2")!, number: 2, domain: "example.org", secret: Redacted("s2"))
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
        try await store.setSecret(Redacted("s3"), of: shop.name, keepingFormerUntil: nil)
        #expect(try await store.application(shop.name)?.secret == Redacted("s3"))
        try await store.remove(portal.name)
        #expect(try await store.application(portal.name) == nil)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) { try await store.remove(portal.name) }
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            try await store.setSecret(Redacted("s4"), of: portal.name, keepingFormerUntil: nil)
        }
    }

    @Test func `a token is taken once, and by its user only`() async throws {
        let store = try await database().applications
        let token = token(1, of: alice)
        try await store.keep(token, of: portal.identity, limit: 9, at: 0)
        #expect(try await store.take(token.digest, of: bob) == nil)
        #expect(try await store.take(token.digest, of: alice) == 100)
        #expect(try await store.take(token.digest, of: alice) == nil)
    }

    @Test func `old tokens of an application make room, those of others stay`() async throws {
        let store = try await database().applications
        try await store.keep(token(1, of: alice, expires: 10), of: portal.identity, limit: 2, at: 0)
        try await store.keep(token(2, of: alice, expires: 10), of: shop.identity, limit: 2, at: 0)
        // The first of the portal has expired now.
        try await store.keep(token(3, of: alice, expires: 20), of: portal.identity, limit: 2, at: 10)
        try await store.keep(token(4, of: alice, expires: 30), of: portal.identity, limit: 2, at: 10)
        try await store.keep(token(5, of: alice, expires: 40), of: portal.identity, limit: 2, at: 10)
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
        try await store.keep(token(1, of: alice), of: portal.identity, limit: 9, at: 0)
        try await store.keep(token(2, of: bob), of: portal.identity, limit: 9, at: 0)
        try await database.users.remove(alice)
        #expect(try await store.take(token(1, of: alice).digest, of: alice) == nil)
        try await store.remove(portal.name)
        #expect(try await store.take(token(2, of: bob).digest, of: bob) == nil)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            try await store.keep(token(3, of: bob), of: portal.identity, limit: 9, at: 0)
        }
        var next = portal
        next.number = 3
        try await store.add(next)
        await #expect(throws: StorageError.noSuchApplication(portal.name), "another one has the name") {
            try await store.keep(token(3, of: bob), of: portal.identity, limit: 9, at: 0)
        }
        await #expect(throws: StorageError.noSuchUser(alice)) {
            try await store.keep(token(3, of: alice), of: shop.identity, limit: 9, at: 0)
        }
    }

    @Test(arguments: ["", "a b", "a/b", "ä", String(repeating: "a", count: 65)])
    func `a name of an application goes into a path as it is`(_ text: String) {
        #expect(ApplicationName(text) == nil)
    }

    // MARK: Calls and keys

    @Test func `what an application may do is kept, and changed in one piece`() async throws {
        let database = try await database()
        let store = database.applications
        #expect(try await store.application(portal.name)?.profile == ApplicationProfile())
        let list = try PlayList(
            items: [.file("a.wav"), .tone(.busy, .seconds(1)), .silence(.milliseconds(20))], loops: 2)
        // No body may ask for it now, but a database may have it.
        let endless = try PlayList(items: [.file("a.wav"), .music(nil)], loops: 0)
        var wanted = ApplicationProfile()
        wanted.displayName = "Bot"
        wanted.scopes = [.callsRead, .media]
        wanted.addresses = ["bot@example.com", "*@bots.example.com"].compactMap { ApplicationAddress($0) }
        wanted.decisionTime = .milliseconds(2_500)
        wanted.maximumCalls = 3
        wanted.callsPerSecond = 7
        wanted.streamURL = WebSocketURL(parsing: "wss://bot.example.com:8443/talk?key=1")
        wanted.maximumStreams = 4
        for fallback in [
            .reject(.busy), .announce(list), .announce(endless), .forward(alice), .answer(.echo(delay: .seconds(1))),
        ] as [ApplicationFallback] {
            wanted.fallback = fallback
            let profile = wanted
            let changed = try await store.change(portal.name) { $0 = profile }
            #expect(changed.profile == wanted)
            #expect(try await store.application(portal.name) == changed)
        }
        #expect(try await store.application(shop.name)?.profile == ApplicationProfile())
        await #expect(throws: StorageError.noSuchApplication(ApplicationName("gone")!)) {
            try await store.change(ApplicationName("gone")!) { $0.displayName = "x" }
        }
    }

    @Test func `changes of one application at a time all count`() async throws {
        let store = try await database().applications
        await withThrowingTaskGroup { group in
            for _ in 0..<20 {
                group.addTask { [portal] in _ = try await store.change(portal.name) { $0.maximumCalls += 1 } }
            }
        }
        #expect(try await store.application(portal.name)?.profile.maximumCalls == 120)
    }

    @Test func `a former secret is accepted for a time if that is asked for`() async throws {
        let store = try await database().applications
        try await store.setSecret(Redacted("new"), of: portal.name, keepingFormerUntil: 1_000)
        let kept = try #require(try await store.application(portal.name))
        #expect(kept.secrets(at: 999) == [Redacted("new"), Redacted("s1")])
        #expect(kept.secrets(at: 1_000) == [Redacted("new")])
        try await store.setSecret(Redacted("newer"), of: portal.name, keepingFormerUntil: nil)
        #expect(try await store.application(portal.name)?.secrets(at: 0) == [Redacted("newer")])
    }

    private func key(_ id: String, of name: ApplicationName, createdAt: Int64 = 0) -> StoredApplicationKey {
        StoredApplicationKey(
            id: id, application: name, ending: "wxyz", createdAt: createdAt, createdBy: "root", expiresAt: nil)
    }

    @Test func `keys lead to their application until they are removed, or it is`() async throws {
        let store = try await database().applications
        let keys = [key("b", of: portal.name, createdAt: 1), key("a", of: portal.name, createdAt: 2)]
        for (number, key) in keys.enumerated() {
            #expect(try await store.add(key, digest: [UInt8(number)], of: portal.name))
        }
        #expect(try await store.keys(of: portal.name) == keys)
        #expect(try await store.keys(of: shop.name).isEmpty)
        let found = try #require(try await store.application(ofKey: [1]))
        #expect(found.application == portal)
        #expect(found.key == keys[1])
        #expect(try await store.application(ofKey: [9]) == nil)
        #expect(try await store.removeKey("a", of: shop.name) == nil)
        #expect(try await store.removeKey("a", of: portal.name) == keys[1])
        #expect(try await store.application(ofKey: [1]) == nil)
        try await store.remove(portal.name)
        #expect(try await store.application(ofKey: [0]) == nil)
        let gone = key("c", of: portal.name)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            _ = try await store.add(gone, digest: [3], of: gone.application)
        }
    }

    @Test func `an application has so many keys, and no more`() async throws {
        let store = try await database().applications
        for number in 0..<StoredApplicationKey.limit {
            #expect(try await store.add(key("\(number)", of: shop.name), digest: [UInt8(number)], of: shop.name))
        }
        #expect(try await !store.add(key("more", of: shop.name), digest: [99], of: shop.name))
        #expect(try await store.add(key("other", of: portal.name), digest: [100], of: portal.name))
    }

    @Test func `requests with keys are of one application, and forgotten with it`() async throws {
        let database = try await database()
        let requests = database.administration
        func reserve(_ key: UInt8, of application: ApplicationIdentity?) async throws -> KeyReservation {
            try await requests.reserve(
                key: [key], fingerprint: [1], process: "p", of: application, at: 1_000, age: .seconds(60), limit: 2)
        }
        #expect(try await reserve(1, of: portal.identity) == .reserved)
        #expect(try await reserve(1, of: portal.identity) == .inProgress)
        for key in [2, 3] as [UInt8] { #expect(try await reserve(key, of: shop.identity) == .reserved) }
        #expect(try await reserve(4, of: shop.identity) == .full(.milliseconds(60_001)))
        #expect(try await reserve(9, of: nil) == .reserved)
        // Those of another application have not made room, and take none.
        #expect(try await reserve(5, of: portal.identity) == .reserved)
        #expect(try await reserve(1, of: portal.identity) == .inProgress)
        #expect(try await reserve(9, of: nil) == .inProgress)
        try await database.applications.remove(portal.name)
        #expect(try await reserve(2, of: shop.identity) == .inProgress)
        #expect(try await reserve(9, of: nil) == .inProgress)
        // A request of the former one that comes late takes no room of another one with its name.
        var next = portal
        next.number = 3
        try await database.applications.add(next)
        await #expect(throws: StorageError.noSuchApplication(portal.name)) {
            _ = try await reserve(8, of: portal.identity)
        }
        for key in [1, 5] as [UInt8] { #expect(try await reserve(key, of: next.identity) == .reserved) }
        #expect(try await reserve(6, of: next.identity) == .full(.milliseconds(60_001)))
    }

    @Test func `an application that has too many keys loses none, and gets one when the oldest is forgotten`()
        async throws
    {
        let database = try await database()
        let requests = database.administration
        func reserve(_ key: UInt8, at now: Int64, process: String = "p") async throws -> KeyReservation {
            try await requests.reserve(
                key: [key], fingerprint: [1], process: process, of: shop.identity, at: now, age: .seconds(60), limit: 3)
        }
        let answer = KeptAnswer(status: 200, contentType: "application/json", body: [1])
        for key in 1...3 as ClosedRange<UInt8> {
            #expect(try await reserve(key, at: Int64(key) * 1_000) == .reserved)
            try await requests.keep(answer, for: [key])
        }
        #expect(try await reserve(4, at: 10_000) == .full(.milliseconds(51_001)))
        for key in 1...3 as ClosedRange<UInt8> { #expect(try await reserve(key, at: 10_000) == .answered(answer)) }
        // One that is given up makes room, and one that another process has left behind takes none.
        try await requests.keep(nil, for: [2])
        #expect(try await reserve(5, at: 11_000) == .reserved)
        #expect(try await reserve(5, at: 12_000, process: "q") == .reserved)
        #expect(try await reserve(4, at: 12_000) == .full(.milliseconds(49_001)))
        #expect(try await reserve(4, at: 61_000) == .full(.milliseconds(1)))
        #expect(try await reserve(4, at: 61_001) == .reserved)
        #expect(try await reserve(6, at: 61_002) == .full(.milliseconds(1_999)))
        // All but the new one are over.
        for key in 6...7 as ClosedRange<UInt8> { #expect(try await reserve(key, at: 120_000) == .reserved) }
        #expect(try await reserve(8, at: 120_000) == .full(.milliseconds(1_002)))
    }

    @Test func `an application gets a number that none has had, and keeps it`() async throws {
        let store = try await database().applications
        let name = try #require(ApplicationName("bot"))
        var numbers: Set<Int64> = []
        for _ in 0..<10 {
            try await store.add(StoredApplication(name: name, domain: "", secret: Redacted("s")))
            let identity = try #require(try await store.application(name)).identity
            #expect((1..<1 << 53).contains(identity.number))
            #expect(ApplicationIdentity(identity.description) == identity)
            _ = try await store.change(name) { $0.displayName = "Bot" }
            try await store.setSecret(Redacted("t"), of: name, keepingFormerUntil: nil)
            #expect(try await store.application(name)?.identity == identity)
            numbers.insert(identity.number)
            try await store.remove(name)
        }
        #expect(numbers.count == 10)
    }

    @Test(arguments: ["bot", "bot#", "#1", "bot#-1", "bot#1#2", "bot#one", "a b#1"])
    func `what is not a name and a number is no identity`(_ text: String) {
        #expect(ApplicationIdentity(text) == nil)
    }
}
