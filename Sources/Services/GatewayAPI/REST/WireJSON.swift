package import Foundation
package import SPiDR

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
        return try read(Envelope<Content>.self, from: body).content
    }

    /// Reads a request body that may stand without a wrapper (spidr-wire §1.3).
    ///
    /// - Throws: as ``decode(_:from:)``.
    package static func decodeBare<Content: WireObject>(
        _: Content.Type, from body: Data
    ) throws(APIError) -> Content {
        guard !body.isEmpty else { throw APIError(.requestBodyMissing, "The request needs a JSON body {…}.") }
        return try read(BareEnvelope<Content>.self, from: body).content
    }

    private static func read<Value: Decodable>(_: Value.Type, from body: Data) throws(APIError) -> Value {
        do {
            return try JSONDecoder().decode(Value.self, from: body)
        } catch let error as DecodingError {
            throw APIError(error)
        } catch {
            throw APIError(.requestMalformedJSON, "The body cannot be read.")
        }
    }

    /// The JSON bytes of a value, without a wrapper.
    package static func encode(_ value: some Encodable) -> [UInt8] { JSONText.bytes(of: value) }

    /// The JSON bytes of a value under its top-level key.
    package static func encode(wrapping content: some WireObject) -> [UInt8] { encode(Envelope(content)) }
}
