import Foundation
import TestSupport
import Testing

/// A document under `docs/` that is written by the tests, from what they found.
struct ExpectedDocument {
    /// Under `docs/`.
    let path: String
    let text: String

    init(_ path: String, title: String, _ sections: [String]) {
        self.path = path
        let origin =
            "<!-- Written by CallControlTests; do not edit. See docs/call-states.md for how to write it anew. -->"
        text = (["# \(title)", origin] + sections).joined(separator: "\n\n") + "\n"
    }

    /// Compares with the file; writes it instead when `ORBWEAVER_WRITE_EXPECTED` is set.
    func check(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs").appending(path: path)
        if ProcessInfo.processInfo.environment["ORBWEAVER_WRITE_EXPECTED"] != nil {
            try Data(text.utf8).write(to: file)
        }
        let written = (try? String(contentsOf: file, encoding: .utf8)) ?? ""  // a file that is not there is stale too
        let (lines, expected) = (written.split(separator: "\n"), text.split(separator: "\n"))
        let stale = lines.difference(from: expected).map { change in
            switch change {
            case .insert(_, let line, _): "is to go: \(line)"
            case .remove(_, let line, _): "is missing: \(line)"
            }
        }
        let isCurrent = written == text
        #expect(
            isCurrent,
            "docs/\(path) is stale; run with ORBWEAVER_WRITE_EXPECTED=1 and commit it. \(stale.prefix(10).joined(separator: "; "))",
            sourceLocation: sourceLocation)
    }
}
