package import CallControl
import SPiDR

/// `logHistory`: the answer to `GET` and `DELETE …/logHistory` (spidr-wire §10).
package struct LogHistoryResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "logHistory"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The requested items of the user's call log, the latest first. `nil` in the answer to `DELETE`.
    package var logItems: [Item]?

    /// One item of the log.
    package struct Item: Codable, Equatable, Sendable {
        /// Always `CallLog`.
        package var type = "CallLog"
        /// The call.
        package var params: LogItemField
    }

    /// Makes the answer to `DELETE`.
    package init() {}

    /// Makes the answer to `GET`, with the records in the order given.
    package init(_ records: [CallLogRecord]) { logItems = records.map { Item(params: LogItemField($0)) } }
}

/// `params` of a log item: what clients of the protocol show of a past call (spidr-wire §10).
package struct LogItemField: Codable, Equatable, Sendable {
    /// The name of the record: the `sessionData` of the user's leg.
    package var recordId: String
    /// When the call started: milliseconds since 1970, as text.
    package var startTime: String
    /// Whole seconds of conversation, as text; `0` if nobody answered.
    package var duration: String
    /// `incoming`, `outgoing`, or `missed`: it came in and the user neither answered nor refused it.
    package var direction: String
    /// The caller's display name, as the user saw it last.
    package var callerName: String
    /// The caller's address, as the user saw it last.
    package var callerDisplayNumber: String
    /// The callee's address, as the user saw it last.
    package var calleeDisplayNumber: String
    /// The path of the record, without scheme and host.
    package var resourceLocation: String
    /// How the call ended.
    package var ending: EndingField

    /// Makes the item of a record.
    package init(_ record: CallLogRecord) {
        recordId = record.id.rawValue
        startTime = String(record.startedAt)
        duration = String(record.duration / 1_000)
        direction = record.direction.word
        let caller = record.caller.displayName
        callerName = caller.name
        callerDisplayNumber = caller.number
        calleeDisplayNumber = record.callee.displayName.number
        resourceLocation = ResourcePath(of: record.user).logRecord(record.id)
        ending = EndingField(record)
    }
}

extension CallLogRecord.Direction {
    /// What an item of the call log calls the direction (spidr-wire §10).
    package var word: String {
        switch self {
        case .incoming: "incoming"
        case .outgoing: "outgoing"
        case .missed: "missed"
        }
    }
}

/// How a call ended; an addition of this gateway.
package struct EndingField: Codable, Equatable, Sendable {
    /// A status code as in SIP (RFC 3261 §21), 200 after a conversation.
    package var statusCode: Int
    /// Why the call ended, as a text for people. `nil`: not said.
    package var reasonText: String?
    /// Why the call ended, in one word (docs/call-states.md).
    package var cause: String
    /// The side that ended the call: `self`, `peer` or `gateway`.
    package var endedBy: String

    /// Makes the ending of a record. A record without one gets 200 and `normal_clearing`.
    package init(_ record: CallLogRecord) {
        let words = (record.ending?.cause).map(EndingWords.init)
        statusCode = words?.statusCode ?? 200
        reasonText = words?.reasonText
        cause = words?.cause ?? EndingWord.normalClearing.rawValue
        endedBy = record.endedBy.word
    }
}

/// `logRecord`: the answer to `GET` and `DELETE …/logRecord/{id}`; an addition of this gateway (docs/client.md).
///
/// After `DELETE` only ``statusCode`` is set.
package struct LogRecordResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "logRecord"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// What the log item says of the call.
    package var params: LogItemField?
    /// When the user's end and another started to talk: milliseconds since 1970. `nil`: never.
    package var answerTime: Int64?
    /// When the user's part of the call was over: milliseconds since 1970.
    package var endTime: Int64?
    /// All parties of the call, the own leg first.
    package var legs: [LegField]?
    /// What happened in the call, in order.
    package var timeline: [TimelineField]?

    /// One party of the call.
    package struct LegField: Codable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        /// The party's display name.
        package var name: String
        /// The party's address, `user@domain`.
        package var address: String
        /// `outgoing` if the party dialled, `incoming` if it was rung or brought into the call.
        package var direction: String
    }

    /// Makes the answer to `DELETE`.
    package init() {}

    /// Makes the answer to `GET`.
    package init(_ record: CallLogRecord) {
        params = LogItemField(record)
        answerTime = record.answeredAt
        endTime = record.endedAt
        legs = record.parties.map {
            LegField(
                leg: $0.side.word, name: $0.name, address: $0.address,
                direction: CallDirectionField.text(isCalled: $0.isCalled))
        }
        timeline = record.timeline.map(TimelineField.init)
    }
}
