import CallControl
package import CallRuntime
import Dispatch
import GRDB
import Logging
import Observability
import Primitives
import Sockets
import Synchronization

/// The journal in the tables `subscription`, `guest`, `notification`, `callEvent`, `callRecord` and `usedToken`, in
/// those of ``ServiceRows``, and in that of ``PublicEventLog``.
///
/// One writer commits everything that has been added since its last transaction (group commit), and then carries out
/// the actions that waited for it. In WAL mode with `synchronous = NORMAL` a commit survives the end of the process by
/// any means. A loss of power may cost the last commits, never the file.
///
/// Where a commit fails, because the disk is full or read-only, nothing is given up: requests are refused, actions
/// wait, and the same entries are tried again until they are written.
package final class JournalStore: Journal {
    /// What waits for entries to be durable.
    private enum Waiting: Sendable {
        case action(@Sendable () -> Void)
        case request(CheckedContinuation<Result<Void, StorageError>, Never>)
    }

    private struct State: Sendable {
        /// The entries that are not durable yet, in order.
        var entries = PendingEntries()
        /// How many entries were added, and how many of them are durable.
        var added: UInt64 = 0
        var durable: UInt64 = 0
        /// What waits, each for so many entries to be durable.
        var waiting: [(count: UInt64, what: Waiting)] = []
        /// The writer has work to do, or waits to try again.
        var isWriting = false
        /// Why the last transaction failed; `nil`: it did not.
        var failure: StorageError?
    }

    private let state = Lock(State())
    private let configuration: Configuration
    private let queue: DatabaseQueue
    private let reader: DatabaseQueue
    private let clock: any RuntimeClock
    /// When the journal was opened.
    private let opened: Moment
    private let logger: Logger
    private let onSetAside: @Sendable (Int) -> Void
    /// The events of calls, for programs that follow them.
    package let publicEvents: PublicEventLog
    /// What the tables hold of calls.
    private let calls = Lock(CallRows())
    /// How many records there are, and up to which number the last process has left any that are not over; `nil`: that
    /// is dealt with.
    private let records = Lock((count: 0, open: nil as Int64?))
    private let steps = Lock(ClockSteps())
    private let isClosing = Atomic(false)

    /// How many entries may wait. Beyond that requests are refused, so that neither the wait nor the memory grows on.
    package static let backlog = 20_000
    /// How long the writer waits before it tries again, in seconds.
    private static let retryDelay = 0.25
    /// How often old entries are removed, and the time of the process is noted.
    private static let upkeepInterval = Duration.seconds(5)

    init(
        _ queue: DatabaseQueue, reader: DatabaseQueue, publicEvents: PublicEventLog, configuration: Configuration,
        clock: any RuntimeClock, logger: Logger, onSetAside: @escaping @Sendable (Int) -> Void
    ) {
        self.onSetAside = onSetAside
        self.publicEvents = publicEvents
        self.queue = queue
        self.reader = reader
        self.configuration = configuration
        self.clock = clock
        opened = clock.moment
        self.logger = logger
    }

    /// The call log whose records this journal writes.
    package var callLog: StoredCallLog { StoredCallLog(self, reader: reader, limits: configuration, logger: logger) }

    /// Whether the last transaction failed, or the disk is so slow that too much waits for it.
    package var isFailing: Bool {
        state.withLock { $0.failure != nil || $0.added - $0.durable > UInt64(Self.backlog) }
    }

    /// Adds entries, which become durable together; see `Journal`.
    package func append(_ entries: [JournalEntry]) {
        guard !entries.isEmpty else { return }
        let mustStart = state.withLock { state in
            state.entries.append(entries)
            state.added += UInt64(entries.count)
            defer { state.isWriting = true }
            return !state.isWriting
        }
        if mustStart { startWriting() }
    }

    /// What is added from now on becomes durable together; see `Journal`. To be called before anything is added.
    package func suspend() {
        state.withLock {
            $0.isWriting = true
            $0.entries.startJoining()
        }
    }

    /// Ends what ``suspend()`` has started; see `Journal`.
    package func resume() {
        state.withLock { $0.entries.stopJoining() }
        startWriting()
    }

    /// Carries out an action once every entry that was added before is durable; see `Journal`.
    package func whenDurable(_ action: @escaping @Sendable () -> Void) {
        let isDue = state.withLock { state in
            // While the writer works, it may be about to carry out earlier actions.
            if !state.isWriting { return true }
            state.waiting.append((state.added, .action(action)))
            return false
        }
        if isDue { action() }
    }

    /// Returns once every entry that was added before is durable; see `Journal`.
    ///
    /// - Throws: `StorageError.failed`.
    package func durable() async throws(StorageError) {
        let result: Result<Void, StorageError> = await withCheckedContinuation { continuation in
            let known: Result<Void, StorageError>? = state.withLock { state in
                if let failure = state.failure { return .failure(failure) }
                if !state.isWriting { return .success(()) }
                state.waiting.append((state.added, .request(continuation)))
                return nil
            }
            if let known { continuation.resume(returning: known) }
        }
        try result.get()
    }

    /// What the last process has left. Rows that cannot be understood are set aside. To be called before anything is
    /// added.
    ///
    /// - Throws: `StorageError.failed` if the tables cannot be read.
    package func contents() async throws(StorageError) -> JournalContents {
        let now = clock.epochMilliseconds
        return try await storageErrors(at: queue.path) {
            let (contents, rows, extent) = try await queue.write { database in
                (
                    try JournalReader.contents(database, at: now),
                    try JournalWriter.rows(database, at: clock.monotonicMilliseconds),
                    try RecordRows.extent(database)
                )
            }
            for entry in contents.setAside {
                logger.warning(
                    "a row cannot be understood, and is set aside",
                    metadata: [LogKey.table: "\(entry.table)", LogKey.reason: "\(entry.reason)"])
            }
            records.withLock { $0 = (extent.count, extent.last) }
            calls.withLock { $0.note(rows) }
            return contents
        }
    }

    /// Removes what is old, and notes the time, again and again until the task is cancelled.
    package func run() async {
        while !Task.isCancelled {
            await keepUp()
            // Fails only if the task is cancelled.
            do { try await clock.sleep(until: clock.now + Self.upkeepInterval) } catch { return }
        }
    }

    /// Removes what is old, and notes the time. Entries are written in between.
    package func keepUp() async {
        let now = clock.moment
        var isDone = false
        while !isDone {
            isDone = await withCheckedContinuation { continuation in
                queue.asyncWriteWithoutTransaction { [self] database in
                    continuation.resume(returning: keepUp(database, at: now))
                }
            }
        }
    }

    /// Tries once more to write what waits, and gives up what cannot be written. That takes no longer than a write and
    /// ``GatewayDatabase/busyTimeout``. To be called before the database is closed.
    package func close() {
        isClosing.store(true, ordering: .releasing)
        queue.inDatabase { write($0) }
        let count = state.withLock { $0.entries.isHeld ? 0 : $0.entries.count }
        guard count > 0 else { return }
        logger.error(
            "entries of the journal are given up, since they cannot be written",
            metadata: [LogKey.path: "\(queue.path)", LogKey.count: "\(count)"])
    }
}

// MARK: - The writer

extension JournalStore {
    private func startWriting() {
        queue.asyncWriteWithoutTransaction { [self] database in write(database) }
    }

    /// Writes and carries out until nothing is left.
    private func write(_ database: Database) {
        while let groups = takeEntries() {
            // Mostly there is one, which need not be copied.
            let batch = groups.count == 1 ? groups[0] : groups.flatMap(\.self)
            if !batch.isEmpty {
                do {
                    try commit(batch, database)
                } catch {
                    let lacksRoom = (error as? DatabaseError)?.lacksRoom ?? false
                    if state.withLock({ $0.entries.putBack(groups, lacksRoom: lacksRoom) }) { continue }
                    fail(StorageError(error, at: queue.path))
                    return
                }
            }
            for waiting in takeDue(after: batch.count) {
                switch waiting {
                case .action(let action): action()
                case .request(let continuation): continuation.resume(returning: .success(()))
                }
            }
        }
    }

    /// Writes entries as one, behind what a clock that was set makes necessary.
    private func commit(_ batch: [JournalEntry], _ database: Database) throws {
        let step = readClocks(clock.moment)
        let written = try database.inPreparedTransaction {
            if step != 0 { try JournalWriter.shiftExpiry(by: step, database) }
            return try JournalWriter.write(
                batch, recordLimit: configuration.recordsPerUser, publicNumber: publicEvents.last + 1,
                keepsPublic: configuration.events > 0, database, at: clock.monotonicMilliseconds)
        }
        publicEvents.publish(written.published, bytes: written.publishedBytes)
        steps.withLock { $0.wasApplied(step) }
        calls.withLock { $0.note(written.events) }
        records.withLock { $0.count += written.records }
        for row in written.setAside {
            logger.warning(
                "the first part of a call's record cannot be read, and is set aside",
                metadata: [LogKey.table: "\(row.table)", LogKey.reason: "\(row.reason)"])
        }
        if !written.setAside.isEmpty { onSetAside(written.setAside.count) }
    }

    /// By how many milliseconds the times in the tables are to be corrected, because the clock was set.
    private func readClocks(_ now: Moment) -> Int64 {
        steps.withLock { steps in
            steps.read(now)
            return steps.outstanding
        }
    }

    /// The groups of entries to be written; `nil` if nothing is left to do, and the writer ends.
    private func takeEntries() -> [[JournalEntry]]? {
        state.withLock { state in
            guard !state.entries.isHeld else { return nil }
            guard !state.entries.isEmpty || !state.waiting.isEmpty else {
                state.isWriting = false
                return nil
            }
            return state.entries.take()
        }
    }

    /// Notes that a transaction has succeeded, and takes out what has waited for it.
    private func takeDue(after count: Int) -> [Waiting] {
        let (due, hadFailed) = state.withLock { state in
            state.durable += UInt64(count)
            if count > 0 { state.entries.wasWritten() }
            defer { state.failure = nil }
            let durable = state.durable
            let dueCount = state.waiting.prefix { $0.count <= durable }.count
            defer { state.waiting.removeFirst(dueCount) }
            return (state.waiting.prefix(dueCount).map(\.what), state.failure != nil)
        }
        if hadFailed { logger.notice("the journal is written again", metadata: [LogKey.path: "\(queue.path)"]) }
        return due
    }

    /// Refuses the requests that wait for entries which cannot be written, and tries again later.
    private func fail(_ error: StorageError) {
        let (requests, isNew) = state.withLock { state in
            defer { state.failure = error }
            var requests: [CheckedContinuation<Result<Void, StorageError>, Never>] = []
            let durable = state.durable
            state.waiting.removeAll { waiting in
                guard waiting.count > durable, case .request(let continuation) = waiting.what else { return false }
                requests.append(continuation)
                return true
            }
            return (requests, state.failure == nil)
        }
        if isNew {
            logger.error(
                "the journal cannot be written: requests are refused",
                metadata: [LogKey.path: "\(queue.path)", LogKey.error: "\(error)"])
        }
        for continuation in requests { continuation.resume(returning: .failure(error)) }
        guard !isClosing.load(ordering: .acquiring) else { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + Self.retryDelay) { [self] in startWriting() }
    }

    /// Removes some of what is old.
    ///
    /// - Returns: whether nothing old is left, or nothing can be removed at present.
    private func keepUp(_ database: Database, at moment: Moment) -> Bool {
        let (now, elapsed) = (moment.epochMilliseconds, moment.monotonicMilliseconds)
        let step = readClocks(moment)
        // What was made before the clock was put forward looks older than it is.
        let forward = steps.withLock { $0.forward(within: configuration.notificationAge, at: moment.monotonic) }
        // Notifications refer to events.
        let callAge = max(configuration.callAge, configuration.notificationAge)
        let old = calls.withLock {
            $0.old(
                before: elapsed - callAge.wholeMilliseconds, above: configuration.callBytes,
                sparing: elapsed - configuration.notificationAge.wholeMilliseconds, limit: JournalWriter.upkeepLimit)
        }
        let surplus = calls.withLock {
            $0.surplus(
                above: configuration.callEvents, before: elapsed - configuration.notificationAge.wholeMilliseconds)
        }
        let known = records.withLock { $0 }
        // Until all entries are written, one of them may continue a record of the last process.
        let isWritten = state.withLock { $0.failure == nil }
        let open = isWritten ? known.open : nil
        var change = 0
        var gone: (through: Int64, amount: PublicEventRows.Amount)?
        do {
            var isDone = true
            try database.inTransaction(.immediate) {
                try JournalWriter.note(database, at: now)
                if step != 0 { try JournalWriter.shiftExpiry(by: step, database) }
                // Until all entries are written, it is not known which notifications were transmitted.
                if isWritten {
                    isDone = try JournalWriter.removeNotifications(
                        database, before: now - forward - configuration.notificationAge.wholeMilliseconds)
                }
                try UsedTokenRows.removeOld(database, at: now)
                try JournalWriter.removeEvents(old.lazy.flatMap(\.numbers), database)
                try JournalWriter.removeEvents(surplus.values.lazy.flatMap(\.self), database)
                gone = try PublicEventRows.removeOldest(
                    before: now - forward - configuration.eventAge.wholeMilliseconds,
                    surplus: publicEvents.surplus(above: configuration), database)
                // Who reads meanwhile must not take what is gone for what never was.
                if let gone { publicEvents.willRemove(through: gone.through) }
                if let open { change += try RecordRows.removeOpen(through: open, database) }
                // A clock that was put forward makes no record older.
                let passed = (moment.monotonic - opened.monotonic).wholeMilliseconds
                change += try RecordRows.removeOldest(
                    before: min(now, opened.epochMilliseconds + passed) - configuration.recordAge.wholeMilliseconds,
                    surplus: known.count - configuration.records, database)
                return .commit
            }
            steps.withLock { $0.wasApplied(step) }
            records.withLock {
                $0.count += change
                if open != nil { $0.open = nil }
            }
            if let gone { publicEvents.removed(gone.amount) }
            let cut = calls.withLock { calls in
                calls.removeOldest(old.count)
                return calls.remove(surplus)
            }
            // Once for each call: a call that goes on for days loses events all the time.
            for run in cut {
                logger.notice(
                    "a long call keeps only its latest events",
                    metadata: [LogKey.call: "\(run.call)", LogKey.count: "\(surplus[run]?.count ?? 0)"])
            }
            return isDone && old.isEmpty && change == 0 && gone == nil
        } catch {
            // What is old takes room until the next time.
            logger.warning("the journal is not cleaned", metadata: [LogKey.error: "\(error)"])
            return true
        }
    }
}

extension RuntimeClock {
    /// The time on the monotonic clock, in milliseconds.
    fileprivate var monotonicMilliseconds: Int64 { (now - .zero).wholeMilliseconds }
}

extension Moment {
    /// The time on the monotonic clock, in milliseconds.
    fileprivate var monotonicMilliseconds: Int64 { (monotonic - .zero).wholeMilliseconds }
}
