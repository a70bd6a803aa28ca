import CallControl
import Foundation
import Testing

import Gateway

/// What `orbweaver replay-events` makes of an event log.
@Suite struct EventReplayTests {
    private let alice = UserAddress(parsing: "alice@example.com")!

    private func line(_ sequence: Int, startedAt: Int64 = 1_000, _ event: CallEvent) throws -> Data {
        let entry = LoggedEvent(
            call: CallID(7), sequence: sequence, startedAt: startedAt, elapsed: .milliseconds(sequence), event: event)
        return try JSONEncoder().encode(entry) + Data("\n".utf8)
    }

    /// The written form of the first event of a call by Alice.
    private var joined: CallEvent {
        get throws {
            let written = """
                {"leg": 0, "fact": {"joined": {"party": {
                    "user": "alice@example.com", "name": "Alice", "session": "A", "devices": [], "arrival": "dialled",
                    "isCalled": false, "remote": {"name": "", "number": "bob@example.com"}, "holds": false}}}}
                """
            return try JSONDecoder().decode(CallEvent.self, from: Data(written.utf8))
        }
    }

    private let told = CallEvent(
        .caller, .alerted,
        to: CallEvent.Audience(
            devices: ["d1", "d2"].map { SubscriptionID($0) }, session: SessionID("A"),
            local: DisplayName(name: "Alice", number: "alice@example.com"),
            remote: .user(DisplayName(name: "", number: "bob@example.com")), isCalled: false))
    private let ended = CallEvent(
        nil, .ended(CallRecord(cause: .cancelled(reasonText: nil)), by: .caller, device: nil))

    private func replay(_ log: Data) async throws -> (lines: [NSDictionary], problems: [String]) {
        var replay = EventReplay()
        replay.replay(log)
        let lines = try await replay.lines().map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line)) as? NSDictionary)
        }
        return (lines, replay.problems)
    }

    @Test func `a call comes with its timeline and notifications, and then its records`() async throws {
        let log = try line(1, joined) + line(2, told) + line(3, CallEvent(.caller, .held)) + line(4, ended)
        let (lines, problems) = try await replay(log)
        #expect(problems.isEmpty)
        try #require(lines.count == 2)
        #expect(lines[0]["isOver"] as? Bool == true)
        let leg = try #require((lines[0]["legs"] as? [NSDictionary])?.first)
        #expect((leg["timeline"] as? [NSDictionary])?.map { $0["event"] as? String } == ["created", "held", "ended"])
        #expect((leg["timeline"] as? [NSDictionary])?.map { $0["time"] as? Int } == [1_000, 1_003, 1_004])
        let notification = try #require((lines[0]["notifications"] as? [NSDictionary])?.first)
        #expect(notification["subscriptions"] as? [String] == ["d1", "d2"])
        #expect((notification["message"] as? NSDictionary)?["eventType"] as? String == "ringing")
        #expect(((lines[1]["record"] as? NSDictionary)?["params"] as? NSDictionary)?["recordId"] as? String == "A")
    }

    @Test func `a call of which an event is missing is left out and named`() async throws {
        let log = try line(1, joined) + line(3, told) + line(4, ended) + line(1, startedAt: 2_000, joined)
        let (lines, problems) = try await replay(log)
        #expect(problems == ["call 7 is left out: its event 2 is missing"])
        #expect(lines.map { $0["startedAt"] as? Int } == [2_000], "another run's call of the same name is whole")
    }

    @Test func `lines that are no events are named, and an unfinished one is none yet`() async throws {
        let (lines, problems) = try await replay(
            try Data("nothing\n".utf8) + line(1, joined) + line(2, told).dropLast(9))
        #expect(problems.count == 1 && problems.first?.hasPrefix("line 1 ") == true)
        #expect((lines.first?["notifications"] as? [NSDictionary])?.isEmpty == true)
    }
}
