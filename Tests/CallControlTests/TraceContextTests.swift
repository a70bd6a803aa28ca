import CallControl
import Foundation
import Testing

/// The header `traceparent` (W3C Trace Context §3.2).
struct TraceContextTests {
    private static let ids = "4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

    @Test(arguments: [
        ("00-\(ids)-01", "00-\(ids)-01"), ("00-\(ids)-00", "00-\(ids)-00"), ("00-\(ids)-03", "00-\(ids)-03"),
        // Flags that version 00 does not know are not passed on.
        ("00-\(ids)-ff", "00-\(ids)-03"), ("00-\(ids)-08", "00-\(ids)-00"),
        // A later version is read as far as version 00 goes, and passed on as that.
        ("01-\(ids)-03", "00-\(ids)-01"), ("cc-\(ids)-01-what-comes-later", "00-\(ids)-01"),
    ]) func `a trace is passed on`(_ header: String, _ passedOn: String) throws {
        let context = try #require(TraceContext(header))
        #expect(context.description == passedOn)
        let written = try JSONEncoder().encode([context])
        #expect(String(decoding: written, as: UTF8.self) == "[\"\(passedOn)\"]")
        #expect(try JSONDecoder().decode([TraceContext].self, from: written) == [context])
    }

    @Test(arguments: [
        "", "00", "ff-\(ids)-01", "00-\(ids)-01-", "00-\(ids)-01-more", "01-\(ids)-01.more", "00-\(ids)-1",
        "00-\(ids)-0g", "00-\(ids.uppercased())-01", "0x-\(ids)-01", "00_\(ids)-01", "00-\(ids)_01",
        "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473-600f067aa0ba902b7-01", "00-\(ids)-01, 00-\(ids)-01", " 00-\(ids)-01",
        "00-4bf92f3577b34da6a3ce929d0e0e473\u{e9}-00f067aa0ba902b7-01",
    ]) func `what is malformed is ignored`(_ header: String) {
        #expect(TraceContext(header) == nil)
        let written = Data("[\"\(header)\"]".utf8)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode([TraceContext].self, from: written) }
    }
}
