package import Primitives

/// What a worker remembers of legs that have moved to another worker: where to pass on the checks of their peers, which
/// still come here, and packets of their sources from unchecked addresses.
///
/// Only the worker that has a leg changes its entries. An entry of one worker is removed by another one only if the leg
/// is there now. The destination of their other packets is in `PathClaims`; a `Change` is applied to that, too.
package struct MovedLegs: Equatable, Sendable {
    /// A report of the worker that has a leg to those that had it.
    package enum Change: Equatable, Sendable {
        /// The leg is on the reporting worker now, with everything that belongs to it.
        case moved(LegNumber, fragments: [String], paths: [Path])
        /// A valid check of the leg has come over this path.
        case validated(LegNumber, Path)
        /// The leg's keys have authenticated a packet that came over this path.
        case proven(LegNumber, Path)
        /// Checks may name this username fragment from now on.
        case named(String)
        /// The leg's keys have authenticated packets of these sources.
        case heard(LegNumber, [SSRC])
        /// Packets of these sources are not looked for any more.
        case forgotten(LegNumber, [SSRC])
        /// These fragments and paths do not belong to the leg any more.
        case withdrawn(LegNumber, fragments: [String], paths: [Path])
    }

    /// A leg that has a source with this SSRC.
    private struct SourceHolder: Equatable {
        let leg: LegNumber
        var host: WorkerIndex
    }

    /// The most legs on which a source is looked for, since peers choose their SSRCs. Further legs are not found by it.
    package static let maximumHolders = 4

    private var byFragment: [String: WorkerIndex] = [:]
    private var bySource: [SSRC: [SourceHolder]] = [:]

    /// Makes an empty table.
    package init() {}

    /// Whether nothing is passed on to another worker.
    package var isEmpty: Bool { byFragment.isEmpty && bySource.isEmpty }

    /// The worker of the leg that a check with this fragment is for; `nil` if the leg was never here.
    package func host(of fragment: String) -> WorkerIndex? { byFragment[fragment] }

    /// The workers of the legs that have this source, each once.
    package func hosts(of source: SSRC) -> [WorkerIndex] {
        var hosts: [WorkerIndex] = []
        for holder in bySource[source] ?? [] where !hosts.contains(holder.host) { hosts.append(holder.host) }
        return hosts
    }

    /// Applies a report of the worker `host`.
    package mutating func apply(_ change: Change, by host: WorkerIndex) {
        switch change {
        case .moved(_, let fragments, _):
            for fragment in fragments { byFragment[fragment] = host }
        case .named(let fragment): byFragment[fragment] = host
        case .withdrawn(_, let fragments, _):
            for fragment in fragments where byFragment[fragment] == host { byFragment[fragment] = nil }
        case .heard(let leg, let sources):
            for source in sources { enter(source, of: leg, with: host) }
        case .forgotten(let leg, let sources): remove(sources, of: leg) { $0 == host }
        case .validated, .proven: break
        }
    }

    /// Removes all entries of a leg that is on this worker now.
    package mutating func remove(_ leg: LegNumber, fragments: [String], sources: [SSRC]) {
        for fragment in fragments { byFragment[fragment] = nil }
        remove(sources, of: leg) { _ in true }
    }

    private mutating func enter(_ source: SSRC, of leg: LegNumber, with host: WorkerIndex) {
        var holders = bySource[source] ?? []
        if let index = holders.firstIndex(where: { $0.leg == leg }) {
            holders[index].host = host
        } else if holders.count < Self.maximumHolders {
            holders.append(SourceHolder(leg: leg, host: host))
        }
        bySource[source] = holders
    }

    private mutating func remove(_ sources: [SSRC], of leg: LegNumber, if condition: (WorkerIndex) -> Bool) {
        for source in sources {
            guard var holders = bySource[source] else { continue }
            holders.removeAll { $0.leg == leg && condition($0.host) }
            bySource[source] = holders.isEmpty ? nil : holders
        }
    }
}
