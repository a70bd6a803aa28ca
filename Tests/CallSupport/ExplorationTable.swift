import Foundation
import TestSupport

/// The table in `docs/call-states.md` that says how far each exploration goes, and how many states it finds.
package enum ExplorationTable {
    /// What is wrong with a row; `nil` if it says what the walks have found.
    ///
    /// - Parameters:
    ///   - row: what stands in its first column.
    ///   - walks: the row has the sum of their states, and the steps of the longest.
    ///   - isDeep: the row says it after "deep: ".
    package static func fault(in row: String, _ walks: [Exploration], isDeep: Bool = false) throws -> String? {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/call-states.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("| \(row) |") }) else {
            return "docs/call-states.md has no row \"\(row)\""
        }
        let steps = walks.map(\.depth).max() ?? 0
        let states = walks.map(\.states).reduce(0, +)
        let isSaid = line.matches(of: /(deep: )?([0-9]+) steps, ([0-9,]+) states/).contains { found in
            (found.output.1 != nil) == isDeep && Int(found.output.2) == steps
                && Int(found.output.3.filter { $0 != "," }) == states
        }
        guard !isSaid else { return nil }
        return
            "docs/call-states.md is stale: \"\(row)\" is now \(isDeep ? "deep: " : "")\(steps) steps, \(states) states"
    }
}
