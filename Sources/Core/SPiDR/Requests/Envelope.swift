/// A value that travels under one top-level key, `<resource>Request` or `<resource>Response` (spidr-wire §1.3).
package protocol WireObject: Codable, Sendable {
    /// The top-level key under which the value is written, and usually read.
    static var wrapper: String { get }
    /// The keys under which the value may be received, the usual one first.
    static var acceptedWrappers: [String] { get }
}

extension WireObject {
    /// By default only ``wrapper``.
    package static var acceptedWrappers: [String] { [wrapper] }
}

/// `{"<wrapper>": {…}}`: a body with its one top-level key. Other keys beside it are ignored.
package struct Envelope<Content: WireObject>: Codable, Sendable {
    /// The value under the top-level key.
    package var content: Content

    /// Wraps a value.
    package init(_ content: Content) { self.content = content }

    /// Reads the value under the first accepted wrapper that is present.
    ///
    /// - Throws: `DecodingError` if no wrapper is present, or the value cannot be read.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        let wrapper = Content.acceptedWrappers.first { fields.contains(WireKey($0)) } ?? Content.wrapper
        content = try fields.decode(Content.self, forKey: WireKey(wrapper))
    }

    /// Writes the value under its usual wrapper.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(content, forKey: WireKey(Content.wrapper))
    }
}

/// A body with or without its top-level key (spidr-wire §1.3).
package struct BareEnvelope<Content: WireObject>: Decodable, Sendable {
    /// The value.
    package var content: Content

    /// Reads the value under the first accepted wrapper that is present, or as the whole body.
    ///
    /// - Throws: `DecodingError` if the value cannot be read.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        let wrapper = Content.acceptedWrappers.first { fields.contains(WireKey($0)) }
        content =
            try wrapper.map { try fields.decode(Content.self, forKey: WireKey($0)) } ?? Content(from: decoder)
    }
}
