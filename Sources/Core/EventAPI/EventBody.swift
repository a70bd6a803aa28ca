package import CallControl

/// An event as programs read it, in most cases of a call: JSON in the gateway's own words, the `/v1` form
/// (docs/call-events.md).
///
/// It says what happened to whom. What only devices need (descriptions, candidates, subscriptions) is left out.
package struct EventBody: Encodable, Equatable, Sendable {
    /// The version of this form. A member is never renamed or removed within a version; readers skip members they do
    /// not know.
    package let version = 1
    /// What happened, in two words: `call.answered`, `leg.held`.
    package let type: String
    /// The call's identifier, in hexadecimal digits; `nil`: it is about no call.
    package let call: String?
    /// Counts the events of the call, from 1. A number that is missing is an event that this form leaves out. `nil`: it
    /// is not counted among the events of a call.
    package let sequence: UInt64?
    /// Milliseconds since 1970.
    package let time: Int64
    /// The leg that it concerns: 0 is the caller, 1 the callee, others in the order of their coming; `nil`: the call.
    package let leg: UInt64?
    /// The trace that the call is part of; `nil`: none.
    package let traceparent: TraceContext?
    /// What belongs to the type; see docs/call-events.md.
    package let data: [String: EventValue]

    /// - Parameters:
    ///   - sequence: the number of the event within the call, from 1.
    ///   - time: when it happened, in milliseconds since 1970.
    ///   - trace: the trace that the call is part of; `nil`: none.
    /// - Returns: `nil` for what only the gateway and devices need.
    package init?(_ event: CallEvent, of call: CallID, sequence: UInt64, time: Int64, trace: TraceContext? = nil) {
        guard let (type, data) = event.content(at: time) else { return nil }
        self.type = type
        self.call = call.description
        self.sequence = sequence
        self.time = time
        leg = event.leg?.number
        traceparent = trace
        self.data = data
    }

    /// An event that is not counted among those of a call.
    ///
    /// - Parameters:
    ///   - type: what happened, in two words.
    ///   - time: when it happened, in milliseconds since 1970.
    ///   - call: the call that it is about; `nil`: it is about none.
    ///   - leg: the leg of that call; `nil`: it is about none.
    ///   - trace: the trace that the call is part of; `nil`: none.
    init(
        _ type: String, at time: Int64, call: CallID? = nil, leg: LegID? = nil, trace: TraceContext? = nil,
        data: [String: EventValue]
    ) {
        self.type = type
        self.call = call?.description
        sequence = nil
        self.time = time
        self.leg = leg?.number
        traceparent = trace
        self.data = data
    }
}

/// A JSON value.
package enum EventValue: Encodable, Equatable, Sendable {
    /// A text.
    case string(String)
    /// A number without a fraction.
    case integer(Int64)
    /// A number with a fraction. It must be finite: JSON has no other.
    case number(Double)
    /// `true` or `false`.
    case flag(Bool)
    /// An array, in order.
    case list([EventValue])
    /// An object: values by the names of its members.
    case object([String: EventValue])

    /// Writes the value as JSON has it.
    ///
    /// - Throws: what the encoder throws, such as `EncodingError` for a number that is not finite.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .number(let value): try container.encode(value)
        case .flag(let value): try container.encode(value)
        case .list(let values): try container.encode(values)
        case .object(let members): try container.encode(members)
        }
    }
}
