package import CallControl
package import CallRuntime
package import Cryptography
package import GatewayAPI
package import Logging
package import Observability
package import Primitives

/// Decides whose request it is.
///
/// `Basic` comes with every request. The slow hash runs once per user and password; then a keyed digest in memory
/// answers. Equal credentials that arrive while the hash runs wait for the same result.
package actor Authenticator {
    package struct Configuration: Sendable {
        /// Completes user names without a domain.
        package var defaultDomain = "localhost"
        /// How long a password changed in the database by another process may still be accepted.
        package var revalidation = Duration.seconds(2)
        /// Threads for the slow hash, at least 1.
        package var hashingThreads = 1
        /// Credentials that may wait for the slow hash; more are told to come back.
        package var waitingLimit = 256
        /// What the hash of a stored password costs; names that do not exist are made to cost the same.
        package var passwordCost = PasswordHash.Cost()
        /// Logins remembered; beyond it, those unused for longest run the slow hash again.
        package var rememberedLimit = 100_000
        package var throttle = LoginThrottle.Configuration()

        package init() {}
    }

    private let users: any UserRepository
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private let verifier: PasswordVerifier
    private let logger: Logger
    private let key: CredentialDigest.Key
    private let configuration: Configuration

    private var verified: VerifiedCredentials
    private var throttle: LoginThrottle
    private var decoy: String?
    /// Who waits for a check that is running; the one that runs it is not in the list.
    private var waiting: [CredentialDigest: [CheckedContinuation<Outcome, Never>]] = [:]

    private typealias Outcome = Result<UserAddress, APIError>

    package init(
        users: any UserRepository, clock: any RuntimeClock, metrics: GatewayMetrics, logger: Logger,
        key: CredentialDigest.Key, configuration: Configuration = Configuration()
    ) {
        self.users = users
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
        self.key = key
        self.configuration = configuration
        verifier = PasswordVerifier(threads: max(1, configuration.hashingThreads))
        verified = VerifiedCredentials(revalidation: configuration.revalidation, capacity: max(2, configuration.rememberedLimit))
        throttle = LoginThrottle(configuration.throttle)
    }

    /// - Parameters:
    ///   - header: the value of `Authorization`.
    ///   - source: the peer of the connection. Headers that claim another one are not believed.
    package nonisolated func authenticate(_ header: String?, from source: IPAddress?) async throws(APIError) -> UserAddress {
        if let header, let user = try await recall(key.digest(header)).get() { return user }
        let credentials: BasicCredentials
        do {
            credentials = try BasicCredentials(parsing: header, defaultDomain: configuration.defaultDomain)
        } catch {
            metrics.authenticationFailures[error.code == .authMissing ? .missing : .malformed].increment()
            throw error
        }
        return try await check(credentials, key.digest(header ?? ""), from: source).get()
    }

    /// What completes user names without a domain.
    nonisolated var defaultDomain: String { configuration.defaultDomain }

    /// Valid credentials were used on somebody else's resource.
    nonisolated func countWrongUser() { metrics.authenticationFailures[.otherUser].increment() }

    package func shutdown() async {
        await verifier.shutdown()
    }

    // MARK: - The three ways to an answer

    /// `nil` if these credentials have not been accepted lately.
    private func recall(_ digest: CredentialDigest) async -> Result<UserAddress?, APIError> {
        switch verified.find(digest, at: clock.now) {
        case .known(let user):
            return .success(user)
        case .knownFor(let user, let record):
            switch await storedRecord(of: user) {
            case .success(record): return .success(user)
            case .success:
                verified.remove(digest)
                return .success(nil)
            case .failure(let error): return .failure(error)
            }
        case .unknown:
            return .success(nil)
        }
    }

    private func check(_ credentials: BasicCredentials, _ digest: CredentialDigest, from source: IPAddress?) async -> Outcome {
        // It may have been accepted since it was asked for first.
        if case .known(let user) = verified.find(digest, at: clock.now) { return .success(user) }
        if waiting[digest] != nil {
            return await withCheckedContinuation { waiting[digest, default: []].append($0) }
        }
        return await checkSlowly(credentials, digest, from: source.map(LoginThrottle.Network.init))
    }

    private func checkSlowly(
        _ credentials: BasicCredentials, _ digest: CredentialDigest, from network: LoginThrottle.Network?
    ) async -> Outcome {
        guard waiting.count < configuration.waitingLimit else { return .failure(.busy) }
        if case .refused(let wait) = throttle.attempt(credentials.user, from: network, at: clock.now) {
            metrics.authenticationFailures[.throttled].increment()
            return .failure(.rateLimited(retryAfter: wait))
        }
        waiting[digest] = []
        let outcome = await verify(credentials, digest, from: network)
        for continuation in waiting.removeValue(forKey: digest) ?? [] { continuation.resume(returning: outcome) }
        return outcome
    }

    private func verify(
        _ credentials: BasicCredentials, _ digest: CredentialDigest, from network: LoginThrottle.Network?
    ) async -> Outcome {
        let user = credentials.user
        let record: String?
        switch await storedRecord(of: user) {
        case .success(let stored): record = stored
        case .failure(let error):
            throttle.succeeded(user)
            return .failure(error)
        }
        do {
            let decoy = try await decoyRecord()
            let matches = try await verifier.verify(credentials.password.value, against: record ?? decoy)
            guard let record, matches else {
                throttle.failed(user, from: network, at: clock.now)
                metrics.authenticationFailures[record == nil ? .unknownUser : .wrongPassword].increment()
                return .failure(.wrongPassword)
            }
            throttle.succeeded(user)
            verified.insert(digest, of: user, checkedAgainst: record, at: clock.now)
            return .success(user)
        } catch {
            throttle.succeeded(user)
            logger.error("password check failed", metadata: [LogKey.error: "\(error)"])
            return .failure(.unavailable)
        }
    }

    // MARK: - Stored records

    /// `nil` if there is no such user.
    private func storedRecord(of user: UserAddress) async -> Result<String?, APIError> {
        do throws(StorageError) {
            return .success(try await users.user(user)?.passwordRecord)
        } catch {
            logger.error("user cannot be read", metadata: [LogKey.error: "\(error)"])
            return .failure(.unavailable)
        }
    }

    private func decoyRecord() async throws -> String {
        if let decoy { return decoy }
        let made = try await verifier.makeDecoy(configuration.passwordCost)
        decoy = made
        return made
    }
}

extension APIError {
    /// One sentence for an unknown user and a wrong password: neither may be told from the other.
    fileprivate static let wrongPassword = APIError(.authWrongPassword, "User name or password is wrong.")
    fileprivate static let busy = APIError(
        .authBusy, "Too many logins are being checked; try again in a moment.", retryAfter: .seconds(2))
    fileprivate static let unavailable = APIError(
        .authUnavailable, "Credentials cannot be checked at the moment; try again later.", retryAfter: backOff)

    fileprivate static func rateLimited(retryAfter: Duration) -> APIError {
        APIError(.authRateLimited, "Too many failed logins; wait before the next try.", retryAfter: retryAfter)
    }
}
