package import Primitives

/// The networks from which users have subscribed: how many subscriptions each holds, and how fast it makes new ones.
///
/// Guests are not counted here; ``GuestTable`` has a limit for them. A subscription counts for the network from which
/// it was made. One that a process has taken over from the last one counts for the network from which it is extended
/// first.
package struct NetworkTable: Equatable, Sendable {
    /// The limits for one network.
    package struct Configuration: Equatable, Sendable {
        /// The most subscriptions at a time, 1 or more.
        package var maximumSubscriptions: Int
        /// How fast new ones are made.
        package var rate: RateAllowance.Rate
        /// How many networks without a subscription are remembered, 2 or more. Those that owe least are forgotten
        /// first.
        package var capacity: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(
            maximumSubscriptions: Int = 20_000,
            rate: RateAllowance.Rate = .init(burst: 5_000, interval: .milliseconds(10)),
            capacity: Int = 10_000
        ) {
            self.maximumSubscriptions = maximumSubscriptions
            self.rate = rate
            self.capacity = capacity
        }
    }

    private struct Entry: Equatable, Sendable {
        var subscriptions = 0
        var starts = RateAllowance()
    }

    private let configuration: Configuration
    private var networks: [SourceNetwork: Entry] = [:]
    /// With so many networks, those are looked for that can be forgotten.
    private var nextCleanup: Int

    /// Makes a table of networks without subscriptions.
    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        nextCleanup = configuration.capacity
    }

    /// How many networks are remembered.
    package var count: Int { networks.count }

    /// Counts a subscription that is about to be made. What is refused is not counted.
    ///
    /// - Parameters:
    ///   - network: where it comes from. `nil`: not known, and therefore not limited.
    ///   - replacing: it takes the place of another one of the same user, so that a network which is full has room.
    /// - Throws: `limitOfNetwork` or `tooOftenFromNetwork`.
    package mutating func enter(
        _ network: SourceNetwork?, replacing: Bool = false, at now: MonotonicTime
    ) throws(RegistrationError) {
        guard let network else { return }
        if networks[network] == nil, networks.count >= nextCleanup { makeRoom(at: now) }
        var entry = networks[network] ?? Entry()
        guard replacing || entry.subscriptions < configuration.maximumSubscriptions else { throw .limitOfNetwork }
        if let wait = entry.starts.charge(configuration.rate, at: now) {
            throw .tooOftenFromNetwork(retryAfter: wait)
        }
        entry.subscriptions += 1
        networks[network] = entry
    }

    /// A subscription that was counted is not made after all.
    package mutating func withdraw(_ network: SourceNetwork?) {
        guard let network else { return }
        networks[network]?.starts.refund(configuration.rate)
        leave(network)
    }

    /// A subscription has ended.
    package mutating func leave(_ network: SourceNetwork) {
        guard var entry = networks[network], entry.subscriptions > 0 else { return }
        entry.subscriptions -= 1
        networks[network] = entry.subscriptions > 0 || entry.starts.clearAt != nil ? entry : nil
    }

    /// A subscription exists that has not been counted yet. The limits do not apply: what exists goes on.
    package mutating func found(_ network: SourceNetwork) { networks[network, default: Entry()].subscriptions += 1 }

    /// Forgets the networks that have no subscription and owe nothing; if those that remain without one are more than
    /// the capacity, the half that owes least.
    private mutating func makeRoom(at now: MonotonicTime) {
        networks = networks.filter { $0.value.subscriptions > 0 || $0.value.starts.clearAt.map { $0 > now } ?? false }
        let vacant = networks.filter { $0.value.subscriptions == 0 }
        if vacant.count >= configuration.capacity {
            let byDebt = vacant.sorted { ($0.value.starts.clearAt ?? now) < ($1.value.starts.clearAt ?? now) }
            for (network, _) in byDebt.prefix(vacant.count - configuration.capacity / 2) { networks[network] = nil }
        }
        nextCleanup = max(configuration.capacity, 2 * networks.count)
    }
}

/// A change of what a network holds.
package enum NetworkChange: Equatable, Sendable {
    /// A subscription that was not counted before counts for this network.
    case found(SourceNetwork)
    /// A subscription that counted for this network has ended.
    case left(SourceNetwork)
}
