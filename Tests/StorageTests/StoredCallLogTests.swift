import CallControl
import CallRuntime
import CallSupport
import Foundation
import GRDB
import Logging
import Testing

import Storage

/// The call logs: that of a database, in a file and in memory, and the one that needs none.
@Suite struct StoredCallLogTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private typealias Log = CallLogConformance

    /// Runs `body` with the path of a database that does not exist yet, and cleans up.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "records-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    private static func open(
        _ location: GatewayDatabase.Location, _ limits: JournalStore.Configuration = .init(),
        _ clock: FixedClock = FixedClock(100)
    ) async throws -> (GatewayDatabase, Log.Opened) {
        let database = try GatewayDatabase(location, logger: logger)
        let journal = try database.openJournal(limits, clock: clock, logger: logger)
        _ = try await journal.contents()
        return (database, Log.Opened(log: journal.callLog, journal: journal) { await journal.keepUp() })
    }

    private static func rule(_ name: String) throws -> @Sendable (CallLogConformance) async throws -> Void {
        try #require(CallLogConformance.rules.first { $0.0 == name }).1
    }

    @Test(arguments: CallLogConformance.rules.map(\.0)) func `the log in memory keeps the rules`(_ name: String)
        async throws
    {
        try await Self.rule(name)(
            CallLogConformance { perUser, all in
                let limits = MemoryCallLog.Configuration(recordsPerUser: perUser, records: all)
                return Log.Opened(log: MemoryCallLog(configuration: limits), journal: VolatileJournal())
            })
    }

    @Test(arguments: CallLogConformance.rules.map(\.0)) func `the log in a file keeps the rules`(_ name: String)
        async throws
    {
        try await withPath { path in
            try await Self.rule(name)(
                CallLogConformance { perUser, all in
                    let limits = JournalStore.Configuration(recordsPerUser: perUser, records: all)
                    return try await Self.open(.file(path), limits).1
                })
        }
    }

    @Test(arguments: CallLogConformance.rules.map(\.0)) func `the log of a temporary database keeps the rules`(
        _ name: String
    ) async throws {
        try await Self.rule(name)(
            CallLogConformance { perUser, all in
                let limits = JournalStore.Configuration(recordsPerUser: perUser, records: all)
                return try await Self.open(.temporary, limits).1
            })
    }

    @Test func `records and deletions outlive the process`() async throws {
        try await withPath { path in
            let (first, log) = try await Self.open(.file(path))
            try await log.add(Log.record("a"), Log.record("b"), Log.record("c", of: Log.bob))
            #expect(try await log.remove("a"))
            try first.close()
            let (second, again) = try await Self.open(.file(path))
            await again.keepUp()
            #expect(try await again.ids() == ["b"])
            #expect(try await again.log.records(of: Log.bob, from: 0, count: 9) == [Log.record("c", of: Log.bob)])
            try second.close()
        }
    }

    @Test func `a part that nothing has continued is removed with the next process, no other`() async throws {
        try await withPath { path in
            let (first, log) = try await Self.open(.file(path))
            try await log.add(Log.record("a", isOver: false), Log.record("b", isOver: false))
            try first.close()
            let (second, again) = try await Self.open(.file(path))
            try await again.add(Log.record("b"), Log.record("c", isOver: false))
            let reader = try DatabaseQueue(path: path)
            let ids = try await reader.read { try String.fetchAll($0, sql: "SELECT id FROM callRecord ORDER BY id") }
            #expect(ids == ["b", "c"])
            try reader.close()
            try second.close()
        }
    }

    @Test func `records are removed with age`() async throws {
        try await withPath { path in
            let clock = FixedClock(100_000)
            let (database, log) = try await Self.open(.file(path), .init(recordAge: .seconds(50)), clock)
            try await log.add(Log.record("a", at: 60_000), Log.record("b", at: 90_000))
            #expect(try await log.ids() == ["b", "a"])
            // A clock that is put forward makes no record older.
            clock.step(by: 90 * 86_400_000)
            await log.keepUp()
            clock.step(by: -90 * 86_400_000)
            #expect(try await log.ids() == ["b", "a"])
            clock.set(120_000)
            await log.keepUp()
            #expect(try await log.ids() == ["b"])
            try database.close()
        }
    }

    @Test func `the records of a user who is removed are gone`() async throws {
        try await withPath { path in
            let (database, log) = try await Self.open(.file(path))
            try await database.users.add(StoredUser(address: Log.alice, passwordRecord: "$scrypt$a"))
            try await log.add(Log.record("a"), Log.record("b", of: Log.bob))
            try await database.users.remove(Log.alice)
            #expect(try await log.ids() == [])
            #expect(try await log.ids(Log.bob) == ["b"])
            try database.close()
        }
    }

    @Test func `a record that cannot be read is left out`() async throws {
        try await withPath { path in
            let (database, log) = try await Self.open(.file(path))
            try await log.add(Log.record("a"))
            let other = try DatabaseQueue(path: path)
            try await other.write { try $0.execute(sql: "UPDATE callRecord SET record = '{}'") }
            #expect(try await log.ids() == [])
            // The journal goes on.
            try await log.add(Log.record("a", at: 7))
            #expect(try await log.ids() == ["a"])
            try other.close()
            try database.close()
        }
    }
}
