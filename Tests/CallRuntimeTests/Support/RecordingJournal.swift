import CallControl
import CallRuntime
import CallSupport
import Registration
import Sockets

/// A journal in memory, which knows what would be left if the process were killed after any of its entries.
final class RecordingJournal: Journal {
    private let log: Lock<(entries: [JournalEntry], ends: [Int])>

    /// - Parameter entries: what the processes before have left.
    init(_ entries: [JournalEntry] = []) { log = Lock((entries, [entries.count])) }

    var entries: [JournalEntry] { log.withLock { $0.entries } }
    /// How many entries a process may leave: entries that were added together are durable together.
    var ends: [Int] { log.withLock { $0.ends } }
    var isFailing: Bool { false }
    func append(_ entries: [JournalEntry]) {
        guard !entries.isEmpty else { return }
        log.withLock {
            $0.entries += entries
            $0.ends.append($0.entries.count)
        }
    }
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
            calls: order.compactMap { calls[$0] }, services: Self.services(entries), stoppedAt: now)
    }

    /// What is left of the services of all users.
    private static func services(_ entries: some Sequence<JournalEntry>) -> StoredServices {
        var services = StoredServices()
        for case .registration(.service(let change)) in entries {
            switch change {
            case .owed(let owed): services.owed.append(owed)
            case .settled(let numbers): services.owed.removeAll { numbers.contains($0.number) }
            case .messageKept(let message, let user): services.messages[user, default: []].append(message)
            case .messagesRemoved(let names, let user): services.messages[user]?.removeAll { names.contains($0.id) }
            case .presence(let presence, let user): services.presence[user] = presence
            case .interests(let interests, let user): services.interests[user] = interests
            case .voicemail(let count, let user): services.voicemail[user] = count
            }
        }
        return services
    }
}
