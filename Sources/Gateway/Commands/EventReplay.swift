import CallControl
import CallRuntime
package import Foundation
import GatewayAPI
import Primitives
import Registration

/// Replays an event log: makes of the events what a gateway made of them as they came (docs/call-events.md).
package struct EventReplay {
    /// A call that is being replayed.
    private struct Call {
        var history: CallHistory
        var sequence = 0
        var isOver = false
        /// An event is missing, so that nothing can be said of the call.
        var hasGap = false
        var notifications: [ReplayedNotification] = []

        /// Takes the next event of the call.
        ///
        /// - Returns: the records of the users for whom the call is over with this event.
        mutating func replay(_ entry: LoggedEvent, line: Int) -> [CallLogRecord] {
            let records = history.record(entry.event, at: history.origin.monotonic + entry.elapsed)
            if case .ended = entry.event.fact { isOver = true }
            let user = entry.event.leg.flatMap { history.user(of: $0) }
            if let notification = ReplayedNotification(entry, line: line, to: user) {
                notifications.append(notification)
            }
            return records
        }
    }

    /// Calls of two runs of a gateway may have the same identifier.
    private struct Name: Hashable {
        var call: CallID
        var startedAt: Int64
    }

    private var calls: [Name: Call] = [:]
    /// The order in which the calls were started.
    private var order: [Name] = []
    private let records = MemoryCallLog(
        configuration: MemoryCallLog.Configuration(recordsPerUser: .max, records: .max))
    /// What cannot be read, or is missing: a sentence each, for the operator.
    package private(set) var problems: [String] = []

    /// Makes a replay of nothing.
    package init() {}

    /// Replays all lines of an event log. An unfinished last line is left out: the gateway may be writing it.
    package mutating func replay(_ log: Data) {
        let decoder = JSONDecoder()
        var (start, number) = (log.startIndex, 0)
        while let end = log.range(of: Data([UInt8(ascii: "\n")]), in: start..<log.endIndex)?.lowerBound {
            number += 1
            do {
                replay(try decoder.decode(LoggedEvent.self, from: log[start..<end]), line: number)
            } catch {
                problems.append("line \(number) is no event: \(error)")
            }
            start = end + 1
        }
    }

    private mutating func replay(_ entry: LoggedEvent, line: Int) {
        let name = Name(call: entry.call, startedAt: entry.startedAt)
        if calls[name] == nil {
            calls[name] = Call(history: CallHistory(origin: Moment(.zero, epochMilliseconds: entry.startedAt)))
            order.append(name)
        }
        guard calls[name]?.hasGap == false else { return }
        calls[name]?.sequence += 1
        if let due = calls[name]?.sequence, due != entry.sequence {
            calls[name]?.hasGap = true
            problems.append("call \(entry.call) is left out: its event \(due) is missing")
            return
        }
        for record in calls[name]?.replay(entry, line: line) ?? [] { records.add(record) }
    }

    /// The lines that the replay prints, each a JSON object: the calls in the order of their starts, then the records
    /// of each user, the oldest first.
    package func lines() async -> [[UInt8]] {
        let whole = order.compactMap { name in calls[name].map { (name, $0) } }.filter { !$0.1.hasGap }
        var lines = whole.map { name, call in
            WireJSON.encode(
                ReplayedCall(
                    call: name.call.description, startedAt: name.startedAt, isOver: call.isOver,
                    legs: call.history.views.map(ReplayedCall.Leg.init), notifications: call.notifications))
        }
        let users = Set(whole.flatMap { $0.1.history.views.map(\.user) }).sorted { $0.text < $1.text }
        for user in users {
            let records = await records.records(of: user, from: 0, count: .max)
            lines += records.reversed().map {
                WireJSON.encode(ReplayedRecord(user: user.text, record: LogRecordResponse($0)))
            }
        }
        return lines
    }
}

/// A call as its legs see it, and what their devices were told.
private struct ReplayedCall: Encodable {
    /// A leg, with what its user may see of the call.
    struct Leg: Encodable {
        let session: String
        let user: String
        let startTime: Int64
        let answerTime: Int64?
        let timeline: [TimelineField]

        init(_ view: CallHistory.View) {
            session = view.session.rawValue
            user = view.user.text
            startTime = view.startedAt
            answerTime = view.answeredAt
            timeline = view.timeline.map(TimelineField.init)
        }
    }

    let call: String
    let startedAt: Int64
    let isOver: Bool
    let legs: [Leg]
    let notifications: [ReplayedNotification]
}

/// A notification, and the subscriptions that it was for. What the channel adds is not in the log: the number is that
/// of the event in its call, the time that of the event, and the channel is empty.
private struct ReplayedNotification: Encodable {
    /// The line of the log, from 1: a leg may be told of more than one call under the same session.
    let line: Int
    let subscriptions: [String]
    let message: NotificationMessage

    /// `nil` if no device was told of the event.
    init?(_ entry: LoggedEvent, line: Int, to user: UserAddress?) {
        guard let user, let audience = entry.event.audience,
            let message = NotificationMessage(
                NotificationFrame(
                    eventID: UInt64(entry.sequence), time: entry.startedAt + entry.elapsed.wholeNanoseconds / 1_000_000,
                    user: user, channel: ChannelID(""), notice: .call(entry)))
        else { return nil }
        self.line = line
        subscriptions = audience.devices.map(\.rawValue)
        self.message = message
    }
}

/// A record in the call log of a user.
private struct ReplayedRecord: Encodable {
    let user: String
    let record: LogRecordResponse
}
