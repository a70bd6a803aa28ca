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

    /// Makes a guest authenticator.
    ///
    /// - Parameter defaultDomain: completes addresses without a domain.
    package init(
        _ configuration: Configuration, defaultDomain: String, clock: any RuntimeClock, metrics: GatewayMetrics
    ) {
        policy = configuration.policy
        throttle = GuestThrottle(configuration.throttle)
        self.defaultDomain = defaultDomain
        self.clock = clock
        self.metrics = metrics
    }

    /// The account that the path of a request names.
    ///
    /// - Parameters:
    ///   - text: the `{user}` segment of the path, an address or a token.
    ///   - realm: the query `tokenrealm`; `nil` if there is none.
    ///   - isStart: whether a subscription or a call starts.
    ///   - isCharged: whether the request counts for its network. Requests that start something count, and those that
    ///     extend a subscription.
    ///   - source: the client's address; see ``Requester``.
    /// - Throws: `anonymous.not_offered`; `anonymous.rate_limited` if too many requests came from the network;
    ///   otherwise as ``GuestPolicy/address(_:realm:isStart:defaultDomain:atUnixMilliseconds:)``.
    package func account(
        _ text: String, realm: String?, isStart: Bool, isCharged: Bool, from source: IPAddress?
    ) throws(APIError) -> UserAddress {
        if policy.mode == .off { throw .anonymousNotOffered }
        let network = source.map(SourceNetwork.init)
        // A call or subscription that exists goes on, whatever else comes from the same network.
        if isCharged, case .refused(let wait) = throttle.attempt(from: network, at: clock.now) {
            metrics.authenticationFailures[.throttled].increment()
            throw APIError(
                .anonymousRateLimited, "Too many anonymous calls from your address; wait before the next one.",
                retryAfter: wait)
        }
        return try address(text, realm: realm, isStart: isStart, isCharged: isCharged, from: network)
    }

    /// An address in the body of a request that starts a call.
    ///
    /// - Throws: as ``GuestPolicy/address(_:realm:isStart:defaultDomain:atUnixMilliseconds:)``.
    package func address(_ text: String, realm: String?, from source: IPAddress?) throws(APIError) -> UserAddress {
        try address(text, realm: realm, isStart: true, isCharged: true, from: source.map(SourceNetwork.init))
    }

    private func address(
        _ text: String, realm: String?, isStart: Bool, isCharged: Bool, from network: SourceNetwork?
    ) throws(APIError) -> UserAddress {
        do {
            return try policy.address(
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
