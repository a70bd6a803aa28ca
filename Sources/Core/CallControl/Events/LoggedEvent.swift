import Primitives

/// An event with all that is needed to replay it apart from its call: one line of the event log (docs/call-events.md).
package struct LoggedEvent: Equatable, Sendable {
    /// The call that the event belongs to.
    package var call: CallID
    /// The place of the event among those of its call, from 1 and without gaps.
    package var sequence: Int
    /// When the call was started, milliseconds since 1970.
    package var startedAt: Int64
    /// The time from the start of the call to the event, 0 or more.
    package var elapsed: Duration
    /// The event.
    package var event: CallEvent

    /// Makes an entry of its parts; each parameter is the property of that name.
    package init(call: CallID, sequence: Int, startedAt: Int64, elapsed: Duration, event: CallEvent) {
        self.call = call
        self.sequence = sequence
        self.startedAt = startedAt
        self.elapsed = elapsed
        self.event = event
    }
}

extension LoggedEvent: Codable {
    /// The version of the written form. Fields may be added without a new version.
    package static let version = 1

    private enum CodingKeys: CodingKey {
        case version, call, sequence, startedAt, elapsedNanoseconds, event
    }

    /// Reads an entry. `call` is in hexadecimal digits, as everywhere in the logs.
    ///
    /// - Throws: `DecodingError` if a field is missing or malformed, or the entry has another version.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let version = try values.decode(Int.self, forKey: .version)
        guard version == Self.version else {
            throw DecodingError.dataCorruptedError(
                forKey: .version, in: values, debugDescription: "version \(version) is not known")
        }
        let digits = try values.decode(String.self, forKey: .call)
        guard let number = UInt64(digits, radix: 16) else {
            throw DecodingError.dataCorruptedError(
                forKey: .call, in: values, debugDescription: "no hexadecimal digits: \(digits)")
        }
        call = CallID(number)
        sequence = try values.decode(Int.self, forKey: .sequence)
        startedAt = try values.decode(Int64.self, forKey: .startedAt)
        elapsed = .nanoseconds(try values.decode(Int64.self, forKey: .elapsedNanoseconds))
        event = try values.decode(CallEvent.self, forKey: .event)
    }

    /// Writes all fields, and the version.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(Self.version, forKey: .version)
        try values.encode(call.description, forKey: .call)
        try values.encode(sequence, forKey: .sequence)
        try values.encode(startedAt, forKey: .startedAt)
        try values.encode(elapsed.wholeNanoseconds, forKey: .elapsedNanoseconds)
        try values.encode(event, forKey: .event)
    }
}
