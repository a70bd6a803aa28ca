import Cryptography
import GatewayAPI
package import HTTPTypes

/// The header `Idempotency-Key`: a client that has heard no answer sends the same request again with the same key, and
/// it is carried out once (draft-ietf-httpapi-idempotency-key-header).
package struct IdempotencyKey: Equatable, Sendable {
    /// What the key is found by: a digest of who asks and of the key.
    package let name: [UInt8]
    /// What tells the request from others: a digest under the key, so that nobody can guess a password in the body from
    /// the database without the key.
    package let fingerprint: [UInt8]

    /// Reads the header.
    ///
    /// - Returns: `nil` if there is none.
    /// - Throws: `idempotency.key_invalid`.
    package init?(
        _ headers: HTTPFields, of caller: AdminCaller, _ method: HTTPRequest.Method, target: String, _ body: [UInt8]
    ) throws(AdminError) {
        guard let text = try IdempotencyHeader.key(headers, orThrow: AdminError.self) else { return nil }
        name = Digest.sha256.hash(Array("\(caller.name)\n\(text)".utf8))
        fingerprint = HMAC.sha256(
            key: Array(text.utf8), (Array("\(method.rawValue) \(target)\n".utf8) + body).span)
    }
}
