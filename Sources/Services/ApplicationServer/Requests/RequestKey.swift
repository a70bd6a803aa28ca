import CallControl
import Cryptography
import GatewayAPI
import HTTPTypes

/// What the header `Idempotency-Key` says about a request of an application.
struct RequestKey: Equatable, Sendable {
    /// What the key is found by: a digest of the application's name and of the key, and the application's number, so
    /// that nothing is found of a former application of that name.
    let name: [UInt8]
    /// What tells the request from others: a digest of the method, the path and the body.
    ///
    /// `If-Match` is not part of it. It says when the request may be carried out, not what it asks for: a client that
    /// has heard no answer, and has read the call again, sends the same request with another version. One that was
    /// carried out is answered as it was, whatever the version is by now (RFC 9110 §13.1.1).
    let fingerprint: [UInt8]

    /// Reads the header; `nil`: there is none.
    ///
    /// - Throws: `idempotency.key_invalid`.
    init?(_ request: V1Request, of application: ApplicationIdentity, _ body: [UInt8]) throws(V1Error) {
        guard let text = try IdempotencyHeader.key(request.headers, orThrow: V1Error.self) else { return nil }
        // No operator's digest equals one of an application: their texts start in different ways.
        name =
            Digest.sha256.hash(Array("v1\n\(application.name)\n\(text)".utf8)) + Array("\(application.number)".utf8)
        fingerprint = Digest.sha256.hash(Array("\(request.method.rawValue) \(request.path)\n".utf8) + body)
    }
}
