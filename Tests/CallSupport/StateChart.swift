/// Transitions between named states that were seen, with what brought them about.
package struct StateChart: Sendable {
    private struct Edge: Hashable, Sendable {
        let from: String
        let to: String
    }

    /// The title of the section.
    package let title: String
    private var causes: [Edge: Set<String>] = [:]

    /// Makes a chart without transitions.
    package init(_ title: String) { self.title = title }

    /// Notes a transition. One that leads to the same state is left out.
    package mutating func note(_ cause: @autoclosure () -> String, from: String, to: String) {
        guard from != to else { return }
        causes[Edge(from: from, to: to), default: []].insert(cause())
    }

    /// Merges what another exploration has seen.
    package mutating func add(_ other: StateChart) { causes.merge(other.causes) { $0.union($1) } }

    /// A diagram as Mermaid draws it, its lines in an order that does not depend on how they were found.
    ///
    /// - Parameter order: of the states; any other comes after them.
    package func section(_ order: [String]) -> String {
        let place = { (state: String) in order.firstIndex(of: state) ?? order.count }
        let edges = causes.sorted { a, b in
            (place(a.key.from), a.key.from, place(a.key.to), a.key.to) < (
                place(b.key.from), b.key.from, place(b.key.to), b.key.to
            )
        }
        let lines = edges.map { edge, causes in
            "    \(edge.from) --> \(edge.to) : \(causes.sorted().joined(separator: "<br/>"))"
        }
        let ends = ["    [*] --> \(order.first ?? "")", "    \(order.last ?? "") --> [*]"]
        return (["## \(title)", "", "```mermaid", "stateDiagram-v2", ends[0]] + lines + [ends[1], "```"]).joined(
            separator: "\n")
    }
}
