import CallControl
import CallRuntime
import CallSupport
import Registration
import Sockets

/// A journal in memory, which knows what would be left if the process were killed after any of its entries.
final class RecordingJournal: Journal {
    private let log: Lock<[JournalEntry]>

    /// - Parameter entries: what the processes before have left.
    init(_ entries: [JournalEntry] = []) { log = Lock(entries) }

    var entries: [JournalEntry] { log.withLock { $0 } }
    var isFailing: Bool { false }
    func append(_ entries: [JournalEntry]) { log.withLock { $0 += entries } }
    func suspend() {}
    func resume() {}
    func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    func durable() async {}

    /// What a process finds that starts after so many entries.
    func contents(after count: Int, at now: Int64) -> JournalContents {
        let entries = entries.prefix(count)
        var calls: [CallID: [LoggedEvent]] = [:]
        var order: [CallID] = []
        for case .event(let event) in entries {
            if calls[event.call] == nil { order.append(event.call) }
            calls[event.call, default: []].append(event)
        }
        return JournalContents(
            guests: entries.compactMap { if case .guest(let guest) = $0 { guest } else { nil } },
            subscriptions: KeptSubscriptions(
                entries.compactMap { if case .registration(let change) = $0 { change } else { nil } }
            ).subscriptions,
            calls: order.compactMap { calls[$0] }, stoppedAt: now)
    }
}
