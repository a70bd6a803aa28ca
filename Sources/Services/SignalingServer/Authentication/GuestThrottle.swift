package import Primitives

/// Limits how often guests come from one network, by a generic cell rate algorithm like that of ``LoginThrottle``.
///
/// Each new call, each new or extended subscription, and each other request whose token is refused is charged.
package struct GuestThrottle: Sendable {
    /// The limits.
    package struct Configuration: Equatable, Sendable {
        /// The rate for one network.
        package var network = LoginThrottle.Rate(burst: 20, interval: .seconds(5))
        /// How many networks are remembered. Those that owe least are forgotten first.
        package var capacity = 10_000

        /// Makes a configuration with the default values.
        package init() {}
    }

    private var networks: RateLimiter<SourceNetwork>

    /// Makes a throttle that has seen no guests.
    package init(_ configuration: Configuration = Configuration()) {
        networks = RateLimiter(configuration.network, capacity: configuration.capacity)
    }

    /// Charges the network for something that is about to start, unless it is refused.
    ///
    /// - Parameter network: where the guest comes from. `nil`: not known, and therefore not limited.
    package mutating func attempt(from network: SourceNetwork?, at now: MonotonicTime) -> LoginThrottle.Verdict {
        guard let network else { return .allowed }
        let wait = networks.wait(network, at: now)
        guard wait <= .zero else { return .refused(retryAfter: wait) }
        networks.charge(network, at: now)
        return .allowed
    }

    /// Charges the network for a token that was refused.
    package mutating func failed(from network: SourceNetwork?, at now: MonotonicTime) {
        if let network { networks.charge(network, at: now) }
    }
}
