package import Primitives

/// What a worker does with a packet, as far as the path tells over which the packet came.
package enum PathAdmission<Leg> {
    /// No leg claims the path. The packet may be of a peer whose address has changed.
    case stray
    /// Several legs claim the path: keys show whose packet it is.
    case contested
    /// The leg is on that worker, which the packet is passed on to.
    case elsewhere(WorkerIndex)
    /// The packet is for this leg, if its keys authenticate it. `isProven`: they have authenticated one that came over
    /// the path before.
    case here(Leg, isProven: Bool)
}

extension PathClaims {
    /// What is done with a packet that came over this path. Asked for every packet.
    @inlinable
    package func admission<Leg>(over path: Path) -> PathAdmission<Leg> where Place == LegPlace<Leg> {
        guard let holding = holdings[path] else { return .stray }
        guard !holding.isContested else { return .contested }
        switch holding.owner.place {
        case .elsewhere(let host): return .elsewhere(host)
        case .here(let leg): return .here(leg, isProven: holding.owner.isProven)
        }
    }
}
