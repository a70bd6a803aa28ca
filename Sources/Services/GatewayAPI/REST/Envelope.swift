package import Foundation

/// A value that travels under one top-level key, `<resource>Request` or `<resource>Response` (spidr-wire §1.3).
package protocol WireObject: Decodable, Sendable {
    static var wrapper: String { get }
    /// What it may also travel under on its way in, the usual name first.
    static var acceptedWrappers: [String] { get }
}

extension WireObject {
    package static var acceptedWrappers: [String] { [wrapper] }
}

/// `{"<wrapper>": {…}}`; other keys beside the wrapper are ignored.
package struct Envelope<Content: WireObject>: Decodable, Sendable {
    package var content: Content

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        let wrapper = Content.acceptedWrappers.first { fields.contains(WireKey($0)) } ?? Content.wrapper
        content = try fields.decode(Content.self, forKey: WireKey(wrapper))
    }
}

/// Bodies as bytes, both ways.
package enum WireJSON {
    /// Reads a body; the error names the field at fault.
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

    package static func encode(_ value: some JSONWritable) -> [UInt8] {
        var writer = JSONWriter()
        value.write(to: &writer)
        return writer.bytes
    }

    package static func encode<Content: WireObject & JSONWritable>(wrapping content: Content) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { $0.member(Content.wrapper, content) }
        return writer.bytes
    }
}
