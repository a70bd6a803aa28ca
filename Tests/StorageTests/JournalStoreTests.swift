import CallControl
import CallRuntime
import CallSupport
import Foundation
import GRDB
import Logging
import Primitives
import Push
import Registration
import Sockets
import Testing

import Storage

/// The journal in SQLite.
@Suite struct JournalStoreTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with the path of a database that does not exist yet, and cleans up.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    private func open(
        _ path: String, _ configuration: JournalStore.Configuration = .init(), _ clock: FixedClock = FixedClock()
    ) throws -> (GatewayDatabase, JournalStore) {
        let database = try GatewayDatabase(.file(path), logger: Self.logger)
        return (database, try database.openJournal(configuration, clock: clock, logger: Self.logger))
    }

    private static let rules: [(String, @Sendable (JournalConformance) async throws -> Void)] = [
        ("nothing", { try await $0.`nothing was kept, nothing is found`() }),
        ("last state", { try await $0.`a subscription is found as it was last`() }),
        ("over", { try await $0.`a subscription that is over is not found, nor its notifications`() }),
        ("order", { try await $0.`notifications are found in order, with their events`() }),
        ("services", { try await $0.`what services have is found as it was last, and their notifications`() }),
        ("owed", { try await $0.`what is owed is found in order, and not what was told`() }),
        ("given up", { try await $0.`what was given up is not found, but how much it was`() }),
        (
            "guests",
            { try await $0.`a guest is found with the account and the network, and not without a subscription`() }
        ),
        ("used tokens", { try await $0.`a token that was used is found with its realm and its end`() }),
        ("calls", { try await $0.`the events of calls are found in order, of two runs apart`() }),
        ("together", { try await $0.`what is added while the journal is suspended is kept together, or not at all`() }),
        ("actions", { try await $0.`an action is carried out once what was added before is durable, in order`() }),
        (
            "refused",
            {
                try await $0
                    .`what the engine refuses is refused to the caller, and is all there in order once it is taken`()
            }
        ),
        (
            "never taken",
            { try await $0.`of what was never taken nothing is found, nor anything that came after it`() }
        ),
        (
            "age of notifications",
            {
                try await $0
                    .`notifications are removed with age, but no number is forgotten, and what was never sent is counted`()
            }
        ),
        ("age of calls", { try await $0.`calls that have ended are removed with age, and none that goes on`() }),
        (
            "bytes of calls",
            { try await $0.`calls that have ended take no more bytes than they may, and the oldest make room`() }
        ),
        ("age while refused", { try await $0.`while the engine refuses nothing ages`() }),
        ("clock", { try await $0.`a clock that is set ages nothing, and keeps nothing longer`() }),
    ]

    /// What makes SQLite refuse every row that is added, and every subscription that is changed.
    private static let hurdles =
        ["subscription", "callEvent", "notification", "callRecord"].map { table in
            ("hurdle_\(table)", "BEFORE INSERT ON \(table)")
        } + [("hurdle_update", "BEFORE UPDATE ON subscription")]

    private static func eventCount(_ path: String) async throws -> Int {
        let other = try DatabaseQueue(path: path)
        defer { #expect(throws: Never.self) { try other.close() } }
        return try await other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM callEvent") ?? 0 }
    }

    private static func refuse(_ refuses: Bool, _ path: String) async throws {
        let other = try DatabaseQueue(path: path)
        try await other.write { database in
            for (name, event) in hurdles {
                try database.execute(sql: "DROP TRIGGER IF EXISTS \(name)")
                guard refuses else { continue }
                try database.execute(
                    sql: "CREATE TRIGGER \(name) \(event) BEGIN SELECT RAISE(ABORT, 'no room'); END")
            }
        }
        try other.close()
    }

    @Test(arguments: rules.map(\.0)) func `it does what every journal has to do`(_ name: String) async throws {
        try await withPath { path in
            let rule = try #require(Self.rules.first { $0.0 == name })
            try await rule.1(
                JournalConformance { clock in
                    let limits = JournalConformance.limits
                    let (database, store) = try open(
                        path,
                        .init(
                            notificationAge: limits.notificationAge, callAge: limits.callAge,
                            callBytes: limits.callBytes), clock)
                    return JournalConformance.Opened(
                        journal: store, contents: { try await store.contents() },
                        eventCount: { try await Self.eventCount(path) }, keepUp: { await store.keepUp() },
                        refuse: { try await Self.refuse($0, path) }, abandon: { try database.close() })
                })
        }
    }

    @Test func `nothing is carried out before it is in the file`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            _ = try await store.contents()
            let reader = try DatabaseQueue(path: path)
            let seen = Order()
            for number in 0..<50 {
                store.append(.registration(.subscribed(JournalConformance.subscription("s\(number)"))))
                store.whenDurable {
                    let count = try? reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM subscription") }
                    seen.add((count ?? 0) > number ? 1 : 0)
                }
            }
            try await store.durable()
            #expect(seen.numbers == [Int](repeating: 1, count: 50))
            try reader.close()
            try database.close()
        }
    }

    @Test func `a file that is too slow is a journal that fails, until it has caught up`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            _ = try await store.contents()
            store.suspend()
            let entry = JournalEntry.registration(.unsubscribed(SubscriptionID("s1")))
            store.append([JournalEntry](repeating: entry, count: JournalStore.backlog))
            #expect(!store.isFailing)
            store.append(entry)
            #expect(store.isFailing)
            store.resume()
            try await store.durable()
            #expect(!store.isFailing)
            try database.close()
        }
    }

    @Test func `what a notification tells is found, however long the call has been over`() async throws {
        try await withPath { path in
            // The call ended an hour ago, in the log of a process that was killed. Its end is told only now.
            let clock = FixedClock(1_700_003_600_000)
            let (database, store) = try open(path, .init(), clock)
            _ = try await store.contents()
            let told = JournalConformance.event(1)
            let end = JournalConformance.event(
                2, .ended(CallRecord(cause: .interrupted), by: nil, device: nil), told: false)
            let frame = JournalConformance.frame(1_000, .call(told), at: 1_700_003_600_000)
            store.append([
                .event(told), .event(end), .registration(.subscribed(JournalConformance.subscription())),
                .registration(.notified("s1", frame)),
            ])
            try await store.durable()
            await store.keepUp()
            try database.close()
            clock.set(1_700_003_660_000)
            let (again, second) = try open(path, .init(), clock)
            #expect(try await second.contents().subscriptions.map(\.frames) == [[frame]])
            await second.keepUp()
            #expect(try await second.contents().subscriptions.map(\.frames) == [[frame]])
            try again.close()
        }
    }
}

/// Registrations for push, in the file.
@Suite struct PushRegistrationRowsTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "push-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    private func open(_ path: String) throws -> (GatewayDatabase, JournalStore) {
        let database = try GatewayDatabase(.file(path), logger: Self.logger)
        return (database, try database.openJournal(.init(), clock: FixedClock(), logger: Self.logger))
    }

    private static func stored(
        _ id: String, _ target: PushRegistration.Target, account: Int64?, correlator: String? = nil
    ) throws -> StoredPushRegistration {
        StoredPushRegistration(
            try PushRegistration(
                id: id, user: "alice@example.com", bundleID: "com.example.app", realm: "défaut",
                services: ["call", "gone"], clientCorrelator: correlator, target: target),
            account: account, time: 1_700_000_000_000)
    }

    private static func targets() -> [PushRegistration.Target] {
        [
            .apple(.init(voip: Redacted("ab12"), standard: nil, isProduction: true)),
            .apple(.init(voip: nil, standard: Redacted("cd34"), isProduction: false)),
            .google(token: Redacted("a:b")), .webhook(url: "https://push.example.com/"),
        ]
    }

    @Test func `they are found as they were last, and end with the account`() async throws {
        try await withPath { path in
            var (database, store) = try open(path)
            try await database.users.add(StoredUser(address: JournalConformance.alice, passwordRecord: ""))
            let account = try #require(try await database.users.user(JournalConformance.alice)?.identity.rawValue)
            _ = try await store.contents()
            var kept = try Self.targets().enumerated().map {
                try Self.stored("d\($0)", $1, account: account, correlator: $0 == 0 ? nil : "phone \($0)")
            }
            store.append(kept.map { .pushRegistration(.registered($0)) })
            kept[1] = try Self.stored("d1", .google(token: Redacted("new")), account: nil)
            store.append([
                .pushRegistration(.registered(kept[1])),
                .pushRegistration(.removed(id: "d2", user: "alice@example.com")),
                // Of an account that has been followed by another, and of nobody.
                .pushRegistration(.registered(try Self.stored("d7", Self.targets()[0], account: account &+ 1))),
            ])
            kept.remove(at: 2)
            try await store.durable()
            try database.close()
            (database, store) = try open(path)
            #expect(Set(try await store.contents().pushRegistrations) == Set(kept))
            try await database.users.remove(JournalConformance.alice)
            #expect(try await store.contents().pushRegistrations.isEmpty)
            // A registration that arrives after the account has gone holds nothing up.
            store.append(.pushRegistration(.registered(kept[0])))
            try await store.durable()
            #expect(try await store.contents().pushRegistrations.isEmpty)
            try database.close()
        }
    }

    private static func owed(_ name: String, _ occasion: OwedPush.Occasion) -> OwedPush {
        OwedPush(
            name: name, user: JournalConformance.alice, device: PushDeviceID("d-\(name)"), occasion: occasion,
            madeAt: 1_700_000_000_000, expiresAt: 1_700_000_030_000)
    }

    @Test func `pushes that are owed are found in order until they are settled, or the account is gone`() async throws {
        try await withPath { path in
            var (database, store) = try open(path)
            try await database.users.add(StoredUser(address: JournalConformance.alice, passwordRecord: ""))
            _ = try await store.contents()
            let pushes = [
                Self.owed("c", .call(JournalConformance.event(2))), Self.owed("a", .call(JournalConformance.event(3))),
                Self.owed("b", .callOver(JournalConformance.event(4), hasVideo: true, .answeredElsewhere)),
                Self.owed("g", .gone(ChannelID("channel"))), Self.owed("r", .refresh),
                Self.owed("m", .messageWaiting(VoicemailCount(unheard: 1, heard: 2))),
            ]
            store.append(pushes.map { .push($0) })
            store.append([.push(pushes[0]), .pushSettled("a"), .pushSettled("none")])
            try await store.durable()
            try database.close()
            (database, store) = try open(path)
            #expect(try await store.contents().owedPushes == [pushes[0]] + pushes[2...])
            try await database.users.remove(JournalConformance.alice)
            #expect(try await store.contents().owedPushes.isEmpty)
            try database.close()
        }
    }

    @Test func `the presence of a user who was removed is kept for those who were told it`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            try await database.users.add(StoredUser(address: JournalConformance.alice, passwordRecord: ""))
            let count = VoicemailCount(unheard: 1, heard: 0)
            let presence = StoredPresence(Presence(.open))
            store.append([
                .registration(.service(.presence(presence, of: JournalConformance.alice))),
                .registration(.service(.voicemail(count, of: JournalConformance.alice))),
            ])
            try await store.durable()
            try await database.users.remove(JournalConformance.alice)
            let services = try await store.contents().services
            #expect(services.presence == [JournalConformance.alice: presence] && services.voicemail.isEmpty)
            try database.close()
        }
    }

    @Test func `a push that cannot be read is set aside`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            store.append(.push(Self.owed("c", .call(JournalConformance.event(2)))))
            try await store.durable()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE owedPush SET occasion = '{}'") }
            let contents = try await store.contents()
            #expect(contents.owedPushes.isEmpty && contents.setAside.map(\.table) == ["owedPush"])
            try other.close()
            try database.close()
        }
    }

    @Test func `a row that cannot be read is set aside without its tokens`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            try await database.users.add(StoredUser(address: JournalConformance.alice, passwordRecord: ""))
            store.append(
                .pushRegistration(.registered(try Self.stored("d0", .google(token: Redacted("secret")), account: nil))))
            try await store.durable()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE pushRegistration SET provider = 'pigeon'") }
            let contents = try await store.contents()
            #expect(contents.pushRegistrations.isEmpty && contents.setAside.map(\.table) == ["pushRegistration"])
            let kept = try await other.read { try String.fetchOne($0, sql: "SELECT content FROM setAside") }
            #expect(kept?.contains("pigeon") == true && kept?.contains("secret") == false)
            try other.close()
            try database.close()
        }
    }
}
