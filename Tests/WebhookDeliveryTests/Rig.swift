import CallControl
import CallRuntime
import EventAPI
import Foundation
import Logging
import Observability
import Primitives
import Sockets

@testable import WebhookDelivery

/// A worker with everything around it in memory but the requests, which are real.
struct Rig {
    static let bots = ApplicationIdentity("bots#1")!
    static let key = (0..<WebhookSignature.keySize).map { UInt8($0) }

    let worker: WebhookWorker
    let outbox = MemoryOutbox()
    let metrics = GatewayMetrics(version: "test", startTime: 0)
    private let sender: WebhookSender
    private let task: Task<Void, Never>

    /// - Parameters:
    ///   - url: where events are sent.
    ///   - events: what the log has.
    init(_ url: String, _ events: [PublicEvent]) throws {
        var configuration = WebhookConfiguration()
        configuration.allowsPlainHTTP = true
        configuration.allowedAddresses = [IPAddressRange("127.0.0.0/8")!]
        let clock = WallClock()
        let sender = try WebhookSender(configuration, clock: clock)
        let environment = WebhookWorker.Environment(
            configuration: configuration, repository: outbox, log: ShortLog(events), sender: sender,
            answers: NoAnswers(), journal: NoJournal(), clock: clock, disable: { _, _, _ in true }, metrics: metrics,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let webhook = Webhook(
            id: "w1", application: Self.bots, url: url,
            keys: Redacted([WebhookSignature.keyPrefix + Data(Self.key).base64EncodedString()]))
        let worker = WebhookWorker(webhook, from: 0, environment)
        self.worker = worker
        self.sender = sender
        task = Task { await worker.run() }
    }

    func stop() async {
        await worker.stop()
        task.cancel()
        await task.value
        sender.shutDown()
    }
}

/// What webhooks are owed, in memory.
final class MemoryOutbox: WebhookRepository {
    private struct State: Sendable {
        var owed: Set<Int64> = []
        var place: Int64 = -1
        var writes: [Int] = []
    }

    private let state = Lock(State())

    /// The numbers of what is owed.
    var owed: Set<Int64> { state.withLock { $0.owed } }
    /// Up to where the log was taken; -1: it was not.
    var place: Int64 { state.withLock { $0.place } }
    /// How many outcomes were written at a time.
    var writes: [Int] { state.withLock { $0.writes } }

    func take(_ deliveries: [WebhookQueue.Delivery], through place: Int64, for id: String) async throws(StorageError) {
        state.withLock { state in
            state.owed.formUnion(deliveries.map(\.number))
            state.place = place
        }
    }
    func settle(_ verdicts: [Int64: WebhookQueue.Verdict], of id: String) async throws(StorageError) {
        state.withLock { state in
            for case (let number, .delivered) in verdicts { state.owed.remove(number) }
            state.writes.append(verdicts.count)
        }
    }
    func outbox(of id: String) async throws(StorageError) -> (deliveries: [WebhookQueue.Delivery], place: Int64)? {
        nil
    }
    func allWebhooks() async throws(StorageError) -> [Webhook] { [] }
    func put(_ webhook: Webhook) async throws(StorageError) {}
    func remove(_ id: String) async throws(StorageError) {}
    func unpark(_ id: String) async throws(StorageError) -> [WebhookQueue.Delivery] { [] }
    func progress() async throws(StorageError) -> [String: WebhookProgress] { [:] }
    func removeAll(but ids: Set<String>) async throws(StorageError) {}
}

/// A log that has some events on one page, and gets no others.
private final class ShortLog: PublicEvents {
    let name = "ab"
    private let events: [PublicEvent]

    init(_ events: [PublicEvent]) { self.events = events }

    var last: Int64 { events.last?.number ?? 0 }
    var removedThrough: Int64 { 0 }
    func page(
        after number: Int64, _ selection: EventSelection, limit: Int, waitingUntil deadline: MonotonicTime
    ) async throws(StorageError) -> EventPage {
        if number < last { return EventPage(events: events, through: last) }
        // Fails only if the task is cancelled.
        try? await Task.sleep(for: .seconds(3_600))
        return EventPage(through: number)
    }
    func follow(_ told: @escaping @Sendable ([PublicEvent]?) -> Void) -> Int64 { last }
    func floor(of reader: EventReader) async throws(StorageError) -> Int64 { 0 }
}

private struct NoAnswers: WebhookAnswers {
    func hasCall(_ id: SessionID, of application: ApplicationIdentity) async -> Bool { false }
    func decide(
        by answer: [UInt8], in id: SessionID, of application: ApplicationIdentity
    ) async throws(WebhookAnswerRefusal) -> Bool { false }
}

private struct NoJournal: Journal {
    var isFailing: Bool { false }
    func append(_ entries: [JournalEntry]) {}
    func suspend() {}
    func resume() {}
    func whenDurable(_ action: @escaping @Sendable () -> Void) { action() }
    func durable() async throws(StorageError) {}
}

/// The clocks of this machine.
private struct WallClock: RuntimeClock {
    private let start = ContinuousClock.now

    var now: MonotonicTime { .zero + (ContinuousClock.now - start) }
    var epochMilliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
    func sleep(until time: MonotonicTime) async throws(CancellationError) {
        do {
            try await Task.sleep(for: max(.zero, time - now))
        } catch {
            throw CancellationError()
        }
    }
}
