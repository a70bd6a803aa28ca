package import CallControl

/// What a subscriber is told whose place is not in the log: the calls in progress, from which it can go on.
package struct EventSnapshot: Equatable, Sendable {
    /// Why the subscriber has missed events.
    package enum Reason: String, Equatable, Sendable {
        /// What came next is not kept any more.
        case tooOld
        /// The place is one of another log: another gateway's, or that of a database that is not there any more.
        case otherLog
    }

    /// Why events are missing.
    package var reason: Reason
    /// The place from which the subscriber goes on. What the calls tell may include events that come behind it.
    package var cursor: EventCursor
    /// When the calls were looked at, milliseconds since 1970.
    package var time: Int64
    /// The calls in progress that the subscriber may hear of.
    package var calls: [CallOverview]

    /// Makes a snapshot.
    ///
    /// - Parameter calls: the calls in progress; those that the subscriber does not hear of are left out.
    package init(
        reason: Reason, cursor: EventCursor, time: Int64, calls: [CallOverview], for selection: EventSelection
    ) {
        self.reason = reason
        self.cursor = cursor
        self.time = time
        self.calls = calls.filter { call in
            selection.reader.sees(EventScope(call.legs.map(\.holder)))
                && (selection.calls.isEmpty || selection.calls.contains(call.id.description))
        }
    }

    private var members: [String: EventValue] {
        [
            "version": .integer(1), "reason": .string(reason.rawValue), "id": .string(cursor.description),
            "time": .integer(time), "calls": .list(calls.map(\.value)),
        ]
    }

    /// The event `stream.gap` as a JSON object in UTF-8.
    package var json: [UInt8] {
        var text = JSONText()
        text.write(.object(members.merging(["type": .string(Self.type)]) { $1 }))
        return text.bytes
    }

    /// What a reader goes on from, as a JSON object in UTF-8: `next`, `reason` and `calls`.
    package var continuation: [UInt8] {
        var text = JSONText()
        text.write(
            .object([
                "next": .string(cursor.description), "reason": .string(reason.rawValue),
                "calls": .list(calls.map(\.value)),
            ]))
        return text.bytes
    }

    /// The type of the event that says that others are missing.
    package static let type = "stream.gap"
}

extension CallOverview {
    fileprivate var value: EventValue {
        var members: [String: EventValue] = [
            "call": .string(id.description), "startedAt": .integer(startedAt), "legs": .list(legs.map(\.value)),
        ]
        members["answeredAt"] = answeredAt.map { .integer($0) }
        return .object(members)
    }
}

extension CallOverview.Leg {
    fileprivate var value: EventValue {
        var members: [String: EventValue] = [
            "leg": .integer(Int64(id.number)), "address": .string(user.text), "name": .string(member.name),
            "role": .string(member.isCalled ? "callee" : "caller"), "state": .string(member.state.eventWord),
            "holds": .flag(member.holds), "joinedAt": .integer(startedAt),
        ]
        members["answeredAt"] = answeredAt.map { .integer($0) }
        return .object(members)
    }
}

extension LegState {
    fileprivate var eventWord: String {
        switch self {
        case .initial, .dialing: "dialing"
        case .sessionProgress: "progressing"
        case .ringing: "ringing"
        case .answering: "answering"
        case .inCall, .onHold, .remotelyHeld, .onDoubleHold: "talking"
        case .ended: "ended"
        }
    }
}
