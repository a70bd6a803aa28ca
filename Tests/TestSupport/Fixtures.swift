package import Foundation

/// The files under `fixtures/`, found from this file's own place in the tree.
package enum Fixtures {
    package static let root = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "fixtures")

    package static func bytes(_ path: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: root.appending(path: path)))
    }

    package static func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// The files directly inside a folder, sorted by name. Traps if there are none: a test for each of no files would
    /// pass.
    package static func files(in folder: String) -> [String] {
        let files = anyFiles(in: folder)
        precondition(!files.isEmpty, "fixtures/\(folder) holds no files")
        return files
    }

    /// The same; empty when there is no such folder.
    package static func anyFiles(in folder: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path)) ?? []
        return names.filter { !$0.hasPrefix(".") && $0 != "README.md" }.sorted().map { folder + "/" + $0 }
    }
    /// What `scripts/fuzz` keeps for a target: inputs that reach much, and inputs that once trapped. Traps if there is
    /// no corpus.
    package static func fuzzInputs(_ target: String) throws -> [[UInt8]] {
        try (files(in: "fuzz/\(target)/corpus") + anyFiles(in: "fuzz/\(target)/crashes")).map { try bytes($0) }
    }
}
