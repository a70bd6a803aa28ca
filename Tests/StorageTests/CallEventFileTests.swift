import CallControl
import CallRuntime
import Foundation
import Logging
import Testing

import Storage

@Suite struct CallEventFileTests {
    private let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// Runs `body` with the path of a file that does not exist yet, and cleans up.
    private func withPath(_ body: (String) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "events-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        try await body(folder.appending(path: "events.jsonl").path)
    }

    private func event(_ sequence: Int) -> LoggedEvent {
        LoggedEvent(
            call: CallID(0xAB), sequence: sequence, startedAt: 1_000, elapsed: .nanoseconds(sequence),
            event: CallEvent(.caller, .held))
    }

    /// One life of a gateway with these events.
    private func write(_ events: [LoggedEvent], to path: String) async throws {
        let file = try CallEventFile(path, logger: logger)
        for event in events { file.add(event) }
        file.finish()
        await file.run()
    }

    @Test func `each event is a line, and a restart appends`() async throws {
        try await withPath { path in
            try await write([event(1), event(2)], to: path)
            try await write([event(3)], to: path)
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let events = try text.split(separator: "\n").map {
                try JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8))
            }
            #expect(events == [event(1), event(2), event(3)])
            #expect(text.hasSuffix("\n"))
        }
    }

    @Test func `a file that was emptied meanwhile goes on at its beginning`() async throws {
        try await withPath { path in
            let file = try CallEventFile(path, logger: logger)
            file.add(event(1))
            async let running: Void = file.run()
            while try String(contentsOfFile: path, encoding: .utf8).isEmpty { await Task.yield() }
            try #require(FileHandle(forWritingAtPath: path)).truncate(atOffset: 0)
            file.add(event(2))
            file.finish()
            await running
            let text = try String(contentsOfFile: path, encoding: .utf8)
            #expect(try JSONDecoder().decode(LoggedEvent.self, from: Data(text.utf8)) == event(2))
        }
    }

    @Test func `the file is its owner's alone, and an impossible one is told at once`() async throws {
        try await withPath { path in
            try await write([], to: path)
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? NSNumber == 0o600)
            #expect(throws: StorageError.self) { _ = try CallEventFile(path + "/below", logger: logger) }
        }
    }
}
