package import Foundation

/// A value that travels under one top-level key, `<resource>Request` or `<resource>Response` (spidr-wire §1.3).
package protocol WireObject: Codable, Sendable {
    static var wrapper: String { get }
}

/// `{"<wrapper>": {…}}`; other keys beside the wrapper are ignored.
package struct Envelope<Content: WireObject>: Codable, Sendable {
    package var content: Content

    package init(_ content: Content) { self.content = content }

    package init(from decoder: any Decoder) throws {
        content = try decoder.container(keyedBy: WireKey.self).decode(Content.self, forKey: WireKey(Content.wrapper))
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: WireKey.self)
        try container.encode(content, forKey: WireKey(Content.wrapper))
    }
}

extension Envelope: Equatable where Content: Equatable {}

/// Bodies as bytes, both ways.
package enum WireJSON {
    private static let encoder: JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.withoutEscapingSlashes]
        return encoder
    }()

    /// Reads a request body; the error names the field at fault.
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

    package static func encode(_ value: some Encodable) -> Data {
        do {
            return try encoder.encode(value)
        } catch {
            preconditionFailure("wire values hold nothing that JSON cannot: \(error)")
        }
    }

    package static func encode<Content: WireObject>(wrapping content: Content) -> Data { encode(Envelope(content)) }
}
