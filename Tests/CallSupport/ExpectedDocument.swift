import Foundation
import TestSupport

/// A document under `docs/` that is written by the tests, from what they found.
package struct ExpectedDocument {
    private let path: String
    private let text: String

    /// - Parameters:
    ///   - path: Under `docs/`.
    ///   - author: The file of the test, with its module.
    package init(_ path: String, title: String, _ sections: [String], by author: String = #fileID) {
        self.path = path
        let module = author.prefix { $0 != "/" }
        let origin = "<!-- Written by \(module); do not edit. See docs/call-states.md for how to write it anew. -->"
        text = (["# \(title)", origin] + sections).joined(separator: "\n\n") + "\n"
    }

    /// What is wrong with the file; `nil` if it says what the tests found. With `ORBWEAVER_WRITE_EXPECTED`, the file is
    /// written first.
    package func fault() throws -> String? {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs").appending(path: path)
        if ProcessInfo.processInfo.environment["ORBWEAVER_WRITE_EXPECTED"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let written = (try? String(contentsOf: file, encoding: .utf8)) ?? ""  // a file that is not there is stale too
        guard written != text else { return nil }
        let (lines, expected) = (written.split(separator: "\n"), text.split(separator: "\n"))
        let stale = lines.difference(from: expected).map { change in
            switch change {
            case .insert(_, let line, _): "is to go: \(line)"
            case .remove(_, let line, _): "is missing: \(line)"
            }
        }
        return "docs/\(path) is stale; run with ORBWEAVER_WRITE_EXPECTED=1 and commit it. "
            + stale.prefix(10).joined(separator: "; ")
    }
}
