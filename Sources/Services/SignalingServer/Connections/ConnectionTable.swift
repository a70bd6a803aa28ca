package import Observability
package import Primitives

/// The open connections of one port, whose they are, and who gives way when there are too many.
///
/// Two limits hold. A notification channel counts for the whole port only: it needs a subscription, of which each account
/// has few, so an office of any size may have its phones behind one address. Everything else counts for its address as
/// well, because anybody can open it. Whoever comes in excess takes the place of the connection that has been waited for
/// longest: of the same address if that has too many, otherwise of the address with the most. So nobody can keep others out by
/// opening connections and leaving them.
package struct ConnectionTable: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Connections at a time.
        package var maximum: Int
        /// Connections at a time of one IPv4 address or IPv6 /64, without channels.
        package var perNetwork: Int

        package init(maximum: Int, perNetwork: Int) {
            self.maximum = maximum
            self.perNetwork = perNetwork
        }
    }

    package typealias ID = UInt64

    package enum Verdict: Equatable, Sendable {
        /// The others named are no longer in the table and must be closed.
        case admitted(inPlaceOf: [ID])
        case refused(ConnectionRefusal)
    }

    private let configuration: Configuration
    private var networks: [ID: SourceNetwork] = [:]
    /// Those that are no channel.
    private var plain: [SourceNetwork: Set<ID>] = [:]

    package init(_ configuration: Configuration) { self.configuration = configuration }

    package var count: Int { networks.count }

    /// Somebody has connected.
    ///
    /// - Parameter waitingSince: when the gateway began to wait for that client, for a request, the rest of one, or for it to read;
    ///   `nil` while the gateway is at work for it.
    /// - Parameter isProxy: whether it is a reverse proxy, whose connections are those of many clients: then only the limit of the
    ///   port holds.
    package mutating func admit(
        _ id: ID, from network: SourceNetwork, isProxy: Bool = false, waitingSince: (ID) -> UInt64?
    ) -> Verdict {
        var leaving: [ID] = []
        if !isProxy, let own = plain[network], own.count >= configuration.perNetwork {
            leaving = Self.longestWaited([own], waitingSince, atMost: 1 + configuration.perNetwork / Self.batch)
            guard !leaving.isEmpty else { return .refused(.address) }
        } else if networks.count >= configuration.maximum {
            leaving = Self.longestWaited(plain.values, waitingSince, atMost: 1 + configuration.maximum / Self.batch)
            guard !leaving.isEmpty else { return .refused(.full) }
        }
        for id in leaving { remove(id) }
        networks[id] = network
        plain[network, default: []].insert(id)
        return .admitted(inPlaceOf: leaving)
    }

    /// The connection has become a notification channel.
    package mutating func becameChannel(_ id: ID) {
        guard let network = networks[id] else { return }
        removePlain(id, network)
    }

    /// The connection is closed; `false` if it is not in the table any more.
    @discardableResult
    package mutating func remove(_ id: ID) -> Bool {
        guard let network = networks.removeValue(forKey: id) else { return false }
        removePlain(id, network)
        return true
    }

    private mutating func removePlain(_ id: ID, _ network: SourceNetwork) {
        plain[network]?.remove(id)
        if plain[network]?.isEmpty == true { plain[network] = nil }
    }

    /// One look at all of them makes room for this part of the limit, so that a flood does not cost a look for each who comes.
    private static let batch = 64

    /// Of the address with the most connections first.
    private static func longestWaited(
        _ groups: some Collection<Set<ID>>, _ waitingSince: (ID) -> UInt64?, atMost count: Int
    ) -> [ID] {
        var candidates: [(id: ID, share: Int, since: UInt64)] = []
        for group in groups {
            for id in group {
                if let since = waitingSince(id) { candidates.append((id, group.count, since)) }
            }
        }
        candidates.sort { ($1.share, $0.since, $0.id) < ($0.share, $1.since, $1.id) }
        guard let share = candidates.first?.share else { return [] }
        // Whoever holds less than the greediest stays while the greediest has something to give.
        return candidates.prefix(count).prefix { $0.share == share }.map(\.id)
    }
}
