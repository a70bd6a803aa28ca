package import CallControl
package import CallRuntime
package import Cryptography
package import GatewayAPI
package import Logging
package import Observability
package import Primitives

/// Decides which user makes a request, by the `Authorization` header (spidr-wire §2).
///
/// `Basic` credentials come with every request. The slow password hash runs once per user and password; after that a
/// keyed digest in memory answers. Requests with equal credentials that arrive while the hash runs wait for the same
/// result. Accepted logins are written down if a ``LoginJournal`` is given. A restart then does not send all users
/// through the slow hash at once.
package actor Authenticator {
    /// How credentials are checked and remembered.
    package struct Configuration: Sendable {
        /// Completes user names without a domain.
        package var defaultDomain = "localhost"
        /// How long a password that another process has changed in the database may still be accepted.
        package var revalidation = Duration.seconds(2)
        /// How many logins wait for the slow hash, and how many threads compute it.
        package var queue = WaitingLine.Configuration()
        /// The cost of the hash of a stored password. A login with a name that does not exist is made to cost the same.
        package var passwordCost = PasswordHash.Cost()
        /// How many logins are remembered. Beyond that, those unused for longest run the slow hash again.
        package var rememberedLimit = 100_000
        /// How long a login is remembered after its last use, across restarts.
        package var rememberedFor = Duration.seconds(30 * 86_400)
        /// How often passwords may be tried.
        package var throttle = LoginThrottle.Configuration()

        /// Makes a configuration with the default values.
        package init() {}
    }

    /// The queue of logins for the slow hash; a login is named by the digest of its credentials.
    package typealias WaitingLine = LoginQueue<CredentialDigest>

    // What is not private is for Authenticator+Upgrade.
    let clock: any RuntimeClock
    let metrics: GatewayMetrics
    let verifier: PasswordVerifier
    let logger: Logger
    let records: LoginRecords
    let key: CredentialDigest.Key
    let journal: LoginJournal?
    let configuration: Configuration

    var verified: VerifiedCredentials
    var upgrades: PasswordUpgrades
    /// The upgrade under way, for ``shutdown()``.
    var upgrade: Task<Void, Never>?
    private var familiar: FamiliarNetworks
    private var throttle: LoginThrottle
    private(set) var queue: WaitingLine
    private var checks: [CredentialDigest: Check] = [:]
    private var random: any RandomSource
    private var dummy: String?
    private(set) var isTurningAway = false

    private typealias Outcome = Result<UserAddress, APIError>

    /// Credentials that wait for the slow hash, or are being hashed.
    private struct Check {
        /// All requests that came with these credentials.
        var requesters: [Requester]
        /// The requests that wait for the result. The request that runs the check is not among them.
        var followers: [CheckedContinuation<Outcome, Never>] = []
        /// The request that runs the check while it waits for its turn; resumed with ``isTheirTurn``.
        var turn: CheckedContinuation<Bool, Never>?
        /// Whether the slow hash may run now. `false`: it will not run. `nil`: not decided yet.
        var isTheirTurn: Bool?

        mutating func takeTurn(_ isTheirs: Bool) {
            isTheirTurn = isTheirs
            turn?.resume(returning: isTheirs)
            turn = nil
        }
    }

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - users: the stored accounts.
    ///   - random: spreads the times at which postponed clients come back.
    ///   - key: the secret of all digests. Remembered logins are of use under the same key only.
    ///   - remembered: logins from before the start, made under the same key.
    ///   - journal: writes accepted logins down. `nil`: a restart forgets all logins.
    package init(
        users: any UserRepository, clock: any RuntimeClock, metrics: GatewayMetrics, logger: Logger,
        random: some RandomSource,
        key: CredentialDigest.Key, remembered: RememberedLogins = RememberedLogins(), journal: LoginJournal? = nil,
        configuration: Configuration = Configuration()
    ) {
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        records = LoginRecords(users: users, logger: logger)
        self.random = random
        self.key = key
        self.journal = journal
        self.configuration = configuration
        verifier = PasswordVerifier(threads: max(1, configuration.queue.threads))
        let limit = max(2, configuration.rememberedLimit)
        verified = VerifiedCredentials(revalidation: configuration.revalidation, capacity: limit)
        familiar = FamiliarNetworks(accountLimit: limit)
        throttle = LoginThrottle(configuration.throttle)
        queue = LoginQueue(configuration.queue)
        upgrades = PasswordUpgrades(to: configuration.passwordCost)
        for entry in remembered.credentials {
            verified.restore(
                CredentialDigest(remembered: entry.digest), of: entry.account,
                checkedAgainst: CredentialDigest.RecordMark(remembered: entry.record), expires: entry.expires)
        }
        for entry in remembered.networks { familiar.insert(entry.mark, for: entry.account, expires: entry.expires) }
    }

    /// The user to whom the credentials of a request belong.
    ///
    /// - Parameters:
    ///   - header: the value of `Authorization`; `nil` if the request has none.
    ///   - requester: where the request comes from; see ``Requester``.
    /// - Throws: as ``BasicCredentials/init(parsing:defaultDomain:)``; `auth.wrong_password` for an unknown user and
    ///   for a wrong password; `auth.rate_limited` after too many failures; `auth.busy` if there is no place in the
    ///   queue; `auth.unavailable` if the database or the hash fails, or the gateway stops.
    package nonisolated func authenticate(_ header: String?, from requester: Requester) async throws(APIError)
        -> UserAddress
    {
        let network = requester.address.map(SourceNetwork.init)
        if let header, let user = try await recall(header, from: network).get() { return user }
        let credentials: BasicCredentials
        do {
            credentials = try BasicCredentials(parsing: header, defaultDomain: configuration.defaultDomain)
        } catch {
            metrics.authenticationFailures[error.code == .authMissing ? .missing : .malformed].increment()
            throw error
        }
        let login = try await records.login(of: credentials).get()
        let claim = LoginThrottle.Claim(login.user, from: network)
        return try await check(login, key.digest(header ?? ""), claim, for: requester).get()
    }

    /// The domain that completes user names without one.
    nonisolated var defaultDomain: String { configuration.defaultDomain }

    /// Notes that accounts have changed: each remembered login is held against its account once more when it is used.
    package func accountsChanged() { verified.doubt(at: clock.now) }

    /// How long a password, or an account, that another process has changed may still be accepted.
    nonisolated var revalidation: Duration { configuration.revalidation }

    /// Counts a token that no key has signed against the network that it came from.
    ///
    /// - Throws: `auth.rate_limited` if too much has failed there; then it is not counted.
    func countForgery(from network: SourceNetwork?) throws(APIError) {
        guard case .refused(let wait) = throttle.chargeForgery(from: network, at: clock.now) else { return }
        metrics.authenticationFailures[.throttled].increment()
        throw .rateLimited(retryAfter: wait)
    }

    /// Counts a request with valid credentials for another user's resource.
    nonisolated func countWrongUser() { metrics.authenticationFailures[.otherUser].increment() }

    /// How many requests wait for the check of these credentials.
    package func requesterCount(_ header: String) -> Int { checks[key.digest(header)]?.requesters.count ?? 0 }

    /// Stops the waiting for the slow hash. Requests that wait, and those that come, are refused with
    /// `auth.unavailable`. Hashes under way go on.
    package func turnAway() {
        isTurningAway = true
        for digest in checks.keys where checks[digest]?.isTheirTurn == nil { checks[digest]?.takeTurn(false) }
    }

    /// Ends the waiting, as ``turnAway()`` does, and the threads of the slow hash.
    package func shutdown() async {
        turnAway()
        await verifier.shutdown()
        await upgrade?.value
    }

    // MARK: - What is remembered

    /// The user who has these credentials, as far as memory tells. `nil` if they have not been accepted lately, or must
    /// not be compared because too many others were.
    private func recall(_ header: String, from network: SourceNetwork?) async -> Result<UserAddress?, APIError> {
        let digest = key.digest(header)
        guard let (user, isUsual) = verified.holder(of: digest, from: network) else { return .success(nil) }
        let claim = LoginThrottle.Claim(user, from: network)
        guard throttle.permitsRecall(claim, isFamiliar: isUsual || isFamiliar(claim), at: clock.now) else {
            return .success(nil)
        }
        let now = clock.now
        switch verified.find(digest, at: now) {
        case .unknown:
            return .success(nil)
        case .known:
            if !isUsual { arrived(with: digest, claim) }
            return .success(user)
        case .knownFor(_, let record):
            switch await records.record(of: user) {
            case .success(let stored?) where isStill(stored, record, for: digest):
                startUpgrade(of: stored, user, besides: 0) {
                    try? BasicCredentials(parsing: header, defaultDomain: configuration.defaultDomain).password
                }
                if verified.confirm(digest, readAt: now) { metrics.loginsRestored.increment() }
                arrived(with: digest, claim)
                return .success(user)
            case .success:
                verified.remove(digest)
                return .success(nil)
            case .failure(let error):
                return .failure(error)
            }
        }
    }

    private func isFamiliar(_ claim: LoginThrottle.Claim) -> Bool {
        key.mark(of: claim).map { familiar.contains($0, for: claim.account) } ?? false
    }

    /// Remembers credentials that were accepted, and the network they came from.
    private func arrived(with digest: CredentialDigest, _ claim: LoginThrottle.Claim) {
        let expires = clock.epochMilliseconds / 1_000 + configuration.rememberedFor.components.seconds
        // An entry is written down again when half of its time is over, not with every request.
        let renewal = configuration.rememberedFor.components.seconds / 2
        let renewed = verified.renew(digest, until: expires, renewal: renewal)
        if let record = renewed {
            journal?.note(.init(digest: digest.bytes, account: claim.account, record: record.bytes, expires: expires))
        }
        let isRenewed = renewed != nil
        guard verified.noteUse(digest, from: claim.network) || isRenewed, let mark = key.mark(of: claim) else { return }
        if familiar.insert(mark, for: claim.account, expires: expires, renewal: renewal / 2) {
            journal?.note(.init(account: claim.account, mark: mark, expires: expires))
        }
    }

    // MARK: - The slow hash

    private func check(
        _ login: LoginRecords.Login, _ digest: CredentialDigest, _ claim: LoginThrottle.Claim,
        for requester: Requester
    ) async -> Outcome {
        let now = clock.now
        let isFamiliar = isFamiliar(claim)
        // The credentials may have been accepted since this request asked first.
        if throttle.permitsRecall(claim, isFamiliar: isFamiliar, at: now),
            case .known(let user) = verified.find(digest, at: now)
        {
            return .success(user)
        }
        if checks[digest] != nil {
            checks[digest]?.requesters.append(requester)
            return await withCheckedContinuation { checks[digest]?.followers.append($0) }
        }
        let attempt: LoginThrottle.Attempt
        switch throttle.attempt(claim, isFamiliar: isFamiliar, at: now) {
        case .refused(let wait):
            metrics.authenticationFailures[.throttled].increment()
            return .failure(.rateLimited(retryAfter: wait))
        case .pending:
            metrics.passwordChecks[.postponed].increment()
            return .failure(
                .busy(retryAfter: queue.postpone(claim, isFamiliar: isFamiliar, at: now, jitter: random.nextFraction()))
            )
        case .allowed(let allowed):
            attempt = allowed
        }
        if case .comesBack(let delay) = queue.enter(
            digest, claim, isFamiliar: isFamiliar, at: now, jitter: random.nextFraction())
        {
            throttle.withdrawn(attempt, at: now)
            metrics.passwordChecks[.postponed].increment()
            return .failure(.busy(retryAfter: delay))
        }
        checks[digest] = Check(requesters: [requester])
        let outcome = await checkInTurn(login, digest, claim, attempt)
        for follower in checks.removeValue(forKey: digest)?.followers ?? [] { follower.resume(returning: outcome) }
        callNext()
        return outcome
    }

    private func checkInTurn(
        _ login: LoginRecords.Login, _ digest: CredentialDigest, _ claim: LoginThrottle.Claim,
        _ attempt: LoginThrottle.Attempt
    ) async -> Outcome {
        let came = clock.now
        guard await awaitTurn(of: digest) else {
            throttle.withdrawn(attempt, at: clock.now)
            return .failure(.unavailable)
        }
        let started = clock.now
        // Most requests have not waited long, and their clients need not be asked.
        if started - came >= Self.shortWait, await !isAwaited(digest) {
            queue.finished(after: nil)
            throttle.withdrawn(attempt, at: clock.now)
            metrics.passwordChecks[.abandoned].increment()
            return .failure(.unavailable)
        }
        let outcome = await verify(login, digest, claim, attempt)
        queue.finished(after: clock.now - started)
        return outcome
    }

    private static let shortWait = Duration.milliseconds(200)

    private func awaitTurn(of digest: CredentialDigest) async -> Bool {
        if isTurningAway { return false }
        callNext()
        if let isTheirTurn = checks[digest]?.isTheirTurn { return isTheirTurn }
        return await withCheckedContinuation { checks[digest]?.turn = $0 }
    }

    /// Starts the checks for which there are threads.
    private func callNext() {
        while let digest = queue.next() { checks[digest]?.takeTurn(true) }
        metrics.passwordChecksWaiting.set(Int64(queue.waitingCount))
    }

    /// Whether any client still waits for the result.
    private func isAwaited(_ digest: CredentialDigest) async -> Bool {
        var index = 0
        // Other requests may join while a client is being asked.
        while let requester = checks[digest]?.requesters.dropFirst(index).first {
            if await requester.isPresent() { return true }
            index += 1
        }
        return false
    }

    private func verify(
        _ login: LoginRecords.Login, _ digest: CredentialDigest, _ claim: LoginThrottle.Claim,
        _ attempt: LoginThrottle.Attempt
    ) async -> Outcome {
        let user = login.user
        let readAt = clock.now
        let record: LoginRecords.Record?
        switch await records.record(of: user) {
        // An account with an auth name is not found by its address, and is found by no other auth name.
        case .success(let stored): record = stored?.authName == login.authName ? stored : nil
        case .failure(let error):
            throttle.succeeded(attempt)
            return .failure(error)
        }
        do {
            let dummy = try await dummyRecord()
            let matches = try await verifier.verify(
                login.password.value, against: record?.password ?? dummy, atLeast: configuration.passwordCost)
            guard let record, matches else {
                throttle.failed(attempt, at: clock.now)
                metrics.passwordChecks[.wrong].increment()
                metrics.authenticationFailures[record == nil ? .unknownUser : .wrongPassword].increment()
                return .failure(.wrongPassword)
            }
            throttle.succeeded(attempt)
            metrics.passwordChecks[.right].increment()
            verified.insert(digest, of: user, checkedAgainst: key.mark(of: record.text), readAt: readAt)
            arrived(with: digest, claim)
            startUpgrade(of: record, user, besides: 1) { login.password }
            return .success(user)
        } catch {
            throttle.succeeded(attempt)
            metrics.passwordChecks[.failed].increment()
            logger.error("password check failed", metadata: [LogKey.error: "\(error)"])
            return .failure(.unavailable)
        }
    }

    private func dummyRecord() async throws -> String {
        if let dummy { return dummy }
        let made = try await verifier.makeRecord(of: "", configuration.passwordCost)
        dummy = made
        return made
    }
}

extension RandomSource {
    /// A random number from 0 up to, but not including, 1.
    fileprivate mutating func nextFraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
