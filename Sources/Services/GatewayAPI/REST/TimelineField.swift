package import CallControl
import SPiDR

/// An entry of `timeline` (docs/client.md, docs/call-states.md).
package struct TimelineField: Codable, Equatable, Sendable {
    /// When it happened: milliseconds since 1970.
    package var time: Int64
    /// What happened, such as `answered`.
    package var event: String
    /// The end at which it happened, seen from the user who asks: `self`, `peer` or `gateway`.
    package var leg: String
    /// The address of that end; with `forwarded` and `transferStarted`, of the other party. `nil`: not about an
    /// address.
    package var address: String?
    /// Which of the user's devices it was, from 1, in the order in which they were told. `nil` where that is not known.
    ///
    /// A device keeps its number when it subscribes again.
    package var device: Int?
    /// A status code as in SIP (RFC 3261 §21). `nil` where there is none.
    package var statusCode: Int?
    /// The reason as a text for people. `nil` where there is none.
    package var reasonText: String?
    /// The reason in one word (docs/call-states.md). `nil` where there is none.
    package var cause: String?
    /// With `omitted`: how many entries are missing. `nil` with all others.
    package var count: Int?

    /// Makes the field of a timeline entry.
    package init(_ event: CallLogRecord.Event) {
        let entry = event.entry
        time = entry.time
        self.event = entry.event.word
        leg = event.side.word
        address = entry.party
        device = entry.device
        let words = entry.cause.map(EndingWords.init)
        statusCode = words?.statusCode
        reasonText = words?.reasonText
        cause = words?.cause
        count = entry.count
    }
}

/// The direction of a call, as one end sees it.
enum CallDirectionField {
    /// `incoming` if the end was called, otherwise `outgoing`.
    static func text(isCalled: Bool) -> String { isCalled ? "incoming" : "outgoing" }
}
