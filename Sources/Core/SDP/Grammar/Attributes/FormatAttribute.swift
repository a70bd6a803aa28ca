package import Primitives

/// The value of `a=fmtp` (RFC 8866 §6.15) or `a=rtcp-fb` (RFC 4585 §4.2): a payload type and a text about it.
package struct FormatAttribute: Hashable, Sendable {
    /// The formats that the text is about.
    package enum Format: Hashable, Sendable {
        /// The format with this payload type.
        case one(PayloadType)
        /// `*`, in `a=rtcp-fb` only: all formats of the m-line.
        case all
    }

    /// The formats that the text is about.
    package var format: Format
    /// Everything after the payload type, unchanged.
    package var text: String

    /// Reads a value; `nil` if it is malformed, or if the format is not a payload type, as for protocols other than
    /// RTP.
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
