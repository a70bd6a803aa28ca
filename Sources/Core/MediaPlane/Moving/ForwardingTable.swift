package import Primitives

/// What is left of legs on a worker that they have moved away from: where their packets go, which their peers go on sending here.
///
/// Only the worker that has a leg says what becomes of it. What one worker said another cannot take back, unless the leg is there now.
package struct ForwardingTable: Equatable, Sendable {
    /// What the worker that has a leg tells those that had it.
    package enum Change: Equatable, Sendable {
        /// It is with the sender now, with everything that is its own.
        case moved(fragments: [String], paths: [Path])
        /// An authenticated check has come over this path.
        case validated(Path)
        /// Checks may name this fragment from now on.
        case named(String)
        /// Nobody's any more.
        case withdrawn(fragments: [String], paths: [Path])
    }

    private var byFragment: [String: WorkerIndex] = [:]
    private var byPath: [Path: WorkerIndex] = [:]

    package init() {}

    package var isEmpty: Bool { byFragment.isEmpty && byPath.isEmpty }

    /// Who has the leg that a check with this fragment is for; `nil` if it is none that was here.
    package func host(of fragment: String) -> WorkerIndex? { byFragment[fragment] }

    /// Who has the leg whose peer sends over this path; `nil` if no check has authenticated it.
    package func host(of path: Path) -> WorkerIndex? { byPath[path] }

    package mutating func apply(_ change: Change, by host: WorkerIndex) {
        switch change {
        case .moved(let fragments, let paths):
            for fragment in fragments { byFragment[fragment] = host }
            for path in paths { byPath[path] = host }
        case .validated(let path): byPath[path] = host
        case .named(let fragment): byFragment[fragment] = host
        case .withdrawn(let fragments, let paths):
            for fragment in fragments where byFragment[fragment] == host { byFragment[fragment] = nil }
            for path in paths where byPath[path] == host { byPath[path] = nil }
        }
    }

    /// A leg is here, or somebody who is has taken these over: whatever was said of them before.
    package mutating func remove(fragments: [String] = [], paths: [Path]) {
        for fragment in fragments { byFragment[fragment] = nil }
        for path in paths { byPath[path] = nil }
    }
}
