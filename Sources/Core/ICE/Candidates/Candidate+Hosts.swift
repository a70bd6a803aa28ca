package import Primitives

extension Candidate {
    /// The priority of a candidate by the formula of RFC 8445 §5.1.2.1.
    ///
    /// - Parameters:
    ///   - kind: The type of the candidate.
    ///   - localPreference: 0…65,535, unique among the host candidates of one component.
    ///   - component: 1…256; another number traps.
    package static func priority(of kind: Kind, localPreference: UInt16, component: Int) -> UInt32 {
        precondition((1...256).contains(component), "component IDs are 1…256 (RFC 8839 §5.1)")
        return kind.typePreference << 24 | UInt32(localPreference) << 8 | UInt32(256 - component)
    }

    /// The host candidates of a gateway with these addresses, preferred ones first: UDP, then TCP.
    ///
    /// IPv6 and IPv4 addresses alternate, IPv6 first (RFC 8421 §4); within a family the given order counts. Loopback
    /// addresses come after all others of the same transport, since only peers on this machine reach them. Unspecified
    /// addresses and repetitions are left out.
    package static func hosts(for addresses: [SocketAddress], tcp listeners: [SocketAddress] = []) -> [Candidate] {
        let datagrams = interleaved(addresses)
        let bases = distinct(datagrams.map(\.address))
        return zip(datagrams, UInt16(0)...).map { address, index in
            host(address, .udp, foundation: foundation(of: address, in: bases), localPreference: UInt16.max - index)
        } + passive(interleaved(listeners), foundationsAfter: bases.count)
    }

    /// The TCP candidates, all with `tcptype passive`: the peer opens the connection (RFC 6544 §4.1).
    private static func passive(_ listeners: [SocketAddress], foundationsAfter count: Int) -> [Candidate] {
        let bases = distinct(listeners.map(\.address))
        return zip(listeners, UInt16(0)...).map { address, index in
            // RFC 6544 §4.2: 2¹³ · direction preference + other preference. Passive host candidates have direction
            // preference 4. Their priority is thus below that of every host candidate over UDP.
            let localPreference = (4 << 13) + (0x1FFF - min(index, 0x1FFF))
            var candidate = host(
                address, .tcp, foundation: count + foundation(of: address, in: bases), localPreference: localPreference)
            candidate.extensions = [Extension("tcptype", "passive")]
            return candidate
        }
    }

    private static func host(_ address: SocketAddress, _ transport: Transport, foundation: Int, localPreference: UInt16)
        -> Candidate
    {
        Candidate(
            foundation: "\(foundation)",
            transport: transport,
            priority: priority(of: .host, localPreference: localPreference, component: 1),
            endpoint: Endpoint(.ip(address.address), port: address.port),
            kind: .host
        )
    }

    /// The foundation of a host candidate, one per base address and protocol (RFC 8445 §5.1.1.3).
    private static func foundation(of address: SocketAddress, in bases: [IPAddress]) -> Int {
        bases.firstIndex(of: address.address).map { $0 + 1 } ?? 0
    }

    private static func distinct(_ addresses: [IPAddress]) -> [IPAddress] {
        var seen: Set<IPAddress> = []
        return addresses.filter { seen.insert($0).inserted }
    }

    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var seen: Set<SocketAddress> = []
        let usable = addresses.filter { !$0.address.isUnspecified && seen.insert($0).inserted }
        return alternating(usable.filter { !$0.address.isLoopback }) + alternating(usable.filter(\.address.isLoopback))
    }

    private static func alternating(_ addresses: [SocketAddress]) -> [SocketAddress] {
        let six = addresses.filter { $0.address.family == .v6 }
        let four = addresses.filter { $0.address.family == .v4 }
        return (0..<max(six.count, four.count)).flatMap { turn in
            [six, four].compactMap { turn < $0.count ? $0[turn] : nil }
        }
    }
}

extension Candidate.Kind {
    /// The values that RFC 8445 §5.1.2.2 recommends; unknown types come last.
    fileprivate var typePreference: UInt32 {
        switch self {
        case .host: 126
        case .peerReflexive: 110
        case .serverReflexive: 100
        case .relayed, .other: 0
        }
    }
}
