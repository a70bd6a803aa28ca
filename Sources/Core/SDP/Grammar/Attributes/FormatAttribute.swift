package import Primitives

/// The value of `a=fmtp` (RFC 8866 §6.15) and of `a=rtcp-fb` (RFC 4585 §4.2): a payload type and a text about it.
package struct FormatAttribute: Hashable, Sendable {
    package enum Format: Hashable, Sendable {
        case one(PayloadType)
        /// `*`, in `a=rtcp-fb` only: all formats of the m-line.
        case all
    }

    package var format: Format
    /// Everything after the payload type, untouched.
    package var text: String

    /// `nil` also for a format that is not a payload type, as other protocols have them.
    package init?(_ value: String) {
        var fields = FieldReader(value)
        if fields.next == UInt8(ascii: "*") {
            guard fields.field() == "*" else { return nil }
            format = .all
        } else {
            guard let number: Int = fields.number(), let payloadType = PayloadType(number) else { return nil }
            format = .one(payloadType)
        }
        guard let text = fields.remainder() else { return nil }
        self.text = text
    }
}
