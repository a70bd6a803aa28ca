import CallControl
import CallSupport
import Foundation
import TestSupport
import Testing

/// The written form of events (docs/call-events.md).
struct WrittenEventTests {
    @Test func `an event is written as its document says`() throws {
        let event = CallEvent(
            .caller, .answered(description: "v=0", content: CustomContent()),
            to: CallEvent.Audience(
                devices: ["d1"], session: "A", local: DisplayName(name: "Alice", number: "alice@example.com"),
                remote: .user(DisplayName(name: "Bob", number: "bob@example.com")), isCalled: false))
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let alice = #"{"name":"Alice","number":"alice@example.com"}"#
        let bob = #"{"name":"Bob","number":"bob@example.com"}"#
        #expect(
            String(decoding: try encoder.encode(event), as: UTF8.self)
                == #"{"audience":{"devices":["d1"],"isCalled":false,"isConference":false,"local":\#(alice),"#
                + #""remote":\#(bob),"session":"A"},"#
                + #""fact":{"answered":{"content":{"bodies":[],"parameters":[]},"description":"v=0"}},"leg":0}"#)
    }

    @Test func `a line of the event log says which event of which call it is, and when`() throws {
        let entry = LoggedEvent(
            call: CallID(0xAB), sequence: 3, startedAt: 1_700_000_000_123, elapsed: .milliseconds(2),
            event: CallEvent(.caller, .held))
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let written = try encoder.encode(entry)
        #expect(
            String(decoding: written, as: UTF8.self)
                == #"{"call":"ab","elapsedNanoseconds":2000000,"event":{"fact":{"held":{}},"leg":0},"sequence":3,"#
                + #""startedAt":1700000000123,"version":1}"#)
        #expect(try JSONDecoder().decode(LoggedEvent.self, from: written) == entry)
        let later = String(decoding: written, as: UTF8.self).replacing(#""version":1"#, with: #""version":2"#)
        #expect(throws: DecodingError.self) { try JSONDecoder().decode(LoggedEvent.self, from: Data(later.utf8)) }
    }

    @Test func `durations are whole nanoseconds, and a guest stays a guest`() throws {
        let record = CallRecord(cause: .completed(by: .callee, reasonText: "bye"), setup: .nanoseconds(7))
        let written = try JSONEncoder().encode(record)
        #expect(String(decoding: written, as: UTF8.self).contains(#""setupNanoseconds":7"#))
        #expect(try JSONDecoder().decode(CallRecord.self, from: written) == record)

        var random = SeededRandomSource(seed: 1)
        let guest = UserAddress(GuestID(random: &random))
        let again = try JSONDecoder().decode([UserAddress].self, from: JSONEncoder().encode([guest, CallRig.alice]))
        #expect(again == [guest, CallRig.alice] && again[0].guest != nil && again[1].guest == nil)
    }
}
