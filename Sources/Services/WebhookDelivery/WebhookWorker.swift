import CallControl
import CallRuntime
import Cryptography
import EventAPI
import Logging
import Observability
import Primitives

/// The owner of one webhook's deliveries: takes events out of the log, sends them, and notes what has become of them.
actor WebhookWorker {
    /// What a worker shares with others.
    struct Environment: Sendable {
        let configuration: WebhookConfiguration
        let repository: any WebhookRepository
        let log: any PublicEvents
        let sender: WebhookSender
        /// Carries out what receivers answer.
        let answers: any WebhookAnswers
        /// Takes the events that say what was not carried out.
        let journal: any Journal
        let clock: any RuntimeClock
        /// Is told that a receiver wants no more events.
        let disable: @Sendable (_ webhook: String, _ url: String, _ reason: String) async -> Bool
        let metrics: GatewayMetrics
        let logger: Logger
    }

    private let environment: Environment
    private var webhook: Webhook
    /// The same, as requests need it.
    private var receiver: WebhookReceiver
    private var queue: WebhookQueue
    private var random = SecureRandomSource()
    /// What comes behind this place of the log is not owed yet.
    private var place: Int64
    /// What attempts have led to and is not written yet.
    private var unsettled: [Int64: WebhookQueue.Verdict] = [:]
    private var isSettling = false
    private var isStopping = false
    private var isLoaded = false
    /// The deliveries that were added before the outbox was read, which may have them as well.
    private var addedEarly: Set<Int64> = []
    private var alarm: (time: MonotonicTime, task: Task<Void, Never>)?
    private var inFlight = 0

    /// How long a worker waits before it tries again what the database has refused.
    private static let retryDelay = Duration.seconds(1)
    /// How long what an attempt has led to waits for others that are on their way: each write is a transaction. A
    /// gateway that is killed meanwhile sends again what was delivered.
    private static let settleDelay = Duration.milliseconds(10)
    private static let pageLimit = 256
    private static let goneReason = "the receiver has answered with status 410"

    /// - Parameter place: where a webhook starts of which nothing is known.
    init(_ webhook: Webhook, from place: Int64, _ environment: Environment) {
        self.webhook = webhook
        receiver = WebhookReceiver(webhook)
        self.environment = environment
        self.place = place
        queue = WebhookQueue(environment.configuration.queue)
    }

    /// The webhook was changed.
    func update(_ webhook: Webhook) {
        self.webhook = webhook
        receiver = WebhookReceiver(webhook)
        pump()
    }

    /// What was given up is owed again.
    func add(_ deliveries: [WebhookQueue.Delivery]) {
        if !isLoaded { addedEarly.formUnion(deliveries.map(\.number)) }
        for delivery in deliveries { queue.add(delivery) }
        pump()
    }

    /// Sends nothing more from now on.
    func stop() {
        isStopping = true
        alarm?.task.cancel()
    }

    /// Whether something is on its way, or not written yet.
    var isBusy: Bool { inFlight > 0 || isSettling || !unsettled.isEmpty }

    /// Takes events out of the log until the task is cancelled.
    func run() async {
        await load()
        while !isStopping, !Task.isCancelled {
            guard webhook.isEnabled, queue.count < environment.configuration.outbox else {
                await pause()
                continue
            }
            await take()
        }
    }

    // MARK: In

    private func load() async {
        while !isLoaded, !Task.isCancelled {
            do throws(StorageError) {
                if let known = try await environment.repository.outbox(of: webhook.id) {
                    place = known.place
                    for delivery in known.deliveries where !addedEarly.contains(delivery.number) { queue.add(delivery) }
                } else {
                    try await environment.repository.take([], through: place, for: webhook.id)
                }
                isLoaded = true
                pump()
            } catch {
                await pause()
            }
        }
    }

    private func take() async {
        // The types were checked when they were set.
        let reader = EventReader.application(webhook.application)
        guard let selection = try? EventSelection(reader: reader, types: webhook.types) else {
            return await pause()
        }
        do throws(StorageError) {
            let page = try await environment.log.page(
                after: place, selection, limit: Self.pageLimit,
                waitingUntil: environment.clock.now + EventReading.pulse)
            guard !isStopping else { return }
            // The gateway stops: there is nothing to wait for.
            if page.isOver { return await pause() }
            if page.isGap { return try await skip() }
            let deliveries = page.events.map { event in
                WebhookQueue.Delivery(
                    number: event.number, call: event.call, content: event.object(in: environment.log.name))
            }
            try await environment.repository.take(deliveries, through: page.through, for: webhook.id)
            place = page.through
            add(deliveries)
        } catch {
            await pause()
        }
    }

    /// Events that the webhook was not owed yet are gone: it was disabled or behind for longer than they are kept. It
    /// is told so.
    private func skip() async throws(StorageError) {
        let cursor = EventCursor(log: environment.log.name, number: environment.log.removedThrough)
        let snapshot = EventSnapshot(
            reason: .tooOld, cursor: cursor, time: environment.clock.epochMilliseconds, calls: [],
            for: EventSelection(reader: .application(webhook.application)))
        environment.logger.warning(
            "a webhook has missed events that are not kept any more", metadata: [LogKey.webhook: "\(webhook.id)"])
        let delivery = WebhookQueue.Delivery(number: cursor.number, call: "", content: snapshot.json)
        try await environment.repository.take([delivery], through: cursor.number, for: webhook.id)
        place = cursor.number
        add([delivery])
    }

    private func pause() async { await wait(for: Self.retryDelay) }

    private func wait(for time: Duration) async {
        let clock = environment.clock
        // Fails only if the task is cancelled.
        do { try await clock.sleep(until: clock.now + time) } catch { return }
    }

    // MARK: Out

    private func pump() {
        guard isLoaded, webhook.isEnabled, !isStopping else { return }
        let due = queue.takeDue(at: environment.clock.now)
        if !due.isEmpty {
            inFlight += due.count
            environment.sender.send(due, of: environment.log.name, to: receiver, for: self)
        }
        arm()
    }

    /// Has the command in the answer to an invitation carried out. What cannot be carried out is told; the event was
    /// taken all the same.
    private func hear(_ content: WebhookAnswer.Content, to delivery: WebhookQueue.Delivery) async {
        if case .nothing = content { return }
        // One that was removed or disabled meanwhile has no say.
        guard !isStopping, webhook.isEnabled else { return }
        guard let invitation = WebhookInvitation(in: delivery.content) else { return }
        // Another application may be asked about a call that this one has a leg of.
        guard await environment.answers.hasCall(invitation.session, of: webhook.application) else { return }
        do throws(WebhookAnswerRefusal) {
            switch content {
            case .nothing: break
            case .tooLong:
                throw WebhookAnswerRefusal(
                    code: "request.body_too_large",
                    reason: "The answer has more than \(WebhookSender.largestAnswer) bytes.")
            case .json(let answer):
                _ = try await environment.answers.decide(
                    by: answer, in: invitation.session, of: webhook.application)
            }
        } catch {
            environment.logger.notice(
                "the command in the answer of a webhook is refused",
                metadata: [
                    LogKey.webhook: "\(webhook.id)", LogKey.call: "\(invitation.call)", LogKey.reason: "\(error.code)",
                ])
            environment.journal.append(
                .published(
                    invitation.publication(of: error, to: webhook, at: environment.clock.epochMilliseconds)))
        }
    }

    /// Answers have come, or the reasons why there are none.
    func ended(_ arrivals: [WebhookArrivals.Arrival]) async {
        inFlight -= arrivals.count
        // What was cut off by the end of the gateway is sent by the next one.
        let counted = isStopping ? arrivals.filter { $0.answer.outcome == .delivered } : arrivals
        for arrival in counted { note(arrival) }
        let gone = webhook.isEnabled && counted.contains { $0.answer.isGone } ? webhook.url : nil
        if gone != nil { webhook.isEnabled = false }
        pump()
        await settle()
        // Nothing more is sent, so that nobody would notice later that this is not written yet.
        while let gone, !isStopping, await !environment.disable(webhook.id, gone, Self.goneReason) { await pause() }
    }

    private func note(_ arrival: WebhookArrivals.Arrival) {
        let (number, clock) = (arrival.delivery.number, environment.clock)
        let verdict = queue.ended(
            number, arrival.answer.outcome, at: clock.now, time: clock.epochMilliseconds, random: &random)
        guard let verdict else { return }
        unsettled[number] = verdict
        environment.metrics.webhookAttempts[verdict.result].increment()
        if case .parked(let delivery) = verdict {
            environment.logger.warning(
                "an event for a webhook is given up",
                metadata: [LogKey.webhook: "\(webhook.id)", LogKey.reason: "\(delivery.reason ?? "")"])
        }
        if case .nothing = arrival.answer.content { return }
        // A decision that takes its time, since a file is fetched for it, holds up no further event.
        Task { await hear(arrival.answer.content, to: arrival.delivery) }
    }

    /// Writes what attempts have led to; what comes within a moment is written together.
    private func settle() async {
        guard !isSettling else { return }
        isSettling = true
        defer { isSettling = false }
        while !unsettled.isEmpty {
            if inFlight > 0, !isStopping { await wait(for: Self.settleDelay) }
            let verdicts = unsettled
            unsettled = [:]
            do throws(StorageError) {
                try await environment.repository.settle(verdicts, of: webhook.id)
            } catch {
                unsettled.merge(verdicts) { latest, _ in latest }
                if isStopping { return }
                await pause()
            }
        }
    }

    private func arm() {
        let time = queue.nextDeadline
        guard time != alarm?.time else { return }
        alarm?.task.cancel()
        alarm = nil
        guard let time else { return }
        let task = Task { [clock = environment.clock] in
            // Fails only if the task is cancelled.
            do { try await clock.sleep(until: time) } catch { return }
            awake(at: time)
        }
        alarm = (time, task)
    }

    private func awake(at time: MonotonicTime) {
        if alarm?.time == time { alarm = nil }
        pump()
    }
}

extension WebhookQueue.Verdict {
    /// The label by which it is counted.
    fileprivate var result: WebhookResult {
        switch self {
        case .delivered: .delivered
        case .retried: .retried
        case .parked: .parked
        }
    }
}
