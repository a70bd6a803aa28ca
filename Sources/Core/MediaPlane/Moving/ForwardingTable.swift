package import Primitives

/// What is left of legs on a worker that they have moved away from: where their peers' checks go, which still come here.
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
        /// Not the leg's any more.
        case withdrawn(LegNumber, fragments: [String], paths: [Path])
    }

    private var byFragment: [String: WorkerIndex] = [:]

    package init() {}

    package var isEmpty: Bool { byFragment.isEmpty }

    /// Who has the leg that a check with this fragment is for; `nil` if it is none that was here.
    package func host(of fragment: String) -> WorkerIndex? { byFragment[fragment] }

    package mutating func apply(_ change: Change, by host: WorkerIndex) {
        switch change {
        case .moved(_, let fragments, _):
            for fragment in fragments { byFragment[fragment] = host }
        case .named(let fragment): byFragment[fragment] = host
        case .withdrawn(_, let fragments, _):
            for fragment in fragments where byFragment[fragment] == host { byFragment[fragment] = nil }
        case .validated, .proven: break
        }
    }

    /// A leg is here: whatever was said of it before.
    package mutating func remove(fragments: [String]) {
        for fragment in fragments { byFragment[fragment] = nil }
    }
}
