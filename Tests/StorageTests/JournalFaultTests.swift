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

/// What becomes of the journal when rows are damaged, the disk fails, or the clock is set.
@Suite struct JournalFaultTests {
    private static let start: Int64 = 1_700_000_000_000
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with the path of a database that does not exist yet, and cleans up.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "journal-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "gateway.sqlite").path)
    }

    private func open(
        _ path: String, _ clock: FixedClock = FixedClock(start), logger: Logger = logger
    ) throws -> (GatewayDatabase, JournalStore) {
        let database = try GatewayDatabase(.file(path), logger: logger)
        return (database, try database.openJournal(.init(), clock: clock, logger: logger))
    }

    /// Leaves entries in a database, changes rows of it, and finds what there is then.
    private func found(_ path: String, of entries: [JournalEntry], after sql: String) async throws -> JournalContents {
        let (database, store) = try open(path)
        _ = try await store.contents()
        store.append(entries)
        try await store.durable()
        try database.close()
        try await edit(path, sql)
        let (again, second) = try open(path)
        let contents = try await second.contents()
        try again.close()
        return contents
    }

    private func edit(_ path: String, _ sql: String) async throws {
        let other = try DatabaseQueue(path: path)
        try await other.write { try $0.execute(sql: sql) }
        try other.close()
    }

    private func value<Value: DatabaseValueConvertible & Sendable>(_ path: String, _ sql: String) async throws -> Value?
    {
        let other = try DatabaseQueue(path: path)
        defer { #expect(throws: Never.self) { try other.close() } }
        return try await other.read { try Value.fetchOne($0, sql: sql) }
    }

    private static var entries: [JournalEntry] {
        var entries: [JournalEntry] = []
        for number in 1...3 {
            let event = JournalConformance.event(number)
            entries += [
                .event(event),
                .registration(.notified("s1", JournalConformance.frame(999 + UInt64(number), .call(event)))),
            ]
        }
        return [.registration(.subscribed(JournalConformance.subscription()))] + entries
    }

    // MARK: - Damaged rows

    @Test func `an event that cannot be read is told as lost in its place, and the rest is there`() async throws {
        try await withPath { path in
            let damage = "UPDATE callEvent SET event = '{\"fact\":7}' WHERE sequence = 2"
            let contents = try await found(path, of: Self.entries, after: damage)
            #expect(contents.calls.map { $0.map(\.sequence) } == [[1, 3]])
            #expect(
                contents.subscriptions.map { $0.frames.map(\.notice) } == [
                    [.call(JournalConformance.event(1)), .lost(1), .call(JournalConformance.event(3))]
                ])
            #expect(contents.subscriptions.map { $0.frames.map(\.eventID) } == [[1_000, 1_001, 1_002]])
            #expect(contents.setAside.map(\.table) == ["callEvent", "notification"])
            #expect(contents.setAside.allSatisfy { !$0.reason.contains("7") })
            // The next start finds the same, and nothing to set aside.
            let (database, store) = try open(path)
            let again = try await store.contents()
            #expect(again.subscriptions == contents.subscriptions && again.setAside.isEmpty)
            try database.close()
            let kept: String? = try await value(path, "SELECT content FROM setAside WHERE source = 'callEvent'")
            #expect(kept?.contains(#"{\"fact\":7}"#) == true)
        }
    }

    @Test(
        arguments: [
            "UPDATE notification SET kind = 'riddle' WHERE eventId = 1001",
            "UPDATE notification SET kind = 'service', content = '{}' WHERE eventId = 1001",
            "UPDATE notification SET call = NULL WHERE eventId = 1001",
        ])
    func `a notification that cannot be read is told as lost in its place`(_ damage: String) async throws {
        try await withPath { path in
            let contents = try await found(path, of: Self.entries, after: damage)
            #expect(
                contents.subscriptions.map { $0.frames.map(\.notice) } == [
                    [.call(JournalConformance.event(1)), .lost(1), .call(JournalConformance.event(3))]
                ])
            #expect(contents.setAside.map(\.table) == ["notification"])
        }
    }

    @Test(arguments: ["services = '[7'", "user = 'nobody'"])
    func `a subscription that cannot be read is set aside alone`(_ damage: String) async throws {
        try await withPath { path in
            let other = JournalEntry.registration(.subscribed(JournalConformance.subscription("s2")))
            let contents = try await found(
                path, of: Self.entries + [other], after: "UPDATE subscription SET \(damage) WHERE id = 's1'")
            #expect(contents.subscriptions.map(\.subscription.id) == ["s2"])
            #expect(contents.setAside.map(\.table) == ["subscription"])
        }
    }

    @Test func `what is kept for services is set aside row by row`() async throws {
        try await withPath { path in
            let messages = (1...2).map { number in
                InstantMessage(
                    id: "m\(number)", sender: JournalConformance.alice, senderName: "", text: "", type: "A2",
                    charset: "UTF-8", time: Self.start)
            }
            let contents = try await found(
                path, of: messages.map { .registration(.service(.messageKept($0, for: JournalConformance.alice))) },
                after: "UPDATE keptMessage SET message = '?' WHERE id = 'm1'")
            #expect(contents.services.messages == [JournalConformance.alice: [messages[1]]])
            #expect(contents.setAside.map(\.table) == ["keptMessage"])
        }
    }

    @Test func `what is owed is set aside row by row`() async throws {
        try await withPath { path in
            let owed = (1...2).map { number in
                OwedMessage(
                    number: number, receiver: JournalConformance.alice, message: .voicemail(.empty))
            }
            let contents = try await found(
                path, of: owed.map { .registration(.service(.owed($0))) },
                after: "UPDATE owedMessage SET message = '{\"news\":1}' WHERE number = 1")
            #expect(contents.services.owed == [owed[1]])
            #expect(contents.setAside.map(\.table) == ["owedMessage"])
        }
    }

    @Test func `a call whose end cannot be read is over`() async throws {
        try await withPath { path in
            let end = JournalConformance.event(4, .ended(CallRecord(cause: .drained), by: nil, device: nil))
            let contents = try await found(
                path, of: Self.entries + [.event(end)], after: "UPDATE callEvent SET event = '' WHERE isLast")
            #expect(contents.calls.isEmpty)
            #expect(contents.subscriptions.map(\.frames.count) == [3])
            // The row is gone, and the next process finds the same.
            let (database, store) = try open(path)
            let again = try await store.contents()
            #expect(again.calls.isEmpty)
            #expect(again.subscriptions.map(\.frames.count) == [3])
            try database.close()
        }
    }

    @Test func `a record that cannot be read is said, and the others are there`() async throws {
        try await withPath { path in
            let (log, counted) = (RecordingLog(), Order())
            let database = try GatewayDatabase(.file(path), logger: log.logger)
            let store = try database.openJournal(.init(), clock: FixedClock(Self.start), logger: log.logger) {
                counted.add($0)
            }
            _ = try await store.contents()
            let (user, sessions) = (JournalConformance.alice, [SessionID("A"), SessionID("B")])
            let record = { (id: SessionID, ending: CallEnding?) in
                CallLogRecord(
                    id: id, user: user, direction: .outgoing, startedAt: Self.start, endedAt: Self.start,
                    caller: .user(DisplayName(name: "", number: user.text)),
                    callee: .user(DisplayName(name: "", number: user.text)), parties: [], ending: ending,
                    endedBy: .own, timeline: [])
            }
            let over = CallEnding(.ended(.drained), by: nil)
            store.append([.record(record(sessions[0], nil)), .record(record(sessions[1], over))])
            try await store.durable()
            try await edit(path, "UPDATE callRecord SET record = '{}' WHERE id = 'A'")
            store.append(.record(record(sessions[0], over)))
            try await store.durable()
            #expect(log.lines.count { $0.contains("the first part of a call's record cannot be read") } == 1)
            #expect(counted.numbers == [1])
            #expect(try await value(path, "SELECT count(*) FROM setAside WHERE source = 'callRecord'") == 1)
            #expect(
                try await store.callLog.records(of: user, from: 0, count: 9).map(\.id) == [sessions[0], sessions[1]])
            try await edit(path, "UPDATE callRecord SET record = '{}' WHERE id = 'A'")
            #expect(try await store.callLog.records(of: user, from: 0, count: 9).map(\.id) == [sessions[1]])
            #expect(log.lines.count { $0.contains("a record of a call cannot be read") } == 1)
            try database.close()
        }
    }

    // MARK: - Disks

    @Test func `what waits for the disk is tried once more when the journal is closed`() async throws {
        try await withPath { path in
            let (database, store) = try open(path)
            _ = try await store.contents()
            try await edit(
                path,
                "CREATE TRIGGER hurdle BEFORE INSERT ON subscription BEGIN SELECT RAISE(ABORT, 'no room'); END")
            store.append(.registration(.subscribed(JournalConformance.subscription())))
            await #expect(throws: StorageError.self) { try await store.durable() }
            try await edit(path, "DROP TRIGGER hurdle")
            try database.close()
            #expect(try await value(path, "SELECT count(*) FROM subscription") == 1)
        }
    }

    @Test func `what cannot be written when the journal is closed is counted in the log`() async throws {
        try await withPath { path in
            let log = RecordingLog()
            let (database, store) = try open(path, logger: log.logger)
            _ = try await store.contents()
            try await edit(
                path,
                "CREATE TRIGGER hurdle BEFORE INSERT ON subscription BEGIN SELECT RAISE(ABORT, 'no room'); END")
            store.append(.registration(.subscribed(JournalConformance.subscription())))
            await #expect(throws: StorageError.self) { try await store.durable() }
            try database.close()
            #expect(log.lines.contains { $0.contains("are given up") && $0.contains("count=1") })
        }
    }

    @Test func `a notification that ages away unsent is counted as lost`() async throws {
        try await withPath { path in
            let clock = FixedClock(Self.start)
            let (database, store) = try open(path, clock)
            _ = try await store.contents()
            store.append(Self.entries + [.registration(.transmitted("s1", through: 1_000))])
            try await store.durable()
            clock.set(Self.start + 121_000)
            await store.keepUp()
            try database.close()
            let (again, second) = try open(path, clock)
            let left = try #require(try await second.contents().subscriptions.first)
            #expect(left.frames.isEmpty && left.lost == 2 && left.numbered == 1_002)
            // What the owner of the subscription has counted is not counted again.
            second.append([
                .registration(.notified("s1", JournalConformance.frame(1_003, .ping, at: Self.start + 121_000))),
                .registration(.forgotten("s1", through: 1_003, lost: 3)),
            ])
            try await second.durable()
            clock.set(Self.start + 242_000)
            await second.keepUp()
            #expect(try await second.contents().subscriptions.map(\.lost) == [3])
            try again.close()
        }
    }

    @Test func `while the disk fails nothing ages away`() async throws {
        try await withPath { path in
            let clock = FixedClock(Self.start)
            let (database, store) = try open(path, clock)
            _ = try await store.contents()
            store.append(Self.entries)
            try await store.durable()
            try await edit(
                path, "CREATE TRIGGER hurdle BEFORE INSERT ON callRecord BEGIN SELECT RAISE(ABORT, 'no room'); END")
            try await edit(
                path, "CREATE TRIGGER hurdle2 BEFORE UPDATE ON subscription BEGIN SELECT RAISE(ABORT, 'no room'); END")
            store.append(.registration(.transmitted("s1", through: 1_002)))
            await #expect(throws: StorageError.self) { try await store.durable() }
            clock.set(Self.start + 121_000)
            await store.keepUp()
            #expect(try await value(path, "SELECT count(*) FROM notification") == 3)
            try await edit(path, "DROP TRIGGER hurdle2")
            while store.isFailing { try await Task.sleep(for: .milliseconds(10)) }
            await store.keepUp()
            let left = try #require(try await store.contents().subscriptions.first)
            #expect(left.frames.isEmpty && left.lost == 0 && left.transmitted == 1_002)
            try database.close()
        }
    }

    @Test func `a call that never ends keeps its beginning and its latest events`() async throws {
        try await withPath { path in
            let (clock, log) = (FixedClock(Self.start), RecordingLog())
            let database = try GatewayDatabase(.file(path), logger: log.logger)
            let store = try database.openJournal(.init(callEvents: 100), clock: clock, logger: log.logger)
            _ = try await store.contents()
            for number in 1...1_000 {
                // Every hundredth is needed.
                let fact: CallEvent.Fact = number % 100 == 1 ? .alerted : number % 2 == 0 ? .held : .resumed
                store.append(.event(JournalConformance.event(number, fact)))
            }
            try await store.durable()
            await store.keepUp()
            let count = { () async throws -> Int? in try await value(path, "SELECT count(*) FROM callEvent") }
            #expect(try await count() == 1_000, "somebody may be told them still")
            clock.set(Self.start + 121_000)
            await store.keepUp()
            #expect(try await count() == 50)
            // It goes on, and loses more.
            for number in 1_001...1_200 {
                store.append(.event(JournalConformance.event(number, number % 2 == 0 ? .held : .resumed)))
            }
            try await store.durable()
            clock.set(Self.start + 242_000)
            await store.keepUp()
            #expect(try await count() == 50)
            let left = try #require(try await store.contents().calls.first).map(\.sequence)
            #expect(left.filter { $0 % 100 == 1 } == Array(stride(from: 1, through: 901, by: 100)))
            #expect(left.last == 1_200)
            #expect(log.lines.count { $0.contains("a long call keeps only its latest events") } == 1)
            try database.close()
        }
    }

    // MARK: - Clocks

    @Test func `a clock that is put forward ages nothing, and one that is put back keeps nothing`() async throws {
        try await withPath { path in
            let clock = FixedClock(Self.start)
            let (database, store) = try open(path, clock)
            _ = try await store.contents()
            store.append(Self.entries)
            try await store.durable()
            await store.keepUp()
            let count = { () async throws -> Int? in try await value(path, "SELECT count(*) FROM notification") }
            clock.step(by: 3_600_000)
            await store.keepUp()
            #expect(try await count() == 3)
            clock.set(clock.epochMilliseconds + 121_000)
            await store.keepUp()
            #expect(try await count() == 0)

            let later = clock.epochMilliseconds
            store.append(.registration(.notified("s1", JournalConformance.frame(1_003, .ping, at: later))))
            try await store.durable()
            clock.step(by: -86_400_000)
            store.append(
                .registration(.notified("s1", JournalConformance.frame(1_004, .ping, at: clock.epochMilliseconds))))
            try await store.durable()
            await store.keepUp()
            #expect(try await count() == 2)
            clock.set(clock.epochMilliseconds + 121_000)
            await store.keepUp()
            #expect(try await count() == 0)
            try database.close()
        }
    }

    @Test(arguments: [3_600_000, -3_600_000] as [Int64])
    func `subscriptions live as long as before when the clock is set`(_ step: Int64) async throws {
        try await withPath { path in
            let clock = FixedClock(Self.start)
            let (database, store) = try open(path, clock)
            _ = try await store.contents()
            store.append(.registration(.subscribed(JournalConformance.subscription())))
            try await store.durable()
            clock.step(by: step)
            // What is written from now on is by the new clock already.
            var young = JournalConformance.subscription("s2")
            young.expiry = clock.epochMilliseconds + 600_000
            store.append(.registration(.subscribed(young)))
            try await store.durable()
            await store.keepUp()
            let expiries = try await store.contents().subscriptions.map(\.subscription.expiry)
            #expect(expiries == [1_700_000_600_000 + step, young.expiry])
            #expect(try await store.contents().subscriptions.first?.subscription.reminder == 1_700_000_450_000 + step)
            try database.close()
        }
    }

    @Test func `calls are kept by the time that passes, whatever the clock shows`() async throws {
        try await withPath { path in
            let clock = FixedClock(Self.start)
            let (database, store) = try open(path, clock)
            _ = try await store.contents()
            let end = JournalConformance.event(1, .ended(CallRecord(cause: .drained), by: nil, device: nil))
            store.append(.event(end))
            try await store.durable()
            clock.step(by: 86_400_000)
            await store.keepUp()
            #expect(try await value(path, "SELECT count(*) FROM callEvent") == 1)
            clock.step(by: -2 * 86_400_000)
            clock.set(clock.epochMilliseconds + 301_000)
            await store.keepUp()
            #expect(try await value(path, "SELECT count(*) FROM callEvent") == 0)
            try database.close()
        }
    }
}
