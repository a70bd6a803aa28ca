import CallControl
import Foundation
import Primitives
import SPiDR
import Testing

/// What a log of a call's events would hold, and what can be made of it.
struct EventLog {
    private(set) var events: [CallEvent] = []
    private var times: [MonotonicTime] = []
    private var history: CallHistory
    private var records: [CallLogRecord] = []
    private let origin: Moment

    init(from time: MonotonicTime) {
        origin = Moment(time, epochMilliseconds: 1_000)
        history = CallHistory(origin: origin)
    }

    mutating func add(_ actions: [CallAction], at now: MonotonicTime) {
        for case .event(let event) in actions {
            events.append(event)
            times.append(now)
            records += history.record(event, at: now)
        }
    }

    /// The log as the next process finds it. The call was started at second 1.
    func entries(of call: CallID) -> [LoggedEvent] {
        zip(events, times).enumerated().map { index, entry in
            LoggedEvent(
                call: call, sequence: index + 1, startedAt: origin.epochMilliseconds,
                elapsed: entry.1 - origin.monotonic, event: entry.0)
        }
    }

    /// Writes the log, reads it, and makes of it what was made of the events as they came: timeline, records and
    /// notifications.
    func expectToReplay() throws {
        let written = try JSONEncoder().encode(events)
        let read = try JSONDecoder().decode([CallEvent].self, from: written)
        try #require(read == events)
        var replayed = CallHistory(origin: origin)
        let again = zip(read, times).flatMap { replayed.record($0, at: $1) }
        #expect(replayed == history)
        #expect(again == records)
        #expect(read.map { Notification(presenting: $0) } == events.map { Notification(presenting: $0) })
    }
}
