import Foundation
import TestSupport
import Testing

import Gateway

/// Holds `docs/configuration.md` and the table of settings together.
@Suite struct ConfigurationDocumentTests {
    private let document: String

    init() throws {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/configuration.md")
        document = try String(contentsOf: file, encoding: .utf8)
    }

    @Test func `the sample names every setting and says its default`() throws {
        let sample = try #require(
            document.split(separator: "```yaml\n").dropFirst().first?.split(separator: "\n```").first)
        let file = FileManager.default.temporaryDirectory.appending(path: "sample-\(UUID().uuidString).yaml")
        try Data(sample.utf8).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        let result = try ConfigurationLoader(file: file.path).load()
        #expect(Set(result.sources.keys) == Set(ConfigurationKey.all.map(\.path)))
        #expect(result.configuration.yaml() == GatewayConfiguration().yaml())
    }

    @Test func `the environment variables it names exist`() {
        let names = Set(ConfigurationKey.all.map(\.environmentName)).union(["ORBWEAVER_CONFIG", "ORBWEAVER_PASSWORD"])
        let words = document.split { !($0.isLetter || $0 == "_") }.filter {
            $0.hasPrefix("ORBWEAVER_") && $0.count > 10
        }
        #expect(!words.isEmpty)
        for word in words { #expect(names.contains(String(word)), "\(word)") }
    }

    @Test func `no two settings share a name in the environment`() {
        let names = ConfigurationKey.all.map(\.environmentName)
        #expect(Set(names).count == names.count)
    }

    @Test func `every default is a value that its own setting accepts`() throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "defaults-\(UUID().uuidString).yaml")
        try Data(GatewayConfiguration().yaml().utf8).write(to: file)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: file) } }
        #expect(throws: Never.self) { try ConfigurationLoader(file: file.path).load() }
    }
}
