package import HTTPTypes

/// The header `Idempotency-Key`: a client that has heard no answer sends the same request again with the same key, and
/// it is carried out once (draft-ietf-httpapi-idempotency-key-header).
package enum IdempotencyHeader {
    /// How long an answer is kept.
    package static let age = Duration.seconds(86_400)

    /// Reads the header.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `idempotency.key_invalid`.
    package static func key<Failure: RequestRefusal>(
        _ headers: HTTPFields, orThrow _: Failure.Type
    ) throws(Failure) -> String? {
        guard let text = headers[.idempotencyKey] else { return nil }
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw Failure(
                .keyInvalid, "The Idempotency-Key must be 1 to 255 visible ASCII characters, such as a UUID.")
        }
        return text
    }
}

extension HTTPField.Name {
    /// The name of the header.
    package static let idempotencyKey = Self("Idempotency-Key")!
    /// Says that an answer is one that was given before.
    package static let idempotentReplayed = Self("Idempotent-Replayed")!
}
