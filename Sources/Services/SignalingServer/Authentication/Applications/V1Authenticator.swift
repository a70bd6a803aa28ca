import CallControl
package import CallRuntime
import Cryptography
package import GatewayAPI
package import Logging
package import Observability
package import Primitives
import Sockets

/// Says who makes a request on `/v1`: an application, by one of its keys or by a token that it has signed, or a user,
/// by a password or a bearer token as on the client protocol.
///
/// Wrong keys and tokens are counted for their network, and a network with too many of them has to wait. A key that was
/// right when it was last shown is *familiar*, and is looked up in spite of that: programs behind one address do not
/// lock each other out.
package final class V1Authenticator: Sendable {
    /// How many wrong keys and tokens a network may show: so many at once, then one in each interval.
    package static let guesses = RateAllowance.Rate(burst: 10, interval: .seconds(5))
    /// How many networks are remembered for that, and how many keys that were right.
    private static let capacity = 10_000

    private let applications: any ApplicationRepository
    private let users: Authenticator
    private let tokens: TokenAuthenticator?
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let failures = Lock<[SourceNetwork?: RateAllowance]>([:])
    /// The digests of familiar keys.
    private let familiar = Lock<Set<[UInt8]>>([])

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - users: the check of users' passwords.
    ///   - tokens: the check of users' bearer tokens; `nil`: they are not offered.
    package init(
        _ applications: any ApplicationRepository, users: Authenticator, tokens: TokenAuthenticator? = nil,
        clock: any RuntimeClock, metrics: GatewayMetrics, logger: Logger
    ) {
        self.applications = applications
        self.users = users
        self.tokens = tokens
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// Who makes a request.
    ///
    /// - Parameter authorization: the header `Authorization`; `nil`: there is none.
    /// - Throws: one of the codes `auth.…`.
    package func principal(
        _ authorization: String?, from requester: Requester
    ) async throws(V1Error) -> V1Principal {
        guard let authorization else {
            metrics.authenticationFailures[.missing].increment()
            throw V1Error(
                .authMissing, "Send the header \"Authorization: Bearer …\" with a key of `orbweaver app key add`.")
        }
        guard let token = TokenAuthenticator.token(in: authorization) else {
            return .user(
                try await user { () async throws(APIError) in
                    try await users.authenticate(authorization, from: requester)
                })
        }
        let network = requester.address.map { SourceNetwork($0) }
        if token.hasPrefix(ApplicationKey.prefix) {
            let digest = ApplicationKey(token).map { Digest.sha256.hash(Array($0.text.value.utf8)) }
            let isFamiliar = digest.map { digest in familiar.withLock { $0.contains(digest) } } ?? false
            if !isFamiliar { try checkFailures(network) }
            return try await application(ofKey: digest, network)
        }
        try checkFailures(network)
        return try await bearer(of: token, from: requester, network)
    }

    /// Refuses what comes from a network that has shown too many wrong keys and tokens.
    private func checkFailures(_ network: SourceNetwork?) throws(V1Error) {
        if let wait = failures.withLock({ $0[network]?.wait(at: clock.now) }) {
            metrics.authenticationFailures[.throttled].increment()
            throw V1Error(
                .authRateLimited, "Too many wrong keys came from your address; wait before the next.",
                retryAfter: wait)
        }
    }

    // MARK: Keys

    /// - Parameter digest: that of the key; `nil`: the text is no key.
    private func application(
        ofKey digest: [UInt8]?, _ network: SourceNetwork?
    ) async throws(V1Error) -> V1Principal {
        let found = try await reading { () async throws(StorageError) in
            guard let digest else { return nil as (application: StoredApplication, key: StoredApplicationKey)? }
            return try await applications.application(ofKey: digest)
        }
        guard let digest, let found else {
            if let digest { familiar.withLock { _ = $0.remove(digest) } }
            throw refused(V1Error(.authInvalidToken, "This key is not known here; it may have been revoked."), network)
        }
        if let end = found.key.expiresAt, end <= clock.epochMilliseconds {
            metrics.authenticationFailures[.token].increment()
            throw V1Error(.authTokenExpired, "The key has expired; have another one made.")
        }
        familiar.withLock { familiar in
            if familiar.count >= Self.capacity, !familiar.contains(digest) { _ = familiar.popFirst() }
            familiar.insert(digest)
        }
        let (application, profile) = (found.application, found.application.profile)
        return .application(
            application.identity, scopes: profile.scopes, addresses: profile.addresses, streamURL: profile.streamURL)
    }

    // MARK: Tokens

    /// The application that has signed a token, or the user whom it is for. The issuer says which of the two.
    private func bearer(
        of text: String, from requester: Requester, _ network: SourceNetwork?
    ) async throws(V1Error) -> V1Principal {
        let token: BearerToken
        do throws(TokenError) {
            token = try BearerToken(parsing: text)
        } catch {
            throw refused(V1Error(error.refusal), network)
        }
        let application = try await reading { () async throws(StorageError) in
            guard let name = token.statedIssuer.flatMap({ ApplicationName($0) }) else {
                return nil as StoredApplication?
            }
            return try await applications.application(name)
        }
        guard let application else {
            guard let tokens else {
                throw refused(
                    V1Error(.authInvalidToken, "The token's \"iss\" is not the name of an application."), network)
            }
            return .user(
                try await user { () async throws(APIError) in
                    try await tokens.authenticate(text, from: requester.address).user
                })
        }
        do throws(TokenError) {
            let signed = try SignedApplicationToken(
                token, of: application, atUnixMilliseconds: clock.epochMilliseconds)
            return .application(
                application.identity, scopes: signed.scopes, addresses: application.profile.addresses,
                streamURL: application.profile.streamURL)
        } catch {
            let refusal = V1Error(error.refusal)
            guard error.isGenuine else { throw refused(refusal, network) }
            metrics.authenticationFailures[.token].increment()
            throw refusal
        }
    }

    // MARK: Refusals

    private func user(_ check: () async throws(APIError) -> UserAddress) async throws(V1Error) -> UserAddress {
        do throws(APIError) {
            return try await check()
        } catch {
            throw V1Error(error)
        }
    }

    private func reading<Value>(_ read: () async throws(StorageError) -> Value) async throws(V1Error) -> Value {
        do throws(StorageError) {
            return try await read()
        } catch {
            logger.error("applications cannot be read", metadata: [LogKey.error: "\(error)"])
            throw V1Error(APIError.unavailable)
        }
    }

    /// Counts a wrong key or token of a network.
    private func refused(_ error: V1Error, _ network: SourceNetwork?) -> V1Error {
        metrics.authenticationFailures[.token].increment()
        let now = clock.now
        failures.withLock { failures in
            if failures[network] == nil, failures.count >= Self.capacity {
                failures = failures.filter { ($0.value.clearAt ?? now) > now }
                if failures.count >= Self.capacity { failures = [:] }
            }
            _ = failures[network, default: RateAllowance()].charge(Self.guesses, at: now)
        }
        return error
    }
}

extension RateAllowance {
    /// How long until another wrong key is looked at; `nil`: one is looked at now.
    fileprivate func wait(at now: MonotonicTime) -> Duration? {
        var copy = self
        return copy.charge(V1Authenticator.guesses, at: now)
    }
}
