import CallControl
package import CallRuntime
import Cryptography
import GatewayAPI
package import Logging
package import Observability
import Primitives

/// Gives application servers tokens for their users, and takes these in at the users' registration (spidr-wire §2,
/// *Application token*).
///
/// A token is accepted once. The subscription that is made with it has a session, whose identifier takes the place of
/// credentials in all later requests of the subscription. The identifier holds a keyed digest of the subscription, so
/// that nothing has to be kept of it, and it is valid for as long as the subscription.
package struct ApplicationAuthenticator: Sendable {
    /// How long a token may be used after it was given out.
    package static let defaultTokenTime = Duration.seconds(300)

    /// How many unused tokens of an application are kept. Beyond that the oldest are forgotten.
    private static let tokenLimit = 10_000
    /// The random bytes of a token.
    private static let tokenSize = 32
    /// Between the subscription and the digest in the identifier of a session. No user's subscription has it.
    private static let separator: Character = "."

    private let applications: any ApplicationRepository
    private let passwords: Authenticator
    private let key: CredentialDigest.Key
    private let tokenTime: Duration
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private let logger: Logger

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - passwords: the check of passwords, with which signatures share the limits of failures.
    ///   - key: makes the identifiers of sessions. Under another key they are refused.
    ///   - tokenTime: how long a token may be used; whole seconds.
    package init(
        _ applications: any ApplicationRepository, sharingLimitsOf passwords: Authenticator, key: CredentialDigest.Key,
        tokenTime: Duration = Self.defaultTokenTime, clock: any RuntimeClock, metrics: GatewayMetrics, logger: Logger
    ) {
        self.applications = applications
        self.passwords = passwords
        self.key = key
        self.tokenTime = tokenTime
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    // MARK: - Tokens

    /// Checks that the application of this name has signed a request.
    ///
    /// - Parameters:
    ///   - signature: HMAC-SHA1 of the body under the application's secret in hexadecimal digits (spidr-wire §2), or
    ///     HMAC-SHA256 [+]; `nil`: there is none.
    ///   - address: where the request comes from; `nil`: not known.
    /// - Throws: `auth.wrong_signature`, for an unknown application too; instead of it `auth.rate_limited` after too
    ///   many failures from the network; `auth.unavailable` if the database fails.
    func verify(
        _ signature: String?, of body: [UInt8], by name: String, from address: IPAddress?
    ) async throws(APIError) -> StoredApplication {
        let application = try await reading { () async throws(StorageError) in
            guard let name = ApplicationName(name) else { return nil as StoredApplication? }
            return try await applications.application(name)
        }
        // An unknown application costs as much time as a known one.
        let secrets = application?.secrets(at: clock.epochMilliseconds) ?? [Redacted("")]
        let digest = [UInt8](hexadecimal: signature ?? "") ?? []
        let isSigned = secrets.contains { secret in
            let key = Array(secret.value.utf8)
            return constantTimeEqual(
                digest,
                digest.count == Digest.sha256.size
                    ? HMAC.sha256(key: key, body.span) : HMAC.sha1(key: key, body.span))
        }
        guard isSigned, let application else {
            metrics.authenticationFailures[.token].increment()
            try await passwords.countForgery(from: address.map(SourceNetwork.init))
            throw APIError(.authWrongSignature, "The signature is not that of an application of this name.")
        }
        return application
    }

    /// Gives an application a token for a user of its domain.
    ///
    /// - Throws: `auth.unknown_subscriber` if there is no such user, the user is of another domain, or the application
    ///   may log nobody in; `service.unavailable` if the token cannot be kept.
    func issueToken(
        for request: AuthenticationTokenRequest, to application: StoredApplication
    ) async throws(APIError) -> String {
        let address = UserAddress(parsing: "\(request.subscriberId)@\(request.organizationId)")
        guard let user = address, user.domain == application.domain,
            application.profile.scopes.contains(.usersLogin)
        else { throw .unknownSubscriber }
        var random = SecureRandomSource()
        let token = random.nextBytes(Self.tokenSize).hexadecimal
        let now = clock.epochMilliseconds / 1_000
        let kept = ApplicationToken(
            digest: Self.digest(of: token), user: user, expires: now + tokenTime.components.seconds)
        do throws(StorageError) {
            try await applications.keep(kept, of: application.identity, limit: Self.tokenLimit, at: now)
        } catch {
            if case .noSuchUser = error { throw .unknownSubscriber }
            logger.error("a token of an application cannot be kept", metadata: [LogKey.error: "\(error)"])
            throw .journalUnavailable
        }
        return token
    }

    /// Takes a token in: it logs this user in, and nobody after that.
    ///
    /// - Throws: `auth.token_not_found` if there is no such token of this user, or it was used before;
    ///   `auth.token_expired`; instead of the first `auth.rate_limited` after too many failures from the network;
    ///   `auth.unavailable` if the database fails.
    func redeem(_ token: String, of user: UserAddress, from address: IPAddress?) async throws(APIError) {
        let expires = try await reading { () async throws(StorageError) in
            try await applications.take(Self.digest(of: token), of: user)
        }
        guard let expires else {
            metrics.authenticationFailures[.token].increment()
            try await passwords.countForgery(from: address.map(SourceNetwork.init))
            throw APIError(.authTokenNotFound, "There is no such token of this user; a token can be used once.")
        }
        guard clock.epochMilliseconds / 1_000 < expires else {
            metrics.authenticationFailures[.token].increment()
            throw APIError(.authTokenExpired, "The token has expired; get a new one.")
        }
    }

    // The token has 256 random bits: a plain hash hides it.
    private static func digest(of token: String) -> [UInt8] { Digest.sha256.hash(Array(token.utf8)) }

    // MARK: - Sessions

    /// The identifier of the session of a subscription that was made with a token.
    func session(of subscription: SubscriptionID, _ user: UserAddress) -> String {
        subscription.rawValue + String(Self.separator) + key.session(of: subscription, user).hexadecimal
    }

    /// The subscription whose session a request names.
    ///
    /// - Parameters:
    ///   - session: the value of `x-session`.
    ///   - address: where the request comes from; `nil`: not known.
    /// - Returns: the subscription, which may have ended; `nil`: the text is no identifier of a session.
    /// - Throws: `auth.session_ended` if the session is not this user's, or was made under another key; instead of it
    ///   `auth.rate_limited` after too many failures from the network.
    func subscription(
        of session: String, _ user: UserAddress, from address: IPAddress?
    ) async throws(APIError) -> SubscriptionID? {
        guard let end = session.firstIndex(of: Self.separator) else { return nil }
        let subscription = SubscriptionID(String(session[..<end]))
        let digest = [UInt8](hexadecimal: String(session[end...].dropFirst())) ?? []
        guard constantTimeEqual(digest, key.session(of: subscription, user)) else {
            metrics.authenticationFailures[.token].increment()
            try await passwords.countForgery(from: address.map(SourceNetwork.init))
            throw .sessionEnded
        }
        return subscription
    }

    private func reading<Value>(_ read: () async throws(StorageError) -> Value) async throws(APIError) -> Value {
        do throws(StorageError) {
            return try await read()
        } catch {
            logger.error("applications cannot be read", metadata: [LogKey.error: "\(error)"])
            throw .unavailable
        }
    }
}

extension APIError {
    /// The refusal of a session of a subscription that has ended, or of nothing.
    static let sessionEnded = APIError(
        .authSessionEnded, "The session has ended: register with a new token of the application.")

    fileprivate static let unknownSubscriber = APIError(
        .authUnknownSubscriber, "There is no such user in the domain of this application.")
}
