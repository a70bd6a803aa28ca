internal import Cryptography
internal import HTTPClient
internal import Logging
internal import Observability
internal import Primitives
internal import Push
internal import Sockets

/// The owner of all pushes: a thread that feeds the queues with pushes, answers and the time, and does what they say.
final class PushLoop {
    let configuration: PushConfiguration
    private let lookUp: PushClient.LookUp
    private let metrics: GatewayMetrics
    let logger: Logger
    let mailbox: Mailbox<PushInput>
    private let wakeUp: WakeUp
    private var poller: Poller
    private let providerLimits: HTTPClient.Configuration
    let providers: HTTPClient
    private let webhooks: HTTPClient
    private var random = SecureRandomSource()

    var apps: AppAccounts?
    private var webhookKeys: WebhookKeys?

    private(set) var lanes: [UInt64: PushLane] = [:]
    private var laneNumbers: [PushLane.Key: UInt64] = [:]
    /// Where the latest push of each message is.
    private var places: [PushID: (lane: UInt64, push: UInt64)] = [:]
    private var deadlines = DeadlineQueue()
    private var lastLane: UInt64 = 0
    private var lastPush: UInt64 = 0
    private var webhookCount = 0
    /// The requests of this round, which leave together.
    private var toProviders: [(request: HTTPRequest, completion: HTTPClient.Completion)] = []
    private var toWebhooks: [(request: HTTPRequest, completion: HTTPClient.Completion)] = []
    var nextFileCheck = MonotonicTime.zero
    private var isRunning = true

    init(
        _ configuration: PushConfiguration, lookUp: @escaping PushClient.LookUp, metrics: GatewayMetrics,
        logger: Logger, mailbox: Mailbox<PushInput>, wakeUp: WakeUp
    ) throws {
        self.configuration = configuration
        self.lookUp = lookUp
        self.metrics = metrics
        self.logger = logger
        self.mailbox = mailbox
        self.wakeUp = wakeUp
        poller = try Poller(wakeUp: wakeUp)
        apps = configuration.applications.map(AppAccounts.init)
        webhookKeys = configuration.webhookKeyFolder.map(WebhookKeys.init)
        var client = HTTPClient.Configuration()
        client.addresses.allowed = configuration.allowedAddresses
        client.authorityFile = configuration.authorityPath
        client.requestsInFlightPerHost = configuration.queue.inFlight
        client.waitingRequests = configuration.queue.capacity
        providerLimits = client
        providers = try HTTPClient(name: "push-providers", configuration: client, handedOut: wakeUp.wake)
        client.requestsInFlightPerHost = configuration.webhookRequestsInFlight
        // Servers without HTTP/2 answer one request at a time on a connection.
        client.connectionsPerHost = 4
        webhooks = try HTTPClient(name: "push-webhooks", configuration: client, handedOut: wakeUp.wake)
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
            while let number = deadlines.popDue(at: now) {
                if let lane = lanes[number] { change(lane) { $0.timeout(at: now) } }
            }
            sendOutgoing()
        }
        end()
    }

    /// Hands over the requests of a round, so that a client is woken once for all of them.
    private func sendOutgoing() {
        providers.send(toProviders)
        webhooks.send(toWebhooks)
        toProviders.removeAll(keepingCapacity: true)
        toWebhooks.removeAll(keepingCapacity: true)
    }

    private func handle(_ input: PushInput) {
        switch input {
        case .submit(let job): submit(job)
        case .withdraw(let message): withdraw(message)
        case .answered(let lane, let push, let result): answered(lane, push, result)
        case .tokenAnswered(let lane, let project, let result): tokenAnswered(lane, project, result)
        case .stop: isRunning = false
        }
    }

    // MARK: Pushes

    private func submit(_ job: PushJob) {
        let provider = job.registration.provider
        metrics.pushesActive.increment()
        guard isRunning else { return finish(job, provider, .givenUp(.shutDown)) }
        checkFiles()
        let lane: PushLane
        do throws(PushFailure) {
            let key = try laneKey(of: job.registration)
            if provider == .webhook, webhookCount >= configuration.queue.capacity {
                takePlace(for: job, in: key)
                guard webhookCount < configuration.queue.capacity else { throw .overloaded(last: nil) }
            }
            lane = try self.lane(of: key)
        } catch {
            return finish(job, provider, .givenUp(error))
        }
        lastPush += 1
        let push = lastPush
        if provider == .webhook { webhookCount += 1 }
        lane.jobs[push] = job
        places[job.message.id] = (lane.number, push)
        let now = MonotonicClock.now
        let wall = WallTime.unixNanoseconds / 1_000_000
        let left = job.message.expires > wall ? min(job.message.expires - wall, 30 * 86_400_000) : 0
        change(lane) {
            $0.submit(push, isUrgent: job.message.isUrgent, deadline: now + .milliseconds(Int64(left)), at: now)
        }
    }

    private func withdraw(_ message: PushID) {
        guard let (number, push) = places[message], let lane = lanes[number] else { return }
        change(lane) { $0.withdraw(push) }
    }

    /// Gives up a push to a webhook, so that another one has its place. A push about a call takes that of one that is
    /// about none. Otherwise it is one to the host that has the most pushes, unless that is the host that needs the
    /// place: a host that is down takes no room from the others. Only a push about a call takes the place of a call.
    private func takePlace(for job: PushJob, in key: PushLane.Key) {
        let webhooks = lanes.values.filter { $0.key.provider == .webhook }
        let isUrgent = job.message.isUrgent
        if isUrgent {
            for lane in webhooks.sorted(by: { $0.queue.count > $1.queue.count }) {
                change(lane) { $0.giveUpLatest(onlyOthers: true) }
                guard webhookCount >= configuration.queue.capacity else { return }
            }
        }
        let count = laneNumbers[key].flatMap { lanes[$0] }?.queue.count ?? 0
        guard let fullest = webhooks.max(by: { $0.queue.count < $1.queue.count }), fullest.queue.count > count + 1
        else { return }
        change(fullest) { $0.giveUpLatest(onlyOthers: !isUrgent) }
    }

    /// The lane of a device.
    ///
    /// - Throws: `notConfigured`; `credential` if the accounts of its app cannot be used.
    private func laneKey(of registration: PushRegistration) throws(PushFailure) -> PushLane.Key {
        switch registration.target {
        case .apple(let tokens):
            guard let account = try ownAccounts(of: registration)?.apple ?? configuration.apple else {
                throw .notConfigured
            }
            return .apple(account, isProduction: tokens.isProduction)
        case .google:
            guard let project = try ownAccounts(of: registration)?.google ?? configuration.google else {
                throw .notConfigured
            }
            return .google(project)
        case .webhook(let url):
            guard webhookKeys != nil else { throw .notConfigured }
            return .webhook(origin: String(url.split(separator: "/", maxSplits: 2).prefix(2).last ?? ""))
        }
    }

    /// The accounts that the app of a device has of its own; `nil`: none.
    private func ownAccounts(of registration: PushRegistration) throws(PushFailure) -> AppAccounts.Accounts? {
        do throws(CredentialProblem) {
            return try apps?.accounts(of: registration.bundleID)
        } catch {
            throw .credential(reason: error.reason)
        }
    }

    /// Whether a lane stays when it has no pushes, with its connection and its credential.
    private func isKept(_ key: PushLane.Key) -> Bool {
        switch key {
        case .apple(let account, _):
            account == configuration.apple || apps?.contains { $0.apple == account } ?? false
        case .google(let project):
            project == configuration.google || apps?.contains { $0.google == project } ?? false
        case .webhook: false
        }
    }

    /// The lane of this key, which is made if there is none.
    ///
    /// - Throws: `unreachable` if it would need a thread, and there is none to be had.
    private func lane(of key: PushLane.Key) throws(PushFailure) -> PushLane {
        if let lane = laneNumbers[key].flatMap({ lanes[$0] }) { return lane }
        var limits = configuration.queue
        if key.provider == .webhook { limits.inFlight = configuration.webhookRequestsInFlight }
        let queue = PushQueue(limits, needsCredential: key.provider != .webhook)
        let lane = PushLane(lastLane + 1, key, queue, client: try ownClient(of: key))
        lastLane += 1
        lanes[lastLane] = lane
        laneNumbers[key] = lastLane
        return lane
    }

    /// A client with connections of its own, for an account with Apple that is an app's: on a connection APNs takes no
    /// tokens but those of the key that it saw first (`UnrelatedKeyIdInToken`).
    private func ownClient(of key: PushLane.Key) throws(PushFailure) -> HTTPClient? {
        guard case .apple(let account, _) = key, account != configuration.apple else { return nil }
        do {
            return try HTTPClient(name: "push-app", configuration: providerLimits, handedOut: wakeUp.wake)
        } catch {
            throw .unreachable(reason: "\(error)")
        }
    }

    private func answered(_ number: UInt64, _ push: UInt64, _ result: Result<HTTPResponse, HTTPFailure>) {
        guard let lane = lanes[number] else { return }
        let verdict: PushVerdict
        switch result {
        case .success(let response):
            switch lane.key {
            case .apple: verdict = AppleProvider.verdict(response)
            case .google: verdict = GoogleProvider.verdict(response)
            case .webhook:
                let delay = response.status < 300 ? nil : response.retryDelay
                verdict = WebhookPush.verdict(status: response.status, after: delay)
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
    private func isOutdated(_ push: UInt64, _ lane: PushLane, _ verdict: PushVerdict) -> Bool {
        guard case .registrationDead = verdict, let sent = lane.jobs[push]?.registration else { return false }
        return lookUp(sent).map { $0.target != sent.target } ?? false
    }

    /// Changes a lane's queue, does what it says, and sets the time of its next deadline.
    func change(_ lane: PushLane, _ body: (inout PushQueue) -> [PushQueue.Action]) {
        var actions = body(&lane.queue)
        var done = 0
        while done < actions.count {
            let following = perform(actions[done], in: lane)
            done += 1
            if !following.isEmpty { actions += following }
        }
        // A lane that was forgotten meanwhile has no deadline.
        guard lanes[lane.number] != nil else { return }
        if lane.jobs.isEmpty, !isKept(lane.key) {
            laneNumbers[lane.key] = nil
            lanes[lane.number] = nil
            deadlines.set(nil, for: lane.number)
        } else {
            deadlines.set(lane.queue.nextDeadline, for: lane.number)
        }
        // Some are far away: of silent pushes, of credentials.
        deadlines.discardMoved()
    }

    /// Does one thing; returns what follows from it.
    private func perform(_ action: PushQueue.Action, in lane: PushLane) -> [PushQueue.Action] {
        switch action {
        case .send(let push):
            return send(push, lane)
        case .obtainCredential:
            return obtainCredential(lane)
        case .ended(let push, let outcome):
            guard let job = lane.jobs.removeValue(forKey: push) else { return [] }
            if lane.key.provider == .webhook { webhookCount -= 1 }
            if let place = places[job.message.id], place == (lane.number, push) { places[job.message.id] = nil }
            finish(job, lane.key.provider, outcome)
            return []
        }
    }

    private func send(_ push: UInt64, _ lane: PushLane) -> [PushQueue.Action] {
        guard var job = lane.jobs[push] else { return [] }
        do throws(PushFailure) {
            // It has waited, and the device may have another token by now, or another user.
            guard let current = lookUp(job.registration) else { throw .unregistered }
            if current != job.registration {
                job = PushJob(message: job.message, registration: current, completion: job.completion)
                lane.jobs[push] = job
            }
            guard try laneKey(of: current) == lane.key else { return move(push, job, from: lane) }
            let request = try request(for: job, lane)
            metrics.pushRequests[lane.key.provider].increment()
            let completion: HTTPClient.Completion = { [mailbox, number = lane.number] result in
                // The client wakes the loop once for all responses that have come together.
                mailbox.put(.answered(lane: number, push: push, result))
            }
            if let client = lane.client {
                client.send(request, completion: completion)
            } else if lane.key.provider == .webhook {
                toWebhooks.append((request, completion))
            } else {
                toProviders.append((request, completion))
            }
            return []
        } catch {
            return lane.queue.abandoned(push, error, at: MonotonicClock.now)
        }
    }

    /// The device is reached by another service by now: the push goes on there, with what is left of its time.
    private func move(_ push: UInt64, _ job: PushJob, from lane: PushLane) -> [PushQueue.Action] {
        guard lane.jobs.removeValue(forKey: push) != nil else { return [] }
        if lane.key.provider == .webhook { webhookCount -= 1 }
        metrics.pushesActive.decrement()
        // Its end in this lane is none for whoever waits for its outcome.
        let actions = lane.queue.abandoned(push, .unregistered, at: MonotonicClock.now)
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
            guard case .apple(let account, _) = lane.key else { throw .notConfigured }
            return HTTPRequest(
                try ApplePush.request(for: job.message, to: tokens, bundleID: job.registration.bundleID),
                to: tokens.isProduction ? account.productionURL : account.developmentURL, further: authorization,
                timeout: timeout)
        case .google(let token):
            guard case .google(let account) = lane.key, let project = lane.project else { throw .notConfigured }
            return HTTPRequest(
                try GooglePush.request(for: job.message, to: token, project: project, now: milliseconds),
                to: account.url, further: authorization, timeout: timeout)
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

    private func end() {
        providers.shutDown()
        webhooks.shutDown()
        for lane in lanes.values { lane.client?.shutDown() }
        for lane in lanes.values.sorted(by: { $0.number < $1.number }) { change(lane) { $0.shutDown() } }
        var late: [PushInput] = []
        mailbox.drain(into: &late)
        for case .submit(let job) in late { submit(job) }
    }
}
