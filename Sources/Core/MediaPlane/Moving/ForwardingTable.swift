package import Primitives

/// What is left of legs on a worker that they have moved away from: where their peers' checks go, which still come here, and packets of
/// their sources that come from addresses that nobody has checked.
///
/// Only the worker that has a leg says what becomes of it. What one worker said another cannot take back, unless the leg is there now.
/// Where their other packets go is in `PathClaims`, which a `Change` is applied to as well.
package struct ForwardingTable: Equatable, Sendable {
    /// What the worker that has a leg tells those that had it.
    package enum Change: Equatable, Sendable {
        /// It is with the sender now, with everything that is its own.
        case moved(LegNumber, fragments: [String], paths: [Path])
        /// A valid check of the leg has come over this path.
        case validated(LegNumber, Path)
        /// The leg's keys have authenticated what came over this path.
        case proven(LegNumber, Path)
        /// Checks may name this fragment from now on.
        case named(String)
        /// The leg's keys have authenticated packets of these sources.
        case heard(LegNumber, [SSRC])
        /// They are looked for no more.
        case forgotten(LegNumber, [SSRC])
        /// Not the leg's any more.
        case withdrawn(LegNumber, fragments: [String], paths: [Path])
    }

    /// A leg with a source of this number.
    private struct Namesake: Equatable {
        let leg: LegNumber
        var host: WorkerIndex
    }

    /// Legs that one source may be looked for on: whoever has a leg chooses its numbers. Further ones are not found by it.
    package static let maximumNamesakes = 4

    private var byFragment: [String: WorkerIndex] = [:]
    private var bySource: [SSRC: [Namesake]] = [:]

    package init() {}

    /// Nothing goes to another worker.
    package var isEmpty: Bool { byFragment.isEmpty && bySource.isEmpty }

    /// Who has the leg that a check with this fragment is for; `nil` if it is none that was here.
    package func host(of fragment: String) -> WorkerIndex? { byFragment[fragment] }

    /// Who has legs with this source, each once.
    package func hosts(of source: SSRC) -> [WorkerIndex] {
        var hosts: [WorkerIndex] = []
        for namesake in bySource[source] ?? [] where !hosts.contains(namesake.host) { hosts.append(namesake.host) }
        return hosts
    }

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

    /// A leg is here: whatever was said of it before.
    package mutating func remove(_ leg: LegNumber, fragments: [String], sources: [SSRC]) {
        for fragment in fragments { byFragment[fragment] = nil }
        remove(sources, of: leg) { _ in true }
    }

    private mutating func enter(_ source: SSRC, of leg: LegNumber, with host: WorkerIndex) {
        var namesakes = bySource[source] ?? []
        if let index = namesakes.firstIndex(where: { $0.leg == leg }) {
            namesakes[index].host = host
        } else if namesakes.count < Self.maximumNamesakes {
            namesakes.append(Namesake(leg: leg, host: host))
        }
        bySource[source] = namesakes
    }

    private mutating func remove(_ sources: [SSRC], of leg: LegNumber, if condition: (WorkerIndex) -> Bool) {
        for source in sources {
            guard var namesakes = bySource[source] else { continue }
            namesakes.removeAll { $0.leg == leg && condition($0.host) }
            bySource[source] = namesakes.isEmpty ? nil : namesakes
        }
    }
}
