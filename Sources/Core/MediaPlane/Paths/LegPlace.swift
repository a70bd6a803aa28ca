import Primitives

/// The place of the leg that a path belongs to, as a worker sees it.
package enum LegPlace<LegID> {
    /// The leg is on this worker.
    case here(LegID)
    /// The leg is on that worker; packets are passed on to it.
    case elsewhere(WorkerIndex)

    private func isElsewhere(with host: WorkerIndex) -> Bool {
        if case .elsewhere(host) = self { true } else { false }
    }

    /// Applies what the worker of a leg reports about the leg's paths. A late report of a former host has no effect.
    package static func apply(_ change: MovedLegs.Change, by host: WorkerIndex, to claims: inout PathClaims<Self>) {
        switch change {
        case .moved(let leg, _, let paths):
            for path in paths { claims.claim(path, by: leg, at: .elsewhere(host)) }
        case .validated(let leg, let path): claims.claim(path, by: leg, at: .elsewhere(host))
        case .proven(let leg, let path): claims.prove(path, by: leg)
        case .withdrawn(let leg, _, let paths):
            for path in paths { claims.withdraw(path, by: leg) { $0.isElsewhere(with: host) } }
        case .named, .heard, .forgotten: break
        }
    }
}
