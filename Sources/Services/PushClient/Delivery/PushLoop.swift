internal import Cryptography
internal import HTTPClient
internal import Logging
internal import Observability
internal import Primitives
internal import Push
internal import Sockets

/// The owner of all pushes: a thread that feeds the queues with pushes, answers and the time, and does what they say.
final class PushLoop {
    private let configuration: PushConfiguration
    private let lookUp: PushClient.LookUp
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let mailbox: Mailbox<PushInput>
    private var poller: Poller
    private let providers: HTTPClient
    private let webhooks: HTTPClient
    private var random = SecureRandomSource()

    private var apple: AppleProvider?
    private var google: GoogleProvider?
    private var webhookKeys: WebhookKeys?

    private var lanes: [UInt64: PushLane] = [:]
    private var laneNumbers: [PushLane.Key: UInt64] = [:]
    /// Where the latest push of each message is.
    private var places: [PushID: (lane: UInt64, push: UInt64)] = [:]
    private var deadlines = DeadlineQueue()
    private var lastLane: UInt64 = 0
    private var lastPush: UInt64 = 0
    private var webhookCount = 0
    private var nextFileCheck = MonotonicTime.zero
    private var isRunning = true

    /// The time between two looks at a file with a key.
    private static let fileInterval = Duration.seconds(1)

    init(
        _ configuration: PushConfiguration, lookUp: @escaping PushClient.LookUp, metrics: GatewayMetrics,
        logger: Logger, mailbox: Mailbox<PushInput>, wakeUp: WakeUp
    ) throws {
        self.configuration = configuration
        self.lookUp = lookUp
        self.metrics = metrics
        self.logger = logger
        self.mailbox = mailbox
        poller = try Poller(wakeUp: wakeUp)
        apple = configuration.apple.map(AppleProvider.init)
        google = configuration.google.map(GoogleProvider.init)
        webhookKeys = configuration.webhookKeyFolder.map(WebhookKeys.init)
        var client = HTTPClient.Configuration()
        client.addresses.allowed = configuration.allowedAddresses
        client.authorityFile = configuration.authorityPath
        client.requestsInFlightPerHost = configuration.queue.inFlight
        client.waitingRequests = configuration.queue.capacity
        providers = try HTTPClient(name: "push-providers", configuration: client)
        client.requestsInFlightPerHost = configuration.webhookRequestsInFlight
        // Servers without HTTP/2 answer one request at a time on a connection.
        client.connectionsPerHost = 4
        webhooks = try HTTPClient(name: "push-webhooks", configuration: client)
    }

    /// Runs until the client is shut down.
    func run() {
        var inputs: [PushInput] = []
        while isRunning {
            do {
                _ = try poller.wait(until: deadlines.earliest)
            } catch {
                // Nothing but a descriptor that is closed makes epoll fail, and this one is the loop's own.
                preconditionFailure("\(error)")
            }
            mailbox.drain(into: &inputs)
            for input in inputs { handle(input) }
            inputs.removeAll(keepingCapacity: inputs.count <= 1_024)
            let now = MonotonicClock.now
            while let number = deadlines.popDue(at: now) { change(number) { $0.timeout(at: now) } }
        }
        end()
    }

    private func handle(_ input: PushInput) {
        switch input {
        case .submit(let job): submit(job)
        case .withdraw(let message): withdraw(message)
        case .answered(let lane, let push, let result): answered(lane, push, result)
        case .tokenAnswered(let lane, let result): tokenAnswered(lane, result)
        case .stop: isRunning = false
        }
    }

    // MARK: Pushes

    private func submit(_ job: PushJob) {
        let provider = job.registration.provider
        metrics.pushesActive.increment()
        guard isRunning else { return finish(job, provider, .givenUp(.shutDown)) }
        guard let key = laneKey(of: job.registration) else { return finish(job, provider, .givenUp(.notConfigured)) }
        let number = laneNumber(of: key)
        if provider == .webhook, webhookCount >= configuration.queue.capacity {
            takePlace(for: number)
            guard webhookCount < configuration.queue.capacity else {
                change(number) { _ in [] }
                return finish(job, provider, .givenUp(.overloaded))
            }
        }
        checkFiles()
        lastPush += 1
        let push = lastPush
        if provider == .webhook { webhookCount += 1 }
        lanes[number]?.jobs[push] = job
        places[job.message.id] = (number, push)
        let now = MonotonicClock.now
        let wall = WallTime.unixNanoseconds / 1_000_000
        let left = job.message.expires > wall ? min(job.message.expires - wall, 30 * 86_400_000) : 0
        change(number) {
            $0.submit(push, isUrgent: job.message.isUrgent, deadline: now + .milliseconds(Int64(left)), at: now)
        }
    }

    private func withdraw(_ message: PushID) {
        guard let (lane, push) = places[message] else { return }
        change(lane) { $0.withdraw(push) }
    }

    /// Gives up a push of the webhook host that has the most of them, unless that is the lane that needs the place: a
    /// host that is down takes no room from the others.
    private func takePlace(for number: UInt64) {
        let counts = laneNumbers.values.lazy.compactMap { [lanes] other in
            lanes[other].flatMap { $0.key.provider == .webhook ? (lane: other, count: $0.queue.count) : nil }
        }
        guard let fullest = counts.max(by: { $0.count < $1.count }),
            fullest.count > (lanes[number]?.queue.count ?? 0) + 1
        else { return }
        change(fullest.lane) { $0.giveUpLatest() }
    }

    /// The lane of a device; `nil`: its provider is not configured.
    private func laneKey(of registration: PushRegistration) -> PushLane.Key? {
        switch registration.target {
        case .apple(let tokens): apple == nil ? nil : .apple(isProduction: tokens.isProduction)
        case .google: google == nil ? nil : .google
        case .webhook(let url):
            webhookKeys == nil
                ? nil : .webhook(origin: String(url.split(separator: "/", maxSplits: 2).prefix(2).last ?? ""))
        }
    }

    private func laneNumber(of key: PushLane.Key) -> UInt64 {
        if let number = laneNumbers[key] { return number }
        lastLane += 1
        var limits = configuration.queue
        if key.provider == .webhook { limits.inFlight = configuration.webhookRequestsInFlight }
        lanes[lastLane] = PushLane(key: key, queue: PushQueue(limits, needsCredential: key.provider != .webhook))
        laneNumbers[key] = lastLane
        return lastLane
    }

    private func answered(_ lane: UInt64, _ push: UInt64, _ result: Result<HTTPResponse, HTTPFailure>) {
        guard let key = lanes[lane]?.key else { return }
        let verdict: PushVerdict
        switch result {
        case .success(let response):
            switch key {
            case .apple: verdict = AppleProvider.verdict(response)
            case .google: verdict = GoogleProvider.verdict(response)
            case .webhook: verdict = WebhookPush.verdict(status: response.status, after: response.retryDelay)
            }
        case .failure(let failure) where failure.isTransient:
            verdict = .retry(reason: failure.description, after: nil)
        case .failure(let failure):
            return change(lane) {
                $0.abandoned(push, .unreachable(reason: failure.description), at: MonotonicClock.now)
            }
        }
        let meant = isOutdated(push, lane, verdict) ? .retry(reason: "the token has changed", after: nil) : verdict
        change(lane) { $0.answered(push, meant, at: MonotonicClock.now, random: &random) }
    }

    /// Whether a provider's word about a token is about one that the device has no more.
    private func isOutdated(_ push: UInt64, _ lane: UInt64, _ verdict: PushVerdict) -> Bool {
        guard case .registrationDead = verdict, let sent = lanes[lane]?.jobs[push]?.registration else { return false }
        return lookUp(sent).map { $0.target != sent.target } ?? false
    }

    /// Changes a lane's queue, does what it says, and sets the time of its next deadline.
    private func change(_ number: UInt64, _ body: (inout PushQueue) -> [PushQueue.Action]) {
        guard var queue = lanes[number]?.queue else { return }
        // The queue is changed in place, not in a copy.
        lanes[number]?.queue = PushQueue(needsCredential: false)
        var actions = body(&queue)[...]
        lanes[number]?.queue = queue
        while let action = actions.popFirst() { actions += perform(action, in: number) }
        if lanes[number]?.jobs.isEmpty == true, let lane = lanes[number], lane.key.provider == .webhook {
            laneNumbers[lane.key] = nil
            lanes[number] = nil
        }
        deadlines.set(lanes[number]?.queue.nextDeadline, for: number)
    }

    /// Does one thing; returns what follows from it.
    private func perform(_ action: PushQueue.Action, in number: UInt64) -> [PushQueue.Action] {
        switch action {
        case .send(let push):
            return send(push, number)
        case .obtainCredential:
            return obtainCredential(number)
        case .ended(let push, let outcome):
            guard let key = lanes[number]?.key, let job = lanes[number]?.jobs.removeValue(forKey: push) else {
                return []
            }
            if key.provider == .webhook { webhookCount -= 1 }
            if let place = places[job.message.id], place == (number, push) { places[job.message.id] = nil }
            finish(job, key.provider, outcome)
            return []
        }
    }

    private func send(_ push: UInt64, _ number: UInt64) -> [PushQueue.Action] {
        guard let lane = lanes[number], var job = lane.jobs[push] else { return [] }
        do throws(PushFailure) {
            // It has waited, and the device may have another token by now, or another user.
            guard let current = lookUp(job.registration) else { throw .unregistered }
            if current != job.registration {
                job.registration = current
                guard laneKey(of: current) == lane.key else { return move(push, job, from: number) }
                lanes[number]?.jobs[push] = job
            }
            let request = try request(for: job, lane)
            let client = lane.key.provider == .webhook ? webhooks : providers
            metrics.pushRequests[lane.key.provider].increment()
            client.send(request) { [mailbox] result in
                mailbox.send(.answered(lane: number, push: push, result))
            }
            return []
        } catch {
            return lanes[number]?.queue.abandoned(push, error, at: MonotonicClock.now) ?? []
        }
    }

    /// The device is reached by another service by now: the push goes on there, with what is left of its time.
    private func move(_ push: UInt64, _ job: PushJob, from number: UInt64) -> [PushQueue.Action] {
        guard let key = lanes[number]?.key, lanes[number]?.jobs.removeValue(forKey: push) != nil else { return [] }
        if key.provider == .webhook { webhookCount -= 1 }
        metrics.pushesActive.decrement()
        // Its end in this lane is none for whoever waits for its outcome.
        let actions = lanes[number]?.queue.abandoned(push, .unregistered, at: MonotonicClock.now) ?? []
        submit(job)
        return actions
    }

    private func request(for job: PushJob, _ lane: PushLane) throws(PushFailure) -> HTTPRequest {
        let nanoseconds = WallTime.unixNanoseconds
        let (milliseconds, seconds) = (nanoseconds / 1_000_000, nanoseconds / 1_000_000_000)
        let left = job.message.expires > milliseconds ? job.message.expires - milliseconds : 1
        let timeout = min(configuration.attemptTime, .milliseconds(Int64(clamping: left)))
        let authorization = lane.authorization.map { [$0] } ?? []
        switch job.registration.target {
        case .apple(let tokens):
            guard let account = configuration.apple else { throw .notConfigured }
            return HTTPRequest(
                try ApplePush.request(for: job.message, to: tokens, bundleID: job.registration.bundleID),
                to: tokens.isProduction ? account.productionURL : account.developmentURL, further: authorization,
                timeout: timeout)
        case .google(let token):
            guard let google, let project = google.projectName else { throw .notConfigured }
            return HTTPRequest(
                try GooglePush.request(for: job.message, to: token, project: project, now: milliseconds),
                to: google.project.url, further: authorization, timeout: timeout)
        case .webhook(let url):
            let request = try WebhookPush.request(for: job.message, to: job.registration)
            let signature: [HTTPField]
            do throws(CredentialProblem) {
                signature =
                    try webhookKeys?.signature(
                        bundleID: job.registration.bundleID, name: WebhookPush.name(of: job.message),
                        seconds: seconds, content: request.content) ?? []
            } catch {
                logger.warning("a webhook has no key", metadata: [LogKey.reason: "\(error.reason)"])
                throw .credential(reason: error.reason)
            }
            return HTTPRequest(request, to: url, further: signature, timeout: timeout)
        }
    }

    private func finish(_ job: PushJob, _ provider: PushProvider, _ outcome: PushOutcome) {
        metrics.pushesActive.decrement()
        metrics.pushes[provider, PushResult(outcome)].increment()
        logger.debug(
            "push ended",
            metadata: [
                LogKey.request: "\(provider.rawValue)", LogKey.result: "\(PushResult(outcome).rawValue)",
                LogKey.reason: "\(outcome)",
            ])
        job.completion(outcome, job.registration)
    }

    // MARK: Credentials

    private func obtainCredential(_ number: UInt64) -> [PushQueue.Action] {
        guard let key = lanes[number]?.key else { return [] }
        let seconds = WallTime.unixNanoseconds / 1_000_000_000
        do throws(CredentialProblem) {
            switch key {
            case .apple:
                guard let token = try apple?.makeToken(seconds: seconds) else { return [] }
                lanes[number]?.keyStamp = apple?.file.stamp
                return obtained(token, renewal: AppleProvider.tokenTime, number)
            case .google:
                guard
                    let request = try google?.tokenRequest(seconds: seconds, timeout: configuration.attemptTime)
                else { return [] }
                lanes[number]?.keyStamp = google?.file.stamp
                providers.send(request) { [mailbox] result in
                    mailbox.send(.tokenAnswered(lane: number, result))
                }
                return []
            case .webhook:
                return []
            }
        } catch {
            return failed(error, key, number)
        }
    }

    private func tokenAnswered(_ number: UInt64, _ result: Result<HTTPResponse, HTTPFailure>) {
        guard let key = lanes[number]?.key else { return }
        var actions: [PushQueue.Action]
        do throws(CredentialProblem) {
            switch result {
            case .success(let response):
                let token = try GoogleProvider.token(response)
                actions = obtained(token.accessToken, renewal: token.renewal, number)
            case .failure(let failure):
                let reason = "the token service cannot be asked: \(failure)"
                throw failure.isTransient ? .transient(reason) : .unusable(reason)
            }
        } catch {
            actions = failed(error, key, number)
        }
        change(number) { _ in actions }
    }

    private func obtained(_ token: String, renewal: Duration, _ number: UInt64) -> [PushQueue.Action] {
        lanes[number]?.authorization = HTTPField("authorization", "Bearer \(token)")
        return lanes[number]?.queue.credentialObtained(renewal: renewal, at: MonotonicClock.now) ?? []
    }

    private func failed(_ problem: CredentialProblem, _ key: PushLane.Key, _ number: UInt64) -> [PushQueue.Action] {
        logger.warning(
            "no credential for a push provider",
            metadata: [LogKey.request: "\(key.provider.rawValue)", LogKey.reason: "\(problem.reason)"])
        return lanes[number]?.queue.credentialFailed(
            problem.reason, isFinal: problem.isFinal, at: MonotonicClock.now) ?? []
    }

    /// Gets new credentials for lanes whose key has changed in its file.
    private func checkFiles() {
        let now = MonotonicClock.now
        guard now >= nextFileCheck else { return }
        nextFileCheck = now + Self.fileInterval
        for (key, number) in laneNumbers where lanes[number]?.authorization != nil {
            let stamp = lanes[number]?.keyStamp
            switch key {
            case .apple where apple?.file.hasChanged(since: stamp) == true,
                .google where google?.file.hasChanged(since: stamp) == true:
                logger.info("a key for push has changed", metadata: [LogKey.request: "\(key.provider.rawValue)"])
                change(number) { $0.credentialReplaced() }
            case .apple, .google, .webhook: break
            }
        }
    }

    private func end() {
        providers.shutDown()
        webhooks.shutDown()
        for number in lanes.keys.sorted() { change(number) { $0.shutDown() } }
        var late: [PushInput] = []
        mailbox.drain(into: &late)
        for case .submit(let job) in late { submit(job) }
    }
}
