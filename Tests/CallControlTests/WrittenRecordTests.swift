import CallControl
import Foundation
import TestSupport
import Testing

/// The written form of records: what was stored once can be read, and is written the same way.
struct WrittenRecordTests {
    private static let lines =
        (try? Fixtures.text("events/records.jsonl"))?.split(separator: "\n").map(String.init) ?? []

    private static func records() throws -> [CallLogRecord] {
        try lines.map { try JSONDecoder().decode(CallLogRecord.self, from: Data($0.utf8)) }
    }

    @Test(arguments: lines) func `a line that is read and written again is the same`(_ line: String) throws {
        let record = try JSONDecoder().decode(CallLogRecord.self, from: Data(line.utf8))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        #expect(String(decoding: try encoder.encode(record), as: UTF8.self) == line)
    }

    @Test func `every direction, side, event and kind of cause has a line`() throws {
        let records = try Self.records()
        #expect(Set(records.map(\.direction)) == Set(CallLogRecord.Direction.allCases))
        #expect(Set(records.map(\.endedBy)) == Set(CallSide.allCases))
        #expect(Set(records.flatMap(\.timeline).map(\.entry.event)) == Set(TimelineEntry.Event.allCases))
        let causes = records.compactMap(\.ending?.cause)
        #expect(causes.contains(.forwarded))
        #expect(causes.contains(.ended(.completed(by: .caller, reasonText: "bye"))))
        #expect(causes.contains(.transferFailed(.targetNotReached(cause: .drained))))
        #expect(records.contains { $0.ending == nil }, "a part of a record")
    }

    @Test func `a record of another version, or without a field, is refused`() throws {
        let line = try #require(Self.lines.first)
        for text in [
            line.replacingOccurrences(of: #""version":1"#, with: #""version":2"#),
            line.replacingOccurrences(of: #""user":"alice@example.com","#, with: ""),
        ] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(CallLogRecord.self, from: Data(text.utf8)) }
        }
    }

    @Test func `no value is without a name`() {
        #expect(Self.lines.allSatisfy { !$0.contains(#""_"#) })
    }
}
