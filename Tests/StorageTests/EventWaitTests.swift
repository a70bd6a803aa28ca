import CallControl
import CallRuntime
import EventAPI
import Foundation
import Logging
import Primitives
import Sockets
import Testing

import Storage

/// Programs that wait for the next event of the public log: one alarm of the clock does for all of them.
struct EventWaitTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    @Test func `waits end in time, by as few alarms as possible, or before with an event`() async throws {
        let clock = AlarmClock()
        let database = try GatewayDatabase(.temporary, logger: Self.logger)
        let journal = try database.openJournal(.init(), clock: clock, logger: Self.logger)
        let log = journal.publicEvents
        let place = log.last
        func wait(seconds: Int) -> Task<EventPage, any Error> {
            let end = clock.now + .seconds(seconds)
            return Task {
                try await log.page(
                    after: place, EventSelection(reader: .everything), limit: 10, waitingUntil: end)
            }
        }
        let long = wait(seconds: 15)
        try await clock.expectAlarms(1)
        let short = wait(seconds: 5)
        try await clock.expectAlarms(2)
        clock.advance(by: .seconds(5))
        #expect(try await short.value.events.isEmpty)
        try await clock.expectAlarms(3)
        clock.advance(by: .seconds(9))
        #expect(clock.alarms == 3, "nothing is due")
        clock.advance(by: .seconds(1))
        #expect(try await long.value.events.isEmpty)
        let told = wait(seconds: 15)
        try await clock.expectAlarms(4)
        let event = LoggedEvent(
            call: CallID(7), sequence: 1, startedAt: clock.epochMilliseconds, elapsed: .zero,
            event: CallEvent(.caller, .held))
        let alice = try #require(UserAddress(parsing: "alice@example.com"))
        journal.append(.published(try #require(Publication(event, of: [.user(alice)]))))
        try await journal.durable()
        #expect(try await told.value.events.map(\.type) == ["leg.held"])
        clock.advance(by: .seconds(60))
        #expect(clock.alarms == 4, "nobody waits any more")
        try database.close()
    }
}

/// A clock that stands still until it is moved, and then calls those who have asked for it.
private final class AlarmClock: RuntimeClock {
    private struct Alarm: Sendable {
        var time: MonotonicTime
        var action: @Sendable () -> Void
    }

    private struct State: Sendable {
        var now = MonotonicTime.zero + .seconds(100)
        var waiting: [Alarm] = []
        var alarms = 0
    }

    private let state = Lock(State())

    var now: MonotonicTime { state.withLock { $0.now } }
    var epochMilliseconds: Int64 { 1_700_000_100_000 }
    /// How many it was asked for so far.
    var alarms: Int { state.withLock { $0.alarms } }

    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do { try await Task.sleep(for: .seconds(3_600)) } catch { throw CancellationError() }
    }

    func call(at time: MonotonicTime, _ action: @escaping @Sendable () -> Void) -> @Sendable () -> Void {
        state.withLock { state in
            state.alarms += 1
            state.waiting.append(Alarm(time: time, action: action))
        }
        return {}
    }

    func advance(by duration: Duration) {
        let due = state.withLock { state in
            let now = state.now + duration
            state.now = now
            let due = state.waiting.filter { $0.time <= now }
            state.waiting.removeAll { $0.time <= now }
            return due
        }
        for alarm in due { alarm.action() }
    }

    /// Waits until it was asked for so many.
    func expectAlarms(_ count: Int) async throws {
        for _ in 0..<5_000 where alarms < count { try await Task.sleep(for: .milliseconds(2)) }
        #expect(alarms == count)
    }
}
