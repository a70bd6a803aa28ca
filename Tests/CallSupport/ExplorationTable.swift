import Foundation
import TestSupport

/// The table in `docs/call-states.md` that says how far each exploration goes, and how many states it finds.
package enum ExplorationTable {
    /// Walks end at the same time, and may write the document.
    private static let lock = NSLock()

    /// What is wrong with a row; `nil` if it says what the walks have found. With `ORBWEAVER_WRITE_EXPECTED`, the
    /// numbers in the row are written first.
    ///
    /// - Parameters:
    ///   - row: what stands in its first column.
    ///   - walks: the row has the sum of their states, and the steps of the longest.
    ///   - isDeep: the row says it after "deep: ".
    package static func fault(in row: String, _ walks: [Exploration], isDeep: Bool = false) throws -> String? {
        try lock.withLock { try lockedFault(in: row, walks, isDeep: isDeep) }
    }

    private static func lockedFault(in row: String, _ walks: [Exploration], isDeep: Bool) throws -> String? {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/call-states.md")
        var text = try String(contentsOf: file, encoding: .utf8)
        let lines = text.split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("| \(row) |") }) else {
            return "docs/call-states.md has no row \"\(row)\""
        }
        let steps = walks.map(\.depth).max() ?? 0
        let states = walks.map(\.states).reduce(0, +)
        let said = line.matches(of: /(deep: )?([0-9]+) steps, ([0-9,]+) states/).filter {
            ($0.output.1 != nil) == isDeep
        }
        let isSaid = said.contains { found in
            Int(found.output.2) == steps && Int(found.output.3.filter { $0 != "," }) == states
        }
        guard !isSaid else { return nil }
        let found = "\(isDeep ? "deep: " : "")\(steps) steps, \(grouped(states)) states"
        if ProcessInfo.processInfo.environment["ORBWEAVER_WRITE_EXPECTED"] != nil, let place = said.first?.range {
            text.replaceSubrange(place, with: found)
            try Data(text.utf8).write(to: file)
            return nil
        }
        return "docs/call-states.md is stale: \"\(row)\" is now \(found); run with ORBWEAVER_WRITE_EXPECTED=1"
    }

    /// A number with a comma before each three digits.
    private static func grouped(_ number: Int) -> String {
        let digits = Array(String(number))
        return digits.indices.map { place in
            (place > 0 && (digits.count - place) % 3 == 0 ? "," : "") + String(digits[place])
        }.joined()
    }
}
