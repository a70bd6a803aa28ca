import CallControl
import CallRuntime
import EventAPI
import Foundation
import GRDB
import Logging
import Primitives
import Testing

import Storage

/// The public event log in SQLite.
struct PublicEventLogTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    private let alice = UserAddress(parsing: "alice@example.com")!
    private let bob = UserAddress(parsing: "bob@example.com")!
    private let all = EventSelection(reader: .everything)

    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString)")
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

    private func entry(_ sequence: Int, call: UInt64 = 7, at time: Int64 = 1_700_000_100_000, _ users: UserAddress...)
        throws -> JournalEntry
    {
        try entry(sequence, call: call, at: time, of: users.map { .user($0) })
    }

    private func entry(
        _ sequence: Int, call: UInt64 = 7, at time: Int64 = 1_700_000_100_000, of holders: [LegHolder]
    ) throws -> JournalEntry {
        try entry(sequence, call: call, at: time, of: holders, .held)
    }

    private func entry(
        _ sequence: Int, call: UInt64 = 7, at time: Int64 = 1_700_000_100_000, of holders: [LegHolder],
        _ fact: CallEvent.Fact
    ) throws -> JournalEntry {
        let event = LoggedEvent(
            call: CallID(call), sequence: sequence, startedAt: time, elapsed: .zero, event: CallEvent(.caller, fact))
        return .published(try #require(Publication(event, of: holders)))
    }

    /// What there is behind a place, without waiting.
    private func read(_ journal: JournalStore, after number: Int64, _ selection: EventSelection? = nil) async throws
        -> EventPage
    {
        try await journal.publicEvents.page(
            after: number, selection ?? all, limit: 100, waitingUntil: MonotonicTime.zero)
    }

    private func sequences(_ page: EventPage) throws -> [Int] {
        try page.events.map { event in
            let object = try JSONSerialization.jsonObject(with: Data(event.json)) as? [String: Any]
            return try #require(object?["sequence"] as? Int)
        }
    }

    @Test func `an event is read with who may see it, by this process and the next`() async throws {
        try await withPath { path in
            var place: Int64 = 0
            do {
                let (database, journal) = try open(path)
                place = journal.publicEvents.last
                journal.append([try entry(1, alice), try entry(2, alice, bob)])
                try await journal.durable()
                #expect(try sequences(try await read(journal, after: place)) == [1, 2])
                try database.close()
            }
            let (database, journal) = try open(path)
            #expect(try sequences(try await read(journal, after: place)) == [1, 2])
            #expect(
                try sequences(try await read(journal, after: place, EventSelection(reader: .user(bob)))) == [2])
            let page = try await read(journal, after: place)
            #expect(page.events.map(\.type) == ["leg.held", "leg.held"])
            #expect(page.events.map(\.scope) == [EventScope([.user(alice)]), EventScope([.user(alice), .user(bob)])])
            #expect(page.through == journal.publicEvents.last)
            journal.append(try entry(3, alice))
            try await journal.durable()
            let older = try await read(journal, after: page.events[0].number)
            #expect(try sequences(older) == [2])
            #expect(try sequences(try await read(journal, after: older.through)) == [3])
            try database.close()
        }
    }

    @Test func `numbers of a process are greater than any that the one before can have given`() async throws {
        try await withPath { path in
            let clock = FixedClock()
            let (database, journal) = try open(path, .init(), clock)
            let name = journal.publicEvents.name
            journal.append(try entry(1, alice))
            try await journal.durable()
            let last = journal.publicEvents.last
            #expect(last == 1_700_000_100_000 << 10 + 1)
            try database.close()
            // Nobody knows how many commits a loss of power has cost.
            clock.set(1_700_000_101_000)
            let (second, next) = try open(path, .init(), clock)
            #expect(next.publicEvents.last == 1_700_000_101_000 << 10 && next.publicEvents.name == name)
            try second.close()
            // A clock that was put back gives no number again either.
            let (third, later) = try open(path, .init(), FixedClock(1_600_000_000_000))
            #expect(later.publicEvents.last >= last)
            try third.close()
        }
    }

    @Test func `what is too old or too much goes, and who comes for it is told`() async throws {
        try await withPath { path in
            let clock = FixedClock()
            let (database, journal) = try open(path, .init(events: 3, eventAge: .seconds(60)), clock)
            let place = journal.publicEvents.last
            for number in 1...5 { journal.append(try entry(number, alice)) }
            try await journal.durable()
            await journal.keepUp()
            #expect(try await read(journal, after: place).isGap)
            let kept = journal.publicEvents.removedThrough
            #expect(kept == place + 2)
            #expect(try sequences(try await read(journal, after: kept)) == [3, 4, 5])
            clock.set(1_700_000_161_000)
            journal.append(try entry(6, at: 1_700_000_161_000, alice))
            try await journal.durable()
            await journal.keepUp()
            #expect(try await read(journal, after: kept).isGap)
            #expect(try sequences(try await read(journal, after: journal.publicEvents.removedThrough)) == [6])
            try database.close()
            let (second, next) = try open(path, .init(events: 3, eventAge: .seconds(60)), clock)
            #expect(try await read(next, after: kept).isGap, "the next process knows, too")
            #expect(try sequences(try await read(next, after: next.publicEvents.removedThrough)) == [6])
            try second.close()
        }
    }

    @Test func `events take no more bytes than they may, whichever process wrote them, and the oldest go`()
        async throws
    {
        let body = CustomBody(contentType: "text/plain", body: String(repeating: "ä", count: 5_000))
        // A large one has some 10,200 bytes, a small one more than 100 and less than 200.
        func large(_ sequence: Int) throws -> JournalEntry {
            try entry(sequence, of: [.user(alice)], .content(CustomContent(bodies: [body])))
        }
        try await withPath { path in
            let clock = FixedClock()
            let (database, journal) = try open(path, .init(eventBytes: 21_000), clock)
            let place = journal.publicEvents.last
            for number in 1...5 { journal.append(try large(number)) }
            try await journal.durable()
            await journal.keepUp()
            #expect(try await read(journal, after: place).isGap)
            #expect(journal.publicEvents.removedThrough == place + 3)
            #expect(try sequences(try await read(journal, after: place + 3)) == [4, 5])
            // Ten small ones take more than the two large ones leave.
            for number in 6...15 { journal.append(try entry(number, alice)) }
            try await journal.durable()
            await journal.keepUp()
            #expect(journal.publicEvents.removedThrough == place + 4)
            #expect(try sequences(try await read(journal, after: place + 4)) == Array(5...15))
            try database.close()
            let (second, next) = try open(path, .init(eventBytes: 21_000), clock)
            let between = next.publicEvents.last
            await next.keepUp()
            #expect(next.publicEvents.removedThrough == place + 4, "what there is is within the limit")
            next.append(try large(16))
            try await next.durable()
            await next.keepUp()
            #expect(next.publicEvents.removedThrough == place + 5, "it knows how many bytes there were")
            #expect(try sequences(try await read(next, after: place + 5)) == Array(6...15))
            #expect(try sequences(try await read(next, after: between)) == [16])
            try second.close()
        }
    }

    @Test func `without a table the latest are in memory, and the next process says that they are gone`() async throws {
        try await withPath { path in
            let clock = FixedClock()
            let (database, journal) = try open(path, .init(events: 0), clock)
            let place = journal.publicEvents.last
            journal.append(try entry(1, alice))
            try await journal.durable()
            #expect(try sequences(try await read(journal, after: place)) == [1])
            let rows = try DatabaseQueue(path: path)
            #expect(try await rows.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM publicEvent") } == 0)
            try rows.close()
            try database.close()
            clock.set(1_700_000_100_001)
            let (second, next) = try open(path, .init(events: 0), clock)
            #expect(try await read(next, after: place).isGap)
            try second.close()
        }
    }

    @Test func `who waits is told once the event is durable`() async throws {
        try await withPath { path in
            let (database, journal) = try open(path)
            let log = journal.publicEvents
            let (place, wanted) = (log.last, EventSelection(reader: .user(bob)))
            async let page = log.page(after: place, wanted, limit: 10, waitingUntil: .zero + .seconds(60))
            journal.append(try entry(1, alice))
            journal.append(try entry(2, bob))
            #expect(try sequences(try await page) == [2])
            try database.close()
        }
    }

    @Test func `a wait ends with its task, and with the log`() async throws {
        try await withPath { path in
            let (database, journal) = try open(path)
            let log = journal.publicEvents
            let place = log.last
            let waiting = Task { try await log.page(after: place, all, limit: 1, waitingUntil: .zero + .seconds(60)) }
            waiting.cancel()
            #expect(try await waiting.value == EventPage(through: place))
            async let page = log.page(after: place, all, limit: 1, waitingUntil: .zero + .seconds(60))
            log.finish()
            #expect(try await page.isOver)
            try database.close()
        }
    }

    @Test func `more events than are in memory are read from the table, in pages`() async throws {
        try await withPath { path in
            let (database, journal) = try open(path)
            var place = journal.publicEvents.last
            let count = PublicEventLog.memory + 500
            for number in 1...count { journal.append(try entry(number, number.isMultiple(of: 100) ? bob : alice)) }
            try await journal.durable()
            var found: [Int] = []
            while found.count < count {
                let page = try await read(journal, after: place)
                #expect(!page.events.isEmpty && page.events.count <= 100)
                found += try sequences(page)
                place = page.through
            }
            #expect(found == Array(1...count))
            let ofBob = try await read(journal, after: place - Int64(count), EventSelection(reader: .user(bob)))
            #expect(try sequences(ofBob).first == 100)
            try database.close()
        }
    }

    @Test func `an application sees the legs that it had, whoever owns their addresses by now`() async throws {
        let (all, single) = (try #require(ApplicationIdentity("all#1")), try #require(ApplicationIdentity("single#2")))
        let desk = try #require(ApplicationAddress("desk@bots.example.com"))
        try await withPath { path in
            var place: Int64 = 0
            do {
                let (database, journal) = try open(path)
                for (each, address) in [(all, "*@bots.example.com"), (single, "other@example.com")] {
                    var profile = ApplicationProfile()
                    profile.addresses = [try #require(ApplicationAddress(address))]
                    try await database.applications.add(
                        StoredApplication(
                            name: each.name, number: each.number, domain: "", secret: Redacted("s"), profile: profile))
                }
                place = journal.publicEvents.last
                // A call at desk@bots.example.com, before and after that becomes an address of the other one.
                journal.append(try entry(1, of: [.user(alice), .application(all)]))
                _ = try await database.applications.change(single.name) { $0.addresses.append(desk) }
                journal.append(try entry(2, of: [.user(alice), .application(single)]))
                journal.append(try entry(3, of: [.user(bob), .application(single), .application(all)]))
                try await journal.durable()
                for (name, expected) in [(all, [1, 3]), (single, [2, 3])] {
                    let wanted = EventSelection(reader: .application(name))
                    #expect(try sequences(try await read(journal, after: place, wanted)) == expected)
                }
                try database.close()
            }
            // The next process reads them from the table.
            let (database, journal) = try open(path)
            for (name, expected) in [(all, [1, 3]), (single, [2, 3])] {
                let wanted = EventSelection(reader: .application(name))
                #expect(try sequences(try await read(journal, after: place, wanted)) == expected)
            }
            try database.close()
        }
    }

    @Test func `an application of a removed one's name is shown nothing of it, however late it happens`() async throws {
        let former = try #require(ApplicationIdentity("bots#1"))
        try await withPath { path in
            let (database, journal) = try open(path)
            let place = journal.publicEvents.last
            try await database.applications.add(
                StoredApplication(name: former.name, number: former.number, domain: "", secret: Redacted("s")))
            journal.append(try entry(1, of: [.application(former)]))
            try await database.applications.remove(former.name)
            try await database.applications.add(
                StoredApplication(name: former.name, domain: "", secret: Redacted("s")))
            let next = try #require(try await database.applications.application(former.name)).identity
            // The end of a call of the former one.
            journal.append(try entry(2, of: [.application(former)]))
            journal.append(try entry(3, of: [.application(next)]))
            try await journal.durable()
            for (each, expected) in [(former, [1, 2]), (next, [3])] {
                #expect(try await journal.publicEvents.floor(of: .application(each)) == 0)
                let wanted = EventSelection(reader: .application(each))
                #expect(try sequences(try await read(journal, after: place, wanted)) == expected)
            }
            try database.close()
        }
    }

    @Test func `who gets the address of a removed user is not shown the events of before`() async throws {
        try await withPath { path in
            let (database, journal) = try open(path)
            let reader = EventReader.user(alice)
            #expect(try await journal.publicEvents.floor(of: reader) == 0)
            journal.append(try entry(1, alice))
            try await journal.durable()
            try await database.users.add(StoredUser(address: alice, passwordRecord: "r", displayName: ""))
            #expect(try await journal.publicEvents.floor(of: reader) == journal.publicEvents.last)
            #expect(try await journal.publicEvents.floor(of: .user(bob)) == 0)
            #expect(try await journal.publicEvents.floor(of: .everything) == 0)
            try database.close()
        }
    }
}
