package import Primitives

/// How often guests may come from one network: a generic cell rate algorithm like ``LoginThrottle``'s, which charges for every
/// subscription, also when it is extended, and every call, and for requests inside them whose token is refused.
package struct GuestThrottle: Sendable {
    package struct Configuration: Equatable, Sendable {
        package var network = LoginThrottle.Rate(burst: 20, interval: .seconds(5))
        /// Networks remembered; the least indebted are forgotten first.
        package var capacity = 10_000

        package init() {}
    }

    private var networks: Debts<SourceNetwork>

    package init(_ configuration: Configuration = Configuration()) {
        networks = Debts(configuration.network, capacity: configuration.capacity)
    }

    /// Something is about to begin, and is charged unless it is refused. A source that is not known cannot be limited.
    package mutating func attempt(from network: SourceNetwork?, at now: MonotonicTime) -> LoginThrottle.Verdict {
        guard let network else { return .allowed }
        let wait = networks.wait(network, at: now)
        guard wait <= .zero else { return .refused(retryAfter: wait) }
        networks.charge(network, at: now)
        return .allowed
    }

    /// A token from there was refused.
    package mutating func failed(from network: SourceNetwork?, at now: MonotonicTime) {
        if let network { networks.charge(network, at: now) }
    }
}
