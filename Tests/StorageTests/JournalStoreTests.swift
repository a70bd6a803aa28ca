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
        var configuration = Configuration()
        // A store that is refused tries again, and may be at it just now.
        configuration.busyMode = .timeout(10)
        let other = try DatabaseQueue(path: path, configuration: configuration)
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

    @Test(arguments: JournalConformance.rules.map(\.0)) func `it does what every journal has to do`(
        _ name: String
    ) async throws {
        try await withPath { path in
            let rule = try #require(JournalConformance.rules.first { $0.0 == name })
            try await rule.1(
                JournalConformance { clock in
                    let limits = JournalConformance.limits
                    let (database, store) = try open(
                        path,
                        .init(
                            notificationAge: limits.notificationAge, callAge: limits.callAge,
                            callBytes: limits.callBytes), clock)
                    return JournalConformance.Opened(
                        journal: store, publicEvents: store.publicEvents, users: database.users,
                        contents: { try await store.contents() },
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

/// Rows of pushes and of registrations for push that cannot be read.
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

    @Test func `a push that cannot be read is set aside`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            store.append(.push(JournalConformance.owedPush("c", .call(JournalConformance.event(2)))))
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
            let kept = try JournalConformance.pushRegistration("d0", .google(token: Redacted("secret")), account: nil)
            store.append(.pushRegistration(.registered(kept)))
            try await store.durable()
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE pushRegistration SET provider = 'pigeon'") }
            let contents = try await store.contents()
            #expect(contents.pushRegistrations.isEmpty && contents.setAside.map(\.table) == ["pushRegistration"])
            let row = try await other.read { try String.fetchOne($0, sql: "SELECT content FROM setAside") }
            #expect(row?.contains("pigeon") == true && row?.contains("secret") == false)
            try other.close()
            try database.close()
        }
    }
}
