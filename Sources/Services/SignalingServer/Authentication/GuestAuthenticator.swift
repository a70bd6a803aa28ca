package import CallControl
package import CallRuntime
package import GatewayAPI
package import Observability
package import Primitives

/// Decides whether a guest's request is admitted, and which account it names. Guests are refused if they come too
/// often, or if their tokens are invalid (spidr-wire §7).
package actor GuestAuthenticator {
    /// How guests are admitted.
    package struct Configuration: Sendable {
        /// Whether guests are admitted, and how they name an account.
        package var policy = GuestPolicy()
        /// How often guests may come from one network.
        package var throttle = GuestThrottle.Configuration()

        /// Makes a configuration in which guests are refused.
        package init() {}
    }

    /// Whether the addresses in requests are tokens, too.
    nonisolated var readsTokens: Bool { policy.mode == .token }

    private let policy: GuestPolicy
    private let defaultDomain: String
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private var throttle: GuestThrottle
    private var usedTokens: UsedTokens

    /// Makes a guest authenticator.
    ///
    /// - Parameters:
    ///   - defaultDomain: completes addresses without a domain.
    ///   - usedTokens: the single-use tokens that guests have come with before.
    package init(
        _ configuration: Configuration, defaultDomain: String, usedTokens: [UsedToken] = [], clock: any RuntimeClock,
        metrics: GatewayMetrics
    ) {
        self.usedTokens = UsedTokens(known: usedTokens)
        policy = configuration.policy
        throttle = GuestThrottle(configuration.throttle)
        self.defaultDomain = defaultDomain
        self.clock = clock
        self.metrics = metrics
    }

    /// The account that the path of a request names, and the token that stands for it.
    ///
    /// - Parameters:
    ///   - text: the `{user}` segment of the path, an address or a token.
    ///   - realm: the query `tokenrealm`; `nil` if there is none.
    ///   - isStart: whether a subscription or a call starts.
    ///   - isCharged: whether the request counts for its network. Requests that start something count, and those that
    ///     extend a subscription.
    ///   - source: the client's address; see ``Requester``.
    /// - Throws: `anonymous.not_offered`; `anonymous.rate_limited` if too many requests came from the network;
    ///   otherwise as ``GuestPolicy/pass(_:realm:isStart:defaultDomain:atUnixMilliseconds:)``.
    package func account(
        _ text: String, realm: String?, isStart: Bool, isCharged: Bool, from source: IPAddress?
    ) throws(APIError) -> GuestPolicy.Pass {
        if policy.mode == .off { throw .anonymousNotOffered }
        let network = source.map(SourceNetwork.init)
        // A call or subscription that exists goes on, whatever else comes from the same network.
        if isCharged, case .refused(let wait) = throttle.attempt(from: network, at: clock.now) {
            metrics.authenticationFailures[.throttled].increment()
            throw APIError(
                .anonymousRateLimited, "Too many anonymous calls from your address; wait before the next one.",
                retryAfter: wait)
        }
        return try pass(text, realm: realm, isStart: isStart, isCharged: isCharged, from: network)
    }

    /// An address in the body of a request that starts a call.
    ///
    /// - Throws: as ``GuestPolicy/pass(_:realm:isStart:defaultDomain:atUnixMilliseconds:)``.
    package func address(_ text: String, realm: String?, from source: IPAddress?) throws(APIError) -> UserAddress {
        try pass(text, realm: realm, isStart: true, isCharged: true, from: source.map(SourceNetwork.init)).address
    }

    /// Notes that a new guest comes with a token, if that can be used once only. Once the guest is admitted, it is to
    /// be added to the journal.
    ///
    /// - Returns: the token as it is noted, for the journal or ``giveBack(_:)``; `nil`: it can be used again.
    /// - Throws: `anonymous.token_expired` if a guest has come with it before.
    package func use(_ token: SignedCallMeToken?, of realm: String?) throws(APIError) -> UsedToken? {
        guard let token, let realm, let identifier = token.singleUse else { return nil }
        let used = UsedToken(realm: realm, identifier: identifier, expiresAt: token.expiresAt)
        guard usedTokens.use(used, at: clock.epochMilliseconds) else {
            metrics.authenticationFailures[.token].increment()
            throw APIError(.anonymousTokenExpired, "The token can be used once, and has been used; get a new one.")
        }
        return used
    }

    /// Lets a token be used that no guest came with after all.
    package func giveBack(_ token: UsedToken?) {
        if let token { usedTokens.giveBack(token) }
    }

    private func pass(
        _ text: String, realm: String?, isStart: Bool, isCharged: Bool, from network: SourceNetwork?
    ) throws(APIError) -> GuestPolicy.Pass {
        do {
            return try policy.pass(
                text, realm: realm, isStart: isStart, defaultDomain: defaultDomain,
                atUnixMilliseconds: clock.epochMilliseconds)
        } catch {
            if policy.mode == .token {
                if !isCharged { throttle.failed(from: network, at: clock.now) }
                metrics.authenticationFailures[.token].increment()
            }
            throw error
        }
    }
}
