package import CallControl
package import Primitives

/// How often a password may be tried, per account and per source network.
///
/// Two rates hold at once, each a generic cell rate algorithm: a key owes one `interval` per failure, and is
/// refused while it owes more than `burst` of them. Attempts whose result is not known yet count as failures of
/// the account, so that many tries at once do not slip through; a right password gives its share back.
/// Addresses that were never registered are treated like those that were.
package struct LoginThrottle: Sendable {
    package struct Rate: Equatable, Sendable {
        /// Failures allowed in a row, at least 1.
        package var burst: Int
        /// Time after which one more failure is allowed.
        package var interval: Duration

        package init(burst: Int, interval: Duration) {
            self.burst = burst
            self.interval = interval
        }
    }

    package struct Configuration: Equatable, Sendable {
        package var account = Rate(burst: 5, interval: .seconds(10))
        /// Larger than for an account: an office may share one address.
        package var network = Rate(burst: 30, interval: .seconds(2))
        /// Keys remembered of each kind; the least indebted are forgotten first.
        package var capacity = 10_000

        package init() {}
    }

    /// A source as far as one customer line goes: an IPv4 address or an IPv6 /64.
    package struct Network: Hashable, Sendable {
        private let family: IPAddress.Family
        private let bits: UInt64

        package init(_ address: IPAddress) {
            let address = address.unmapped
            family = address.family
            bits = address.family == .v4 ? address.low : address.high
        }
    }

    package enum Verdict: Equatable, Sendable {
        case allowed
        case refused(retryAfter: Duration)
    }

    private let configuration: Configuration
    private var accounts: Debts<UserAddress>
    private var networks: Debts<Network>

    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        accounts = Debts(configuration.account, capacity: configuration.capacity)
        networks = Debts(configuration.network, capacity: configuration.capacity)
    }

    /// A password is about to be tried. After `.allowed`, ``succeeded(_:)`` or ``failed(_:from:at:)`` must follow.
    package mutating func attempt(_ account: UserAddress, from network: Network?, at now: MonotonicTime) -> Verdict {
        let wait = max(accounts.wait(account, at: now), network.map { networks.wait($0, at: now) } ?? .zero)
        guard wait <= .zero else { return .refused(retryAfter: wait) }
        accounts.charge(account, at: now)
        return .allowed
    }

    package mutating func succeeded(_ account: UserAddress) {
        accounts.refund(account)
    }

    package mutating func failed(_ account: UserAddress, from network: Network?, at now: MonotonicTime) {
        if let network { networks.charge(network, at: now) }
    }
}
