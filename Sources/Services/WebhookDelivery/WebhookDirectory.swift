package import CallControl
package import CallRuntime
import Cryptography
import EventAPI
package import Logging
package import Observability
import Primitives

/// The webhooks of all applications, and a worker for each.
package actor WebhookDirectory: Webhooks {
    private let environment: WebhookWorker.Environment
    private let repository: any WebhookRepository
    private let configuration: WebhookConfiguration
    private let clock: any RuntimeClock
    private let sender: WebhookSender
    private let log: any PublicEvents
    private let logger: Logger
    private var random = SecureRandomSource()
    private var known: [String: Webhook] = [:]
    private var workers: [String: (worker: WebhookWorker, task: Task<Void, Never>)] = [:]
    private var isRunning = false
    /// Webhooks that are being written, and may not be in the table yet.
    private var adding: Set<String> = []

    /// How often the table is read: applications may be removed on the command line.
    private static let interval = Duration.seconds(2)
    /// How long the end waits for answers that are on their way.
    private static let patience = Duration.seconds(2)

    /// Makes a directory; ``run()`` starts to send.
    ///
    /// - Parameters:
    ///   - answers: carries out what receivers answer.
    ///   - journal: takes the events about what was not carried out.
    /// - Throws: `SocketError` if no thread can be started.
    package init(
        _ configuration: WebhookConfiguration, repository: any WebhookRepository, log: any PublicEvents,
        answers: any WebhookAnswers, journal: any Journal, clock: any RuntimeClock, metrics: GatewayMetrics,
        logger: Logger
    ) throws {
        let sender = try WebhookSender(configuration, clock: clock)
        self.sender = sender
        self.configuration = configuration
        self.repository = repository
        self.log = log
        self.clock = clock
        self.logger = logger
        environment = WebhookWorker.Environment(
            configuration: configuration, repository: repository, log: log, sender: sender, answers: answers,
            journal: journal, clock: clock,
            disable: { id, url, reason in
                await Self.disable(id, at: url, because: reason, in: repository, logger)
            }, metrics: metrics, logger: logger)
    }

    /// Sends what webhooks are owed until the task is cancelled. What is left is sent by the next process.
    package func run() async {
        isRunning = true
        while !Task.isCancelled {
            do throws(StorageError) {
                try await refresh()
            } catch {
                logger.warning("webhooks could not be read", metadata: [LogKey.error: "\(error)"])
            }
            // Fails only if the task is cancelled.
            do { try await clock.sleep(until: clock.now + Self.interval) } catch { break }
        }
        isRunning = false
        for (worker, task) in workers.values {
            await worker.stop()
            task.cancel()
        }
        let end = clock.now + Self.patience
        for (worker, _) in workers.values {
            while await worker.isBusy, clock.now < end { await Task.detached { await Self.breathe() }.value }
        }
        sender.shutDown()
    }

    /// A moment's wait, which the end of a task does not shorten.
    private static func breathe() async {
        // Fails only if its task is cancelled, which nobody can.
        try? await Task.sleep(for: .milliseconds(10))
    }

    /// Brings the workers up to date with the table.
    private func refresh() async throws(StorageError) {
        let read = try await repository.allWebhooks()
        try await repository.removeAll(but: Set(read.map(\.id)).union(adding))
        let ids = Set(read.map(\.id))
        for id in known.keys where !ids.contains(id) { await forget(id) }
        for webhook in read { await start(webhook) }
    }

    private func start(_ webhook: Webhook) async {
        guard known[webhook.id] != webhook else { return }
        known[webhook.id] = webhook
        if let (worker, _) = workers[webhook.id] { return await worker.update(webhook) }
        guard isRunning else { return }
        let worker = WebhookWorker(webhook, from: log.last, environment)
        workers[webhook.id] = (worker, Task { await worker.run() })
    }

    private func forget(_ id: String) async {
        known[id] = nil
        guard let (worker, task) = workers.removeValue(forKey: id) else { return }
        await worker.stop()
        task.cancel()
    }

    /// Disables a webhook, unless it has another URL by now.
    ///
    /// - Returns: whether nothing is left to do.
    private static func disable(
        _ id: String, at url: String, because reason: String, in repository: any WebhookRepository, _ logger: Logger
    ) async -> Bool {
        do throws(StorageError) {
            let found = try await repository.allWebhooks().first { $0.id == id && $0.url == url && $0.isEnabled }
            guard var webhook = found else { return true }
            (webhook.isEnabled, webhook.disabledBecause) = (false, reason)
            try await repository.put(webhook)
            logger.warning("a webhook is disabled", metadata: [LogKey.webhook: "\(id)", LogKey.reason: "\(reason)"])
            return true
        } catch {
            logger.warning("a webhook could not be disabled", metadata: [LogKey.error: "\(error)"])
            return false
        }
    }
}

// MARK: - What operators do

extension WebhookDirectory {
    /// The webhooks of an application; see `Webhooks`.
    ///
    /// - Throws: `storage`.
    package func webhooks(
        of application: ApplicationIdentity
    ) async throws(WebhookError) -> [(Webhook, WebhookProgress)] {
        try await storing { () async throws(StorageError) in
            let progress = try await repository.progress()
            return try await repository.allWebhooks().filter { $0.application == application }
                .map { ($0, progress[$0.id] ?? WebhookProgress()) }
        }
    }

    /// Adds a webhook; see `Webhooks`.
    ///
    /// - Throws: `tooMany`, `unusableURL`, `unusableTypes`, `storage`.
    package func add(
        url: String, types: [String], to application: ApplicationIdentity
    ) async throws(WebhookError) -> Webhook {
        try check(url, types)
        let webhook = Webhook(
            id: random.nextToken(16, alphabet: .url).replacing("-", with: "a"), application: application, url: url,
            keys: Redacted([WebhookSender.makeKey(random: &random)]), types: types)
        let (place, limit) = (log.last, configuration.perApplication)
        adding.insert(webhook.id)
        defer { adding.remove(webhook.id) }
        let isWithinLimit = try await storing { () async throws(StorageError) in
            guard try await repository.allWebhooks().count(where: { $0.application == application }) < limit else {
                return false
            }
            try await repository.put(webhook)
            try await repository.take([], through: place, for: webhook.id)
            return true
        }
        guard isWithinLimit else { throw .tooMany(limit) }
        await start(webhook)
        return webhook
    }

    /// Changes a webhook; see `Webhooks`.
    ///
    /// - Throws: `noSuchWebhook`, `unusableURL`, `unusableTypes`, `storage`.
    package func change(
        _ id: String, of application: ApplicationIdentity, url: String?, types: [String]?, isEnabled: Bool?
    ) async throws(WebhookError) -> Webhook {
        var webhook = try await webhook(id, of: application)
        webhook.url = url ?? webhook.url
        webhook.types = types ?? webhook.types
        if let isEnabled { (webhook.isEnabled, webhook.disabledBecause) = (isEnabled, nil) }
        try check(webhook.url, webhook.types)
        return try await put(webhook)
    }

    /// Gives a webhook a new key; see `Webhooks`.
    ///
    /// - Throws: `noSuchWebhook`, `storage`.
    package func rotateKey(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook {
        var webhook = try await webhook(id, of: application)
        let former = webhook.keys.value.prefix(1)
        webhook.keys = Redacted([WebhookSender.makeKey(random: &random)] + former)
        return try await put(webhook)
    }

    /// Removes a webhook; see `Webhooks`.
    ///
    /// - Throws: `noSuchWebhook`, `storage`.
    package func remove(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook {
        let webhook = try await webhook(id, of: application)
        try await storing { () async throws(StorageError) in try await repository.remove(id) }
        await forget(id)
        return webhook
    }

    /// Tries again what was given up; see `Webhooks`.
    ///
    /// - Throws: `noSuchWebhook`, `storage`.
    package func retry(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Int {
        _ = try await webhook(id, of: application)
        let deliveries = try await storing { () async throws(StorageError) in try await repository.unpark(id) }
        await workers[id]?.worker.add(deliveries)
        return deliveries.count
    }

    /// Sends an event to try a webhook out; see `Webhooks`.
    ///
    /// - Throws: `noSuchWebhook`, `storage`.
    package func test(
        _ id: String, of application: ApplicationIdentity
    ) async throws(WebhookError) -> (isDelivered: Bool, detail: String) {
        let webhook = try await webhook(id, of: application)
        let name = "test_" + random.nextToken(16, alphabet: .url).replacing("-", with: "a")
        let content = WebhookSignature.test(named: name, at: clock.epochMilliseconds)
        switch await sender.send(content, named: name, to: WebhookReceiver(webhook)).outcome {
        case .delivered: return (true, "the receiver has taken it")
        case .failed(let reason, _), .unanswered(let reason): return (false, reason)
        }
    }

    private func put(_ webhook: Webhook) async throws(WebhookError) -> Webhook {
        try await storing { () async throws(StorageError) in try await repository.put(webhook) }
        await start(webhook)
        return webhook
    }

    private func webhook(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook {
        let all = try await storing { () async throws(StorageError) in try await repository.allWebhooks() }
        guard let found = all.first(where: { $0.id == id && $0.application == application }) else {
            throw .noSuchWebhook
        }
        return found
    }

    private func check(_ url: String, _ types: [String]) throws(WebhookError) {
        let schemes = configuration.allowsPlainHTTP ? ["https://", "http://"] : ["https://"]
        guard let scheme = schemes.first(where: url.hasPrefix), url.utf8.count <= 2_048,
            url.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else {
            throw .unusableURL("it must be an https: URL of at most 2048 visible ASCII characters")
        }
        let authority = url.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        guard !authority.isEmpty, !authority.contains("@") else {
            throw .unusableURL("it must have a host, and no user or password")
        }
        do throws(EventSelection.Fault) {
            _ = try EventSelection(reader: .everything, types: types)
        } catch {
            throw .unusableTypes(error)
        }
    }

    private func storing<Value>(
        _ body: () async throws(StorageError) -> Value
    ) async throws(WebhookError) -> Value {
        do throws(StorageError) {
            return try await body()
        } catch {
            throw .storage(error)
        }
    }
}
