import CallControl
import CallRuntime
import CallSupport
import Foundation
import GRDB
import Logging
import Primitives
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
        ("calls", { try await $0.`the events of calls are found in order, of two runs apart`() }),
        ("together", { try await $0.`what is added while the journal is suspended is kept together, or not at all`() }),
        ("actions", { try await $0.`an action is carried out once what was added before is durable, in order`() }),
    ]

    @Test(arguments: rules.map(\.0)) func `it does what every journal has to do`(_ name: String) async throws {
        try await withPath { path in
            let rule = try #require(Self.rules.first { $0.0 == name })
            try await rule.1(
                JournalConformance {
                    let (database, store) = try open(path)
                    return JournalConformance.Opened(
                        journal: store, contents: { try await store.contents() }, abandon: { try database.close() })
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

    @Test func `what a locked file does not take is refused, kept, and written later`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            _ = try await store.contents()
            // The file has no room: SQLite says so as it does of a full disk.
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "CREATE TABLE hurdle (id INTEGER)") }
            try await other.write { database in
                try database.execute(
                    sql: """
                        CREATE TRIGGER hurdle BEFORE INSERT ON subscription BEGIN SELECT RAISE(ABORT, 'no room'); END
                        """)
            }
            let done = Order()
            store.append(.registration(.subscribed(JournalConformance.subscription())))
            store.whenDurable { done.add(1) }
            await #expect(throws: StorageError.self) { try await store.durable() }
            #expect(store.isFailing)
            #expect(done.numbers.isEmpty)
            store.append(.event(JournalConformance.event(1)))
            store.whenDurable { done.add(2) }
            await #expect(throws: StorageError.self, "at once") { try await store.durable() }
            try await other.write { try $0.execute(sql: "DROP TRIGGER hurdle") }
            while store.isFailing { try await Task.sleep(for: .milliseconds(10)) }
            try await store.durable()
            #expect(done.numbers == [1, 2])
            try database.close()
            try other.close()
            let (again, second) = try open(path)
            let contents = try await second.contents()
            #expect(contents.subscriptions.count == 1 && contents.calls == [[JournalConformance.event(1)]])
            try again.close()
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

    @Test func `what is old is removed, but no number is forgotten, and no call that goes on`() async throws {
        try await withPath { path in
            let clock = FixedClock(1_700_000_000_000)
            let limits = JournalStore.Configuration(
                notificationAge: .seconds(120), callAge: .seconds(300), callBytes: 1 << 20)
            let (database, store) = try open(path, limits, clock)
            _ = try await store.contents()
            var ended = JournalConformance.event(
                1, .ended(CallRecord(cause: .drained), by: nil, device: nil), told: false)
            ended.call = CallID(2)
            for entry in [
                .registration(.subscribed(JournalConformance.subscription())), .event(JournalConformance.event(1)),
                .event(ended), .registration(.notified("s1", JournalConformance.frame(1_000, .ping))),
                .registration(.notified("s1", JournalConformance.frame(1_001, .call(JournalConformance.event(1))))),
                .registration(.transmitted("s1", through: 1_000)),
            ] as [JournalEntry] { store.append(entry) }
            try await store.durable()
            func left(after seconds: Int64) async throws -> JournalContents {
                clock.set(1_700_000_000_000 + seconds * 1_000)
                await store.keepUp()
                return try await store.contents()
            }
            #expect(try await left(after: 119).subscriptions.first?.frames.count == 2)
            let later = try await left(after: 121)
            #expect(later.subscriptions.first?.frames.isEmpty == true)
            #expect(later.subscriptions.first?.numbered == 1_001)
            #expect(later.subscriptions.first?.transmitted == 1_000)
            #expect(later.stoppedAt == 1_700_000_121_000)
            let count = {
                try await DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM callEvent") }
            }
            #expect(try await count() == 2)
            #expect(try await left(after: 301).calls.map { $0.map(\.call) } == [[JournalConformance.call]])
            #expect(try await count() == 1)
            try database.close()
        }
    }
}
