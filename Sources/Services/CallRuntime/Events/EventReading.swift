import CallControl
package import EventAPI
import Primitives

/// One program's way through the public event log: what it is sent next, from its place on.
///
/// It takes events only when it is asked. A program that reads slowly delays nobody, and keeps nothing in memory.
package actor EventReading {
    /// What the program is sent next.
    package enum Step: Equatable, Sendable {
        /// Events, at least one, in order.
        case events([PublicEvent])
        /// Nothing, for as long as it was waited.
        case pulse
        /// Events are missing; these calls are in progress.
        case gap(EventSnapshot)
    }

    /// Where events and calls come from.
    package struct Sources: Sendable {
        /// The log.
        package var log: any PublicEvents
        /// The calls in progress.
        package var calls: any Administration
        /// What says when something is durable.
        package var journal: any Journal
        /// The time.
        package var clock: any RuntimeClock

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(
            log: any PublicEvents, calls: any Administration, journal: any Journal, clock: any RuntimeClock
        ) {
            self.log = log
            self.calls = calls
            self.journal = journal
            self.clock = clock
        }
    }

    /// How often a program hears something although nothing happens, so that both ends notice when the other is gone.
    package static let pulse = Duration.seconds(15)
    /// The most events of a step.
    package static let pageLimit = 256

    private let sources: Sources
    private var selection: EventSelection
    /// Says who the program is by now; `nil`: it may not read any more.
    private let admission: @Sendable () async -> EventReader?
    private var lastAdmission: MonotonicTime
    private var number: Int64
    private var gap: EventSnapshot.Reason?
    /// Whether a program that is sent messages has been told its place.
    private var hasStarted = false

    /// Starts to read.
    ///
    /// - Parameter admission: says who the program is by now, and is asked again and again; `nil`: it may not read any
    ///   more.
    /// - Throws: `StorageError.failed`.
    package init(
        _ selection: EventSelection, from place: EventPlace, _ sources: Sources,
        admission: @escaping @Sendable () async -> EventReader?
    ) async throws(StorageError) {
        self.sources = sources
        self.selection = selection
        self.admission = admission
        lastAdmission = sources.clock.now
        let last = sources.log.last
        switch place {
        case .now: number = last
        case .oldest: number = sources.log.removedThrough
        case .after(let cursor):
            number = cursor.number
            // A place that has not come yet is one of a database that was replaced by an older copy.
            if cursor.log != sources.log.name || cursor.number > last {
                (number, gap) = (last, .otherLog)
            }
        }
        // What happened before belongs to who had the address before.
        let floor = try await sources.log.floor(of: selection.reader)
        number = max(number, floor)
    }

    /// The place: what comes behind it has not been returned.
    package var cursor: EventCursor { EventCursor(log: sources.log.name, number: number) }

    /// Whether the place is not in the log any more, so that events are missing.
    package var isBehind: Bool { gap != nil || number < sources.log.removedThrough }

    /// What comes next.
    ///
    /// - Parameter patience: how long it is waited for; at most ``pulse`` at a time.
    /// - Returns: `nil`: nothing comes any more, since the gateway stops or the program may not read any more.
    /// - Throws: `StorageError.failed`.
    package func next(within patience: Duration = EventReading.pulse) async throws(StorageError) -> Step? {
        guard await isAdmitted() else { return nil }
        if let gap { return .gap(try await snapshot(because: gap)) }
        let deadline = sources.clock.now + min(patience, Self.pulse)
        let page = try await sources.log.page(
            after: number, selection, limit: Self.pageLimit, waitingUntil: deadline)
        if page.isGap { return .gap(try await snapshot(because: .tooOld)) }
        // Who was told to go during the wait gets nothing of it.
        guard !page.isOver, await isAdmitted() else { return nil }
        number = page.through
        return page.events.isEmpty ? .pulse : .events(page.events)
    }

    private func isAdmitted() async -> Bool {
        let now = sources.clock.now
        guard now >= lastAdmission + Self.pulse else { return true }
        guard let reader = await admission() else { return false }
        lastAdmission = now
        selection.reader = reader
        return true
    }

    /// The calls in progress. The place is moved behind the last event before they are looked at, so that nothing is
    /// missing between.
    private func snapshot(because reason: EventSnapshot.Reason) async throws(StorageError) -> EventSnapshot {
        (number, gap) = (max(number, sources.log.last), nil)
        var calls: [CallOverview] = []
        for call in sources.calls.callsInProgress.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let overview = await sources.calls.overview(of: call) { calls.append(overview) }
        }
        // Nothing is told that the next process would not know.
        try await sources.journal.durable()
        return EventSnapshot(
            reason: reason, cursor: cursor, time: sources.clock.epochMilliseconds, calls: calls, for: selection)
    }
}

extension EventReading {
    /// The subscription as a stream of bytes, which are made as they are taken. It starts with a pulse, so that the
    /// program learns at once that it is heard.
    ///
    /// - Parameter lifetime: when it ends; `nil`: it does not.
    package nonisolated func bytes(in form: EventForm, lasting lifetime: Duration? = nil) -> AsyncStream<[UInt8]> {
        let writer = EventWriter(self, form, until: lifetime.map { sources.clock.now + $0 })
        return AsyncStream(unfolding: { await writer.next() })
    }

    fileprivate func write(_ form: EventForm, until end: MonotonicTime?) async -> [UInt8]? {
        if let end, sources.clock.now >= end { return nil }
        do throws(StorageError) {
            switch try await next() {
            case nil: return nil
            case .pulse: return form.pulse(at: cursor)
            case .events(let events): return events.flatMap { form.write($0, in: sources.log.name) }
            case .gap(let snapshot): return form.write(snapshot)
            }
        } catch {
            // The program comes back with its cursor.
            return nil
        }
    }
}

extension EventReading {
    /// The subscription as messages, which do not wait: a program that has everything follows by itself, and then tells
    /// how far it has got. The first message is of the type `stream.started`, and tells the place.
    ///
    /// - Parameter lifetime: when it ends.
    /// - Returns: what gives the next messages, or `nil` when nothing comes any more. It takes the place up to which
    ///   the program has followed; `nil`: it has not.
    package nonisolated func messages(lasting lifetime: Duration) -> @Sendable (Int64?) async -> EventMessages? {
        let end = sources.clock.now + lifetime
        return { await self.messages(followedThrough: $0, until: end) }
    }

    private func messages(followedThrough place: Int64?, until end: MonotonicTime) async -> EventMessages? {
        guard hasStarted else {
            hasStarted = true
            return .objects([cursor.start(at: sources.clock.epochMilliseconds)])
        }
        if let place { number = max(number, place) }
        if Task.isCancelled || sources.clock.now >= end { return nil }
        do throws(StorageError) {
            switch try await next(within: .zero) {
            case nil: return nil
            case .pulse:
                // Who the program is has to be asked again by then.
                let deadline = min(end, lastAdmission + Self.pulse)
                return .follow(EventFollowing(place: number, selection: selection, deadline: deadline))
            case .events(let events): return .objects(events.map { $0.object(in: sources.log.name) })
            case .gap(let snapshot): return .objects([snapshot.json])
            }
        } catch {
            // The program comes back with its cursor.
            return nil
        }
    }
}

/// Writes what a subscription has.
private actor EventWriter {
    private let subscription: EventReading
    private let form: EventForm
    private let end: MonotonicTime?
    private var hasStarted = false

    init(_ subscription: EventReading, _ form: EventForm, until end: MonotonicTime?) {
        self.subscription = subscription
        self.form = form
        self.end = end
    }

    func next() async -> [UInt8]? {
        guard hasStarted else {
            hasStarted = true
            return form.pulse(at: await subscription.cursor)
        }
        return Task.isCancelled ? nil : await subscription.write(form, until: end)
    }
}
