package import Primitives

/// A payload type that an application wants for a codec.
package struct PayloadNumber: Hashable, Sendable {
    /// The encoding as `a=rtpmap` writes it: name, clock rate, channels (RFC 8866 §6.6).
    package let name: String
    package let clockRate: Int
    package let channels: Int
    /// `a=fmtp` parameters that tell formats of one encoding apart, such as `profile-level-id`; all of them must be there.
    package let parameters: [String: String]
    package let payloadType: PayloadType

    /// The numbers that can be asked for: the dynamic ones of RFC 3551 §6 that RTCP leaves free (RFC 5761 §4).
    package static let range = 96...127

    /// - Parameter definition: such as `opus/48000/2` or `H264/90000`; `nil` for any other form, and for a number out of ``range``.
    package init?(_ definition: String, number: Int, parameters: [String: String] = [:]) {
        guard let encoding = Self.encoding(definition), Self.range.contains(number),
            let payloadType = PayloadType(number)
        else { return nil }
        (name, clockRate, channels) = (encoding.name, encoding.clockRate, encoding.channels)
        self.parameters = parameters
        self.payloadType = payloadType
    }

    /// Whether a text is the encoding part of an `a=rtpmap`.
    package static func isDefinition(_ text: String) -> Bool { encoding(text) != nil }

    private static func encoding(_ definition: String) -> RTPMap? {
        let isToken = definition.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isToken ? RTPMap("96 " + definition) : nil
    }

    /// `opus/48000/2`
    package var definition: String {
        channels > 1 ? "\(name)/\(clockRate)/\(channels)" : "\(name)/\(clockRate)"
    }

    /// Whether the codec is the one that is meant.
    package func matches(_ codec: Codec) -> Bool {
        guard codec.clockRate == clockRate, codec.channels == channels, codec.isNamed(name) else { return false }
        guard !parameters.isEmpty else { return true }
        let format = FormatParameters(codec.parameters ?? "")
        return parameters.allSatisfy { name, value in format[name]?.lowercased() == value.lowercased() }
    }
}
