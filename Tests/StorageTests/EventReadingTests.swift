import CallControl
import CallRuntime
import EventAPI
import Logging
import Primitives
import Registration
import Sockets
import Testing

import Storage

/// A program's way through the public event log.
struct EventReadingTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!

    /// Nobody calls.
    private struct NoCalls: Administration {
        var registeredUsers: [UserAddress] { get async { [] } }
        func subscriptions(of user: UserAddress) async -> [SubscriptionOverview] { [] }
        func dismissSubscription(_ user: UserAddress, _ subscription: SubscriptionID) async -> Bool { false }
        func dismissRemovedUsers() async throws(StorageError) {}
        var callsInProgress: [CallID] { [] }
        func overview(of call: CallID) async -> CallOverview? { nil }
        func endCall(_ call: CallID, reasonText: String?) async -> Bool { false }
        func voicemail(of user: UserAddress) async -> VoicemailCount { .empty }
        func setVoicemail(of user: UserAddress, to count: VoicemailCount) async throws(StorageError) {}
    }

    private let clock = FixedClock()
    private let database: GatewayDatabase
    private let journal: JournalStore

    init() throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        database = try GatewayDatabase(.temporary, logger: logger)
        journal = try database.openJournal(.init(events: 2), clock: clock, logger: logger)
    }

    private func subscription(
        from place: EventPlace, _ selection: EventSelection = EventSelection(reader: .everything),
        admission: @escaping @Sendable () async -> EventReader? = { .everything }
    ) async throws -> EventReading {
        try await EventReading(
            selection, from: place,
            EventReading.Sources(
                log: journal.publicEvents, calls: NoCalls(), journal: journal, clock: clock),
            admission: admission)
    }

    private func publish(_ sequences: Int...) async throws {
        for sequence in sequences {
            let event = LoggedEvent(
                call: CallID(7), sequence: sequence, startedAt: clock.epochMilliseconds, elapsed: .zero,
                event: CallEvent(.caller, .held))
            journal.append(.published(try #require(Publication(event, of: [.user(Self.alice)]))))
        }
        try await journal.durable()
    }

    private func numbers(_ step: EventReading.Step?) -> [Int64] {
        guard case .events(let events) = step else { return [] }
        return events.map { $0.number - (1_700_000_100_000 << 10) }
    }

    @Test func `who comes back with a place gets what came behind it, once`() async throws {
        try await publish(1, 2)
        let reader = try await subscription(from: .oldest)
        #expect(numbers(try await reader.next(within: .zero)) == [1, 2])
        #expect(try await reader.next(within: .zero) == .pulse)
        let place = await reader.cursor
        try await publish(3)
        #expect(numbers(try await reader.next(within: .zero)) == [3])
        let again = try await subscription(from: .after(place))
        #expect(numbers(try await again.next(within: .zero)) == [3])
        let late = try await subscription(from: .now)
        #expect(try await late.next(within: .zero) == .pulse)
        try database.close()
    }

    @Test func `a place that is gone, that is another log's, or that has not come leads to a snapshot`() async throws {
        let name = journal.publicEvents.name
        let start = EventCursor(log: name, number: journal.publicEvents.last)
        try await publish(1, 2, 3, 4)
        await journal.keepUp()
        let future = EventCursor(log: name, number: journal.publicEvents.last + 1_000)
        let places: [(EventCursor, EventSnapshot.Reason)] = [
            (start, .tooOld), (EventCursor(log: "other", number: start.number), .otherLog), (future, .otherLog),
        ]
        for (place, reason) in places {
            let reader = try await subscription(from: .after(place))
            #expect(await reader.isBehind)
            guard case .gap(let snapshot) = try await reader.next(within: .zero) else {
                Issue.record("\(place) is in the log")
                continue
            }
            #expect(snapshot.reason == reason && snapshot.cursor.number == journal.publicEvents.last)
            #expect(await !reader.isBehind)
            try await publish(5)
            #expect(numbers(try await reader.next(within: .zero)).count == 1)
        }
        try database.close()
    }

    @Test func `who may not read any more is sent nothing more`() async throws {
        let admitted = Lock(true)
        let reader = try await subscription(
            from: .oldest, admission: { admitted.withLock { $0 } ? .user(Self.alice) : nil })
        try await publish(1)
        #expect(numbers(try await reader.next(within: .zero)) == [1])
        admitted.withLock { $0 = false }
        clock.set(clock.epochMilliseconds + 15_000)
        try await publish(2)
        #expect(try await reader.next(within: .zero) == nil)
        try database.close()
    }

    @Test func `a stream starts with a pulse and ends with its time`() async throws {
        try await publish(1)
        let reader = try await subscription(from: .oldest)
        var bytes = reader.bytes(in: .serverSent, lasting: .seconds(60)).makeAsyncIterator()
        let first = await bytes.next().map { String(decoding: $0, as: UTF8.self) }
        #expect(first?.hasPrefix(":\nid: ") == true)
        let second = await bytes.next().map { String(decoding: $0, as: UTF8.self) }
        #expect(second?.contains("event: leg.held\ndata: {\"id\":\"") == true)
        clock.set(clock.epochMilliseconds + 60_000)
        #expect(await bytes.next() == nil)
        try database.close()
    }

    @Test func `messages start with the place, and who has everything follows until it is to show who it is`()
        async throws
    {
        let log = journal.publicEvents
        let selection = EventSelection(reader: .everything)
        try await publish(1)
        let messages = try await subscription(from: .oldest, selection).messages(lasting: .seconds(60))
        #expect(objects(await messages(nil)).first?.contains("\"stream.started\"") == true)
        #expect(objects(await messages(nil)).first?.contains("\"leg.held\"") == true)
        let deadline = clock.now + EventReading.pulse
        let first = EventFollowing(place: log.last, selection: selection, deadline: deadline)
        #expect(await messages(nil) == .follow(first))
        // It has followed up to the second event, and has missed the third.
        try await publish(2)
        let place = log.last
        try await publish(3)
        #expect(objects(await messages(place)).map { $0.contains("\"sequence\":3") } == [true])
        clock.set(clock.epochMilliseconds + 15_000)
        let second = EventFollowing(place: log.last, selection: selection, deadline: clock.now + EventReading.pulse)
        #expect(await messages(nil) == .follow(second))
        clock.set(clock.epochMilliseconds + 40_000)
        let last = EventFollowing(place: log.last, selection: selection, deadline: clock.now + .seconds(5))
        #expect(await messages(second.place) == .follow(last))
        log.finish()
        #expect(await messages(nil) == nil)
        try database.close()
    }

    @Test func `who is told of all events is told of each once, and of the end`() async throws {
        let log = journal.publicEvents
        try await publish(1)
        let told = Lock<[[Int64]?]>([])
        let last = log.follow { events in told.withLock { $0.append(events?.map(\.number)) } }
        #expect(last == log.last)
        try await publish(2)
        try await publish(3)
        #expect(told.withLock { $0 } == [[last + 1], [last + 2]])
        log.finish()
        log.finish()
        #expect(told.withLock { $0 } == [[last + 1], [last + 2], nil])
        let late = Lock(0)
        _ = log.follow { events in if events == nil { late.withLock { $0 += 1 } } }
        #expect(late.withLock { $0 } == 1)
        try database.close()
    }

    /// What a program is sent.
    private func objects(_ messages: EventMessages?) -> [String] {
        guard case .objects(let objects) = messages else { return [] }
        return objects.map { String(decoding: $0, as: UTF8.self) }
    }
}
