package import Foundation

/// A value that travels under one top-level key, `<resource>Request` or `<resource>Response` (spidr-wire §1.3).
package protocol WireObject: Decodable, Sendable {
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
package struct Envelope<Content: WireObject>: Decodable, Sendable {
    /// The value under the top-level key.
    package var content: Content

    /// Reads the value under the first accepted wrapper that is present.
    ///
    /// - Throws: `DecodingError` if no wrapper is present, or the value cannot be read.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        let wrapper = Content.acceptedWrappers.first { fields.contains(WireKey($0)) } ?? Content.wrapper
        content = try fields.decode(Content.self, forKey: WireKey(wrapper))
    }
}

/// Translates between bodies and their bytes.
package enum WireJSON {
    /// Reads a request body.
    ///
    /// - Throws: `request.body_missing` for an empty body; otherwise the refusal that ``APIError/init(_:)`` makes of
    ///   the decoding error, which names the field at fault.
    package static func decode<Content: WireObject>(_: Content.Type, from body: Data) throws(APIError) -> Content {
        guard !body.isEmpty else {
            throw APIError(.requestBodyMissing, "The request needs a JSON body {\"\(Content.wrapper)\": {…}}.")
        }
        do {
            return try JSONDecoder().decode(Envelope<Content>.self, from: body).content
        } catch let error as DecodingError {
            throw APIError(error)
        } catch {
            throw APIError(.requestMalformedJSON, "The body cannot be read.")
        }
    }

    /// The JSON bytes of a value, without a wrapper.
    package static func encode(_ value: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    /// The JSON bytes of a value under its top-level key.
    package static func encode<Content: WireObject & JSONWritable>(wrapping content: Content) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member(Content.wrapper, content) }
        return writer.bytes
    }
}
