package import CallControl

/// An entry of `timeline` (docs/client.md).
package struct TimelineField: Codable, Equatable, Sendable {
    /// Milliseconds since 1970.
    package var time: Int64
    package var event: String
    /// At which end: `self`, `peer` or `gateway`.
    package var leg: String
    package var address: String?
    /// From 1, in the order in which the user's devices were told.
    package var device: Int?
    package var statusCode: Int?
    package var reasonText: String?
    package var cause: String?

    package init(_ event: CallLogRecord.Event) {
        let entry = event.entry
        time = entry.time
        self.event = entry.event.rawValue
        leg = event.side.rawValue
        address = entry.party
        device = entry.device
        statusCode = entry.statusCode
        reasonText = entry.reasonText
        cause = entry.cause
    }
}

/// `incoming` or `outgoing`, as an end of a call sees it.
enum CallDirectionField {
    static func text(isCalled: Bool) -> String { isCalled ? "incoming" : "outgoing" }
}
