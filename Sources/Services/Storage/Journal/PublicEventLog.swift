import CallControl
package import CallRuntime
package import EventAPI
import GRDB
package import Primitives
import Sockets

/// The public event log in the table `publicEvent`, and the programs that wait for its next events. The journal writes
/// it, so that an event is durable together with what the gateway itself keeps of it.
///
/// The numbers of a process start at the milliseconds since 1970 times 1,024, or higher, and grow by 1. If a loss of
/// power costs the last commits, the next process gives no number again that a program may have seen.
package final class PublicEventLog: PublicEvents {
    /// Who waited, and what it is told.
    private typealias Told = (continuation: CheckedContinuation<Outcome, Never>, page: EventPage)

    private struct State: Sendable {
        var feed: EventFeed
        var waiting: [UInt64: CheckedContinuation<Outcome, Never>] = [:]
        var deadlines = WaitDeadlines()
        /// When the clock is to call next; `nil`: it is not asked to.
        var alarm: MonotonicTime?
        var lastSubscriber: UInt64 = 0
        /// Those who are told of all events.
        var followers: [@Sendable ([PublicEvent]?) -> Void] = []
        var removedThrough: Int64
        /// What the table has.
        var amount: PublicEventRows.Amount

        /// Ends the waits of subscribers for whom the feed has a page.
        mutating func end(_ pages: [(subscriber: UInt64, page: EventPage)]) -> [Told] {
            var told: [Told] = []
            for (subscriber, page) in pages {
                deadlines.remove(subscriber)
                if let continuation = waiting.removeValue(forKey: subscriber) { told.append((continuation, page)) }
            }
            return told
        }

        /// Ends the wait of a subscriber for whom there is nothing; `nil`: it does not wait.
        mutating func leave(_ subscriber: UInt64) -> Told? {
            guard let continuation = waiting.removeValue(forKey: subscriber) else { return nil }
            deadlines.remove(subscriber)
            return feed.leave(subscriber).map { (continuation, $0) }
        }
    }

    private enum Outcome: Sendable {
        case page(EventPage)
        /// What comes next is in the table, up to this number.
        case older(through: Int64)
    }

    /// The name of the log, the first part of its cursors.
    package let name: String
    private let state: Lock<State>
    private let reader: DatabaseQueue
    private let clock: any RuntimeClock
    /// Whether the table is written.
    private let isKept: Bool

    /// How many events are in memory.
    package static let memory = 4_096
    /// How many bytes of JSON they may have there: as many as 4,096 events of 4 kB. Most have a tenth of that.
    package static let memoryBytes = 16 << 20

    /// Continues a log.
    ///
    /// - Parameter isKept: whether what was written before can be read.
    init(_ reader: DatabaseQueue, _ extent: PublicEventRows.Extent, isKept: Bool, clock: any RuntimeClock) {
        name = extent.name
        self.reader = reader
        self.clock = clock
        let last = max(extent.last, clock.epochMilliseconds << 10)
        state = Lock(
            State(
                feed: EventFeed(last: last, capacity: Self.memory, byteLimit: Self.memoryBytes),
                removedThrough: isKept ? extent.removedThrough : last, amount: extent.amount))
        self.isKept = isKept
    }

    /// The place behind the last event.
    package var last: Int64 { state.withLock { $0.feed.last } }

    /// Events up to this number may be gone.
    package var removedThrough: Int64 {
        state.withLock { isKept ? $0.removedThrough : max($0.removedThrough, $0.feed.start) }
    }

    /// How much more the table has than it may; negative: that much less.
    func surplus(above limits: JournalStore.Configuration) -> PublicEventRows.Amount {
        let amount = state.withLock { $0.amount }
        return PublicEventRows.Amount(
            count: amount.count - limits.events, bytes: amount.bytes - limits.largestEvents)
    }

    /// The events behind a place; see `PublicEvents`.
    ///
    /// - Throws: `StorageError.failed`.
    package func page(
        after number: Int64, _ selection: EventSelection, limit: Int, waitingUntil deadline: MonotonicTime
    ) async throws(StorageError) -> EventPage {
        var number = number
        while true {
            if number < removedThrough { return EventPage(through: number, isGap: true) }
            switch await next(after: number, selection, limit: limit, waitingUntil: deadline) {
            case .page(let page): return page
            case .older(let through):
                let place = number
                let rows = try await storageErrors(at: reader.path) {
                    try await reader.read { database in
                        try PublicEventRows.events(after: place, through: through, limit: limit, database)
                    }
                }
                if number < removedThrough { return EventPage(through: number, isGap: true) }
                number = rows.count < limit ? through : rows.last?.number ?? through
                let wanted = rows.filter(selection.includes)
                if !wanted.isEmpty || Task.isCancelled { return EventPage(events: wanted, through: number) }
            }
        }
    }

    /// The last event that the reader is not shown; see `PublicEvents`.
    ///
    /// - Throws: `StorageError.failed`.
    package func floor(of eventReader: EventReader) async throws(StorageError) -> Int64 {
        switch eventReader {
        // The events that an application may see have its number.
        case .everything, .application: return 0
        case .user(let user):
            return try await storageErrors(at: reader.path) {
                try await reader.read { try PublicEventRows.floor(of: user, $0) }
            }
        }
    }

    /// Tells of all events from now on; see `PublicEvents`.
    package func follow(_ told: @escaping @Sendable ([PublicEvent]?) -> Void) -> Int64 {
        let (last, isOver) = state.withLock { state in
            if !state.feed.isOver { state.followers.append(told) }
            return (state.feed.last, state.feed.isOver)
        }
        if isOver { told(nil) }
        return last
    }

    /// Ends all waiting: the gateway stops.
    package func finish() {
        let (told, followers) = state.withLock { state in
            defer { state.followers = [] }
            let pages = state.feed.finish()
            return (state.end(pages), state.followers)
        }
        for (continuation, page) in told { continuation.resume(returning: .page(page)) }
        for follower in followers { follower(nil) }
    }

    // MARK: From the journal

    /// Events are durable.
    ///
    /// - Parameter bytes: how many they have in the table.
    func publish(_ events: [PublicEvent], bytes: Int) {
        guard !events.isEmpty else { return }
        let (told, followers) = state.withLock { state in
            if isKept {
                state.amount.count += events.count
                state.amount.bytes += bytes
            }
            let pages = state.feed.publish(events)
            return (state.end(pages), state.followers)
        }
        for (continuation, page) in told { continuation.resume(returning: .page(page)) }
        // The journal publishes one batch behind the other, so that all are told in order.
        for follower in followers { follower(events) }
    }

    /// Events up to this number are about to be removed.
    func willRemove(through number: Int64) {
        state.withLock { $0.removedThrough = max($0.removedThrough, number) }
    }

    /// So much was removed.
    func removed(_ amount: PublicEventRows.Amount) {
        state.withLock { state in
            state.amount.count -= amount.count
            state.amount.bytes -= amount.bytes
        }
    }

    // MARK: Waiting

    private func next(
        after number: Int64, _ selection: EventSelection, limit: Int, waitingUntil deadline: MonotonicTime
    ) async -> Outcome {
        let mayWait = deadline > clock.now
        let subscriber = state.withLock { state in
            state.lastSubscriber += 1
            return state.lastSubscriber
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                var alarm: MonotonicTime?
                let known: Outcome? = state.withLock { state in
                    switch state.feed.ask(subscriber, after: number, selection, limit: limit) {
                    case .page(let page): return .page(page)
                    case .older(let through): return .older(through: through)
                    case .wait:
                        guard mayWait else { return state.feed.leave(subscriber).map { .page($0) } }
                        state.waiting[subscriber] = continuation
                        let end = state.deadlines.set(deadline, for: subscriber)
                        if state.alarm.map({ end < $0 }) ?? true { (state.alarm, alarm) = (end, end) }
                        return nil
                    }
                }
                if let known { continuation.resume(returning: known) }
                if let alarm { ask(for: alarm) }
                // The handler may have run before there was anything to leave.
                if Task.isCancelled { leave(subscriber) }
            }
        } onCancel: {
            leave(subscriber)
        }
    }

    /// Has the clock call at a time. One that was asked for before, and has become too late, changes nothing.
    private func ask(for alarm: MonotonicTime) {
        _ = clock.call(at: alarm) { [weak self] in self?.ring(alarm) }
    }

    /// The time of an alarm has come: ends the waits that are over. One alarm does for all of them, since a timer for
    /// each would cost more than the event that most of them get before.
    private func ring(_ alarm: MonotonicTime) {
        let (told, next) = state.withLock { state -> ([Told], MonotonicTime?) in
            guard state.alarm == alarm else { return ([], nil) }
            // The clock may call a little early.
            let told = state.deadlines.takeDue(at: max(alarm, clock.now)).compactMap { state.leave($0) }
            state.alarm = state.deadlines.earliest
            return (told, state.alarm)
        }
        for (continuation, page) in told { continuation.resume(returning: .page(page)) }
        if let next { ask(for: next) }
    }

    /// Ends the wait of a subscriber, if it waits.
    private func leave(_ subscriber: UInt64) {
        let told = state.withLock { $0.leave(subscriber) }
        if let (continuation, page) = told { continuation.resume(returning: .page(page)) }
    }
}
