package import Primitives

extension Candidate {
    /// The formula of RFC 8445 §5.1.2.1.
    ///
    /// - Parameter localPreference: 0…65,535, unique among the host candidates of one component.
    package static func priority(of kind: Kind, localPreference: UInt16, component: Int) -> UInt32 {
        precondition((1...256).contains(component), "component IDs are 1…256 (RFC 8839 §5.1)")
        return kind.typePreference << 24 | UInt32(localPreference) << 8 | UInt32(256 - component)
    }

    /// The host candidates of a gateway with these addresses, most wanted first.
    ///
    /// IPv6 and IPv4 take turns, IPv6 first (RFC 8421 §4); within a family the order given counts. Addresses that say
    /// nothing, and repetitions, are left out.
    package static func hosts(for addresses: [SocketAddress]) -> [Candidate] {
        var foundations: [IPAddress] = []
        return interleaved(addresses).enumerated().map { index, address in
            if !foundations.contains(address.address) { foundations.append(address.address) }
            // One per base address (RFC 8445 §5.1.1.3): type and protocol are the same for all.
            let foundation = foundations.firstIndex(of: address.address).map { $0 + 1 } ?? 0
            let localPreference = UInt16(clamping: Int(UInt16.max) - index)
            return Candidate(
                foundation: "\(foundation)",
                priority: priority(of: .host, localPreference: localPreference, component: 1),
                endpoint: Endpoint(.ip(address.address), port: address.port),
                kind: .host
            )
        }
    }

    private static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
        var seen: Set<SocketAddress> = []
        let usable = addresses.filter { !$0.address.isUnspecified && seen.insert($0).inserted }
        let six = usable.filter { $0.address.family == .v6 }
        let four = usable.filter { $0.address.family == .v4 }
        return (0..<max(six.count, four.count)).flatMap { turn in [six, four].compactMap { turn < $0.count ? $0[turn] : nil } }
    }
}

extension Candidate.Kind {
    /// The values RFC 8445 §5.1.2.2 recommends; a type nobody knows comes last.
    fileprivate var typePreference: UInt32 {
        switch self {
        case .host: 126
        case .peerReflexive: 110
        case .serverReflexive: 100
        case .relayed, .other: 0
        }
    }
}
