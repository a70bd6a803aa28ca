package import CallControl
package import CallRuntime
package import GatewayAPI
package import Observability
package import Primitives

/// Where guests say whom they want to call, and are sent away if they come too often or with tokens that are none.
package actor GuestDesk {
    package struct Configuration: Sendable {
        package var policy = GuestPolicy()
        package var throttle = GuestThrottle.Configuration()

        package init() {}
    }

    /// Whether addresses in requests are tokens, too.
    nonisolated var readsTokens: Bool { policy.mode == .token }

    private let policy: GuestPolicy
    private let defaultDomain: String
    private let clock: any RuntimeClock
    private let metrics: GatewayMetrics
    private var throttle: GuestThrottle

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
    ///   - realm: the query `tokenrealm`.
    ///   - isBeginning: whether a subscription or a call begins.
    ///   - isCharged: whether the request counts for the source: what begins does, and what is extended.
    ///   - source: the client's address; see ``Requester``.
    package func account(
        _ text: String, realm: String?, isBeginning: Bool, isCharged: Bool, from source: IPAddress?
    ) throws(APIError) -> UserAddress {
        if policy.mode == .off { throw .anonymousNotOffered }
        let network = source.map(SourceNetwork.init)
        // What has begun goes on, whatever else comes from the same network.
        if isCharged, case .refused(let wait) = throttle.attempt(from: network, at: clock.now) {
            metrics.authenticationFailures[.throttled].increment()
            throw APIError(
                .anonymousRateLimited, "Too many anonymous calls from your address; wait before the next one.",
                retryAfter: wait)
        }
        return try address(text, realm: realm, isBeginning: isBeginning, isCharged: isCharged, from: network)
    }

    /// An address in the body of a request that begins a call.
    package func address(_ text: String, realm: String?, from source: IPAddress?) throws(APIError) -> UserAddress {
        try address(text, realm: realm, isBeginning: true, isCharged: true, from: source.map(SourceNetwork.init))
    }

    private func address(
        _ text: String, realm: String?, isBeginning: Bool, isCharged: Bool, from network: SourceNetwork?
    ) throws(APIError) -> UserAddress {
        do {
            return try policy.address(
                text, realm: realm, isBeginning: isBeginning, defaultDomain: defaultDomain,
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
