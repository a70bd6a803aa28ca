package import CallControl

/// The answer to `GET …/logHistory` (spidr-wire §10).
package struct LogHistoryResponse: WireObject, Encodable, JSONWritable, Equatable {
    package static let wrapper = "logHistory"

    package var statusCode = 0
    /// The latest first; `nil` in the answer to `DELETE`.
    package var logItems: [Item]?

    package struct Item: Codable, Equatable, Sendable {
        package var type = "CallLog"
        package var params: LogItemField
    }

    /// After `DELETE`.
    package init() {}

    package init(_ records: [CallLogRecord]) { logItems = records.map { Item(params: LogItemField($0)) } }
}

/// `params` of a log item: what clients of the protocol show.
package struct LogItemField: Codable, JSONWritable, Equatable, Sendable {
    package var recordId: String
    /// Milliseconds since 1970, as text.
    package var startTime: String
    /// Whole seconds of conversation, as text.
    package var duration: String
    /// `incoming`, `outgoing` or `missed`.
    package var direction: String
    package var callerName: String
    package var callerDisplayNumber: String
    package var calleeDisplayNumber: String
    /// Path only.
    package var resourceLocation: String
    package var ending: EndingField

    package init(_ record: CallLogRecord) {
        recordId = record.id.rawValue
        startTime = String(record.startedAt)
        duration = String(record.duration / 1_000)
        direction = record.direction.rawValue
        callerName = record.names.callerName
        callerDisplayNumber = record.names.callerDisplayNumber
        calleeDisplayNumber = record.names.calleeDisplayNumber
        resourceLocation = ResourcePath(of: record.user).logRecord(record.id)
        ending = EndingField(record)
    }
}

/// How a call ended; an addition of ours.
package struct EndingField: Codable, Equatable, Sendable {
    /// As of SIP (RFC 3261 §21), 200 after a conversation.
    package var statusCode: Int
    package var reasonText: String?
    package var cause: String
    /// `self`, `peer` or `gateway`.
    package var endedBy: String

    package init(_ record: CallLogRecord) {
        statusCode = record.ending?.statusCode ?? 200
        reasonText = record.ending?.reasonText
        cause = record.ending?.cause ?? "normal_clearing"
        endedBy = record.endedBy.rawValue
    }
}

/// The answer to `GET …/logRecord/{id}`; an addition of ours. After `DELETE` without record.
package struct LogRecordResponse: WireObject, Encodable, JSONWritable, Equatable {
    package static let wrapper = "logRecord"

    package var statusCode = 0
    package var params: LogItemField?
    /// Milliseconds since 1970.
    package var answerTime: Int64?
    package var endTime: Int64?
    /// Everybody who was part of the call, the own leg first.
    package var legs: [LegField]?
    package var timeline: [TimelineField]?

    package struct LegField: Codable, Equatable, Sendable {
        package var leg: String
        package var name: String
        package var address: String
        package var direction: String
    }

    /// After `DELETE`.
    package init() {}

    package init(_ record: CallLogRecord) {
        params = LogItemField(record)
        answerTime = record.answeredAt
        endTime = record.endedAt
        legs = record.parties.map {
            LegField(
                leg: $0.side.rawValue, name: $0.name, address: $0.address,
                direction: CallDirectionField.text(isCalled: $0.isCalled))
        }
        timeline = record.timeline.map(TimelineField.init)
    }
}
