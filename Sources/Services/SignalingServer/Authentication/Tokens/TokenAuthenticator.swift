import CallControl
package import CallRuntime
package import GatewayAPI
package import Logging
package import Observability
package import Primitives
import Sockets

/// Decides which user makes a request that has a bearer token (spidr-wire §2, RFC 6750).
///
/// A token is checked with each request, which takes microseconds. That its user has an account is remembered for as
/// long as a changed password may still be accepted.
package final class TokenAuthenticator: Sendable {
    /// Whom a request is from, by its token.
    package typealias Bearer = TokenPolicy.Bearer

    private let policy: TokenPolicy
    private let keys: TokenKeyFile
    private let users: any UserRepository
    private let passwords: Authenticator
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let known = Lock(KnownUsers())

    /// Users who have an account.
    private struct KnownUsers {
        /// Until when it is believed of each that they have one.
        var until: [UserAddress: MonotonicTime] = [:]
        /// How often accounts have changed; an answer from before a change is not remembered.
        var changes = 0
    }

    /// How many users are known at a time; beyond that, all are looked up again.
    private static let knownLimit = 10_000

    /// Makes an authenticator.
    ///
    /// - Parameters:
    ///   - users: the stored accounts.
    ///   - passwords: the check of passwords, with which tokens share the limits of failures.
    package init(
        _ policy: TokenPolicy, keys: TokenKeyFile, users: any UserRepository, sharingLimitsOf passwords: Authenticator,
        clock: any RuntimeClock, metrics: GatewayMetrics, logger: Logger
    ) {
        self.policy = policy
        self.keys = keys
        self.users = users
        self.passwords = passwords
        self.clock = clock
        self.metrics = metrics
        self.logger = logger
    }

    /// The token in an `Authorization` header; `nil` if its scheme is not Bearer. The scheme is compared without case.
    package static func token(in header: String?) -> String? {
        guard let header else { return nil }
        let scheme = header.prefix { $0 != " " }
        guard scheme.lowercased() == "bearer" else { return nil }
        return String(header[scheme.endIndex...].drop { $0 == " " })
    }

    /// The user whom a token is for.
    ///
    /// - Parameters:
    ///   - token: the token as it was sent.
    ///   - address: where the request comes from; `nil`: not known.
    /// - Throws: `auth.invalid_token` or `auth.token_expired` for a token that is not accepted; instead of them
    ///   `auth.rate_limited` after too many failures from the network; `auth.unavailable` if the database fails. A
    ///   token that is right is accepted whatever has failed before, since nobody guesses a signature.
    package func authenticate(_ token: String, from address: IPAddress?) async throws(APIError) -> Bearer {
        let bearer: Bearer
        do throws(TokenError) {
            bearer = try policy.bearer(
                of: token, keys: keys.keys(), defaultDomain: passwords.defaultDomain,
                atUnixMilliseconds: clock.epochMilliseconds)
        } catch {
            metrics.authenticationFailures[.token].increment()
            if !error.isGenuine { try await passwords.countForgery(from: address.map(SourceNetwork.init)) }
            throw error.refusal
        }
        guard try await exists(bearer.user) else {
            metrics.authenticationFailures[.unknownUser].increment()
            throw TokenError.unknownUser.refusal
        }
        return bearer
    }

    /// Checks the token with which a channel of a user is opened or asked (spidr-wire §2, `access_token`).
    ///
    /// - Throws: as ``authenticate(_:from:)``; `auth.wrong_user` for the token of another user.
    func check(_ token: String, isOf user: UserAddress, from address: IPAddress?) async throws(APIError) {
        guard try await authenticate(token, from: address).user == user else {
            throw APIError(.authWrongUser, "The token belongs to another user than the path.")
        }
    }

    /// Notes that accounts have changed: each user's is looked up again.
    package func accountsChanged() {
        known.withLock { $0 = KnownUsers(changes: $0.changes + 1) }
    }

    private func exists(_ user: UserAddress) async throws(APIError) -> Bool {
        let now = clock.now
        let (isKnown, changes) = known.withLock { ($0.until[user].map { now < $0 } ?? false, $0.changes) }
        if isKnown { return true }
        do throws(StorageError) {
            guard try await users.user(user) != nil else { return false }
        } catch {
            logger.error("user cannot be read", metadata: [LogKey.error: "\(error)"])
            throw .unavailable
        }
        known.withLock {
            guard $0.changes == changes else { return }
            if $0.until.count >= Self.knownLimit { $0.until = [:] }
            $0.until[user] = now + passwords.revalidation
        }
        return true
    }
}
