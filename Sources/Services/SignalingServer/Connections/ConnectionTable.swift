package import Observability
package import Primitives

/// The open connections of one port by client network; decides which connection gives way when there are too many.
///
/// There are two limits. A notification channel counts for the port only: it needs a subscription, of which each
/// account has few, so an office of any size may have its phones behind one address. All other connections count for
/// their address as well, since every client can open them. A connection beyond a limit takes the place of the one for
/// which the gateway has waited longest: of the same address if that has too many, otherwise of the address with the
/// most. So no client can keep others out by opening connections and leaving them idle.
package struct ConnectionTable: Sendable {
    /// The limits of one port.
    package struct Configuration: Equatable, Sendable {
        /// How many connections may be open at a time.
        package var maximum: Int
        /// How many connections of one IPv4 address or IPv6 /64 may be open at a time, without notification channels.
        package var perNetwork: Int

        /// Makes limits of their parts.
        package init(maximum: Int, perNetwork: Int) {
            self.maximum = maximum
            self.perNetwork = perNetwork
        }
    }

    /// Names a connection; unique within the port.
    package typealias ID = UInt64

    /// Whether a connection is admitted.
    package enum Verdict: Equatable, Sendable {
        /// It is admitted. The connections named are no longer in the table and must be closed.
        case admitted(inPlaceOf: [ID])
        /// It is refused: a limit is reached, and no connection can give way.
        case refused(ConnectionRefusal)
    }

    private let configuration: Configuration
    private var networks: [ID: SourceNetwork] = [:]
    /// The connections that are not notification channels.
    private var plain: [SourceNetwork: Set<ID>] = [:]

    /// Makes an empty table.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// How many connections are open, notification channels included.
    package var count: Int { networks.count }

    /// Decides about a new connection.
    ///
    /// - Parameters:
    ///   - isProxy: whether the peer is a trusted reverse proxy, whose connections are those of many clients. Then only
    ///     the limit of the port applies.
    ///   - waitingSince: the uptime at which the gateway started to wait for a client to send a request, to send the
    ///     rest of one, or to read. `nil` while the gateway works for that client.
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

    /// Counts a connection for another network, since its proxy has told for which client it is.
    ///
    /// The port has admitted the connection already, so only the limit per address can refuse it.
    ///
    /// - Parameters:
    ///   - isProxy: whether that network is one of trusted proxies, to which the limit does not apply.
    ///   - waitingSince: as for ``admit(_:from:isProxy:waitingSince:)``.
    package mutating func attribute(
        _ id: ID, to network: SourceNetwork, isProxy: Bool = false, waitingSince: (ID) -> UInt64?
    ) -> Verdict {
        // It may have given way to another one meanwhile.
        guard remove(id) else { return .admitted(inPlaceOf: []) }
        var leaving: [ID] = []
        if !isProxy, let own = plain[network], own.count >= configuration.perNetwork {
            leaving = Self.longestWaited([own], waitingSince, atMost: 1 + configuration.perNetwork / Self.batch)
            guard !leaving.isEmpty else { return .refused(.address) }
        }
        for id in leaving { remove(id) }
        networks[id] = network
        plain[network, default: []].insert(id)
        return .admitted(inPlaceOf: leaving)
    }

    /// Counts the connection as a notification channel.
    package mutating func becameChannel(_ id: ID) {
        guard let network = networks[id] else { return }
        removePlain(id, network)
    }

    /// Removes a connection that was closed.
    ///
    /// - Returns: `false` if it was not in the table any more.
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

    /// One search makes room for this part of the limit, so that a flood does not cost a search for each connection.
    private static let batch = 64

    /// The connections that give way: those of the address with the most connections, the longest awaited first.
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
        // An address with fewer connections keeps them while the one with the most can still give way.
        return candidates.prefix(count).prefix { $0.share == share }.map(\.id)
    }
}
