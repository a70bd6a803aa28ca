package import Primitives

/// The payload type that an application wants for a codec.
package struct PayloadNumber: Hashable, Sendable {
    /// The encoding name as in `a=rtpmap` (RFC 8866 §6.6), compared without case.
    package let name: String
    /// The RTP clock rate in hertz.
    package let clockRate: Int
    /// The number of audio channels; 1 if the definition has none.
    package let channels: Int
    /// `a=fmtp` parameters that distinguish formats of one encoding, such as `profile-level-id`. A codec must have all
    /// of them.
    package let parameters: [String: String]
    /// The payload type that is wanted.
    package let payloadType: PayloadType

    /// The payload types that can be asked for: the dynamic ones of RFC 3551 §6 that do not collide with RTCP
    /// (RFC 5761 §4).
    package static let range = 96...127

    /// Makes a wish; `nil` if the definition has another form or the number is out of ``range``.
    ///
    /// - Parameters:
    ///   - definition: The encoding, such as `opus/48000/2` or `H264/90000`.
    ///   - number: The payload type.
    ///   - parameters: The format parameters that the codec must have.
    package init?(_ definition: String, number: Int, parameters: [String: String] = [:]) {
        guard let encoding = Self.encoding(definition), Self.range.contains(number),
            let payloadType = PayloadType(number)
        else { return nil }
        (name, clockRate, channels) = (encoding.name, encoding.clockRate, encoding.channels)
        self.parameters = parameters
        self.payloadType = payloadType
    }

    /// Whether a text is the encoding part of an `a=rtpmap`, such as `opus/48000/2`.
    package static func isDefinition(_ text: String) -> Bool { encoding(text) != nil }

    private static func encoding(_ definition: String) -> RTPMap? {
        let isToken = definition.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        return isToken ? RTPMap("96 " + definition) : nil
    }

    /// The encoding as in `a=rtpmap`, such as `opus/48000/2`.
    package var definition: String {
        channels > 1 ? "\(name)/\(clockRate)/\(channels)" : "\(name)/\(clockRate)"
    }

    /// Whether the codec has this encoding and these format parameters; their values are compared without case.
    package func matches(_ codec: Codec) -> Bool {
        guard codec.clockRate == clockRate, codec.channels == channels, codec.isNamed(name) else { return false }
        guard !parameters.isEmpty else { return true }
        let format = FormatParameters(codec.parameters ?? "")
        return parameters.allSatisfy { name, value in format[name]?.lowercased() == value.lowercased() }
    }
}
