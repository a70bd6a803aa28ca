internal import Cryptography
internal import Foundation

/// Signed JSON Web Tokens in compact form (RFC 7515 §7.1, RFC 7519).
enum JSONWebToken {
    /// Signs a token. The algorithm that its header names is that of the key.
    ///
    /// - Throws: `unusable` if no algorithm of tokens fits the key.
    static func signed(_ header: [String: String], _ claims: some Encodable, with key: SigningKey)
        throws(CredentialProblem) -> String
    {
        let name: String
        switch key.algorithm {
        case .ecdsaP256SHA256: name = "ES256"
        case .rsaSHA256: name = "RS256"
        case .ed25519, .hmacSHA256: throw .unusable("the key is neither RSA nor EC on P-256")
        }
        let header = header.merging(["alg": name, "typ": "JWT"]) { _, new in new }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let parts = try? [encoder.encode(header), encoder.encode(claims)] else {
            preconditionFailure("texts and numbers can be encoded")
        }
        let signed = parts.map(base64URL).joined(separator: ".")
        return signed + "." + base64URL(Data(key.signature(of: Array(signed.utf8))))
    }

    /// Base64 for URLs without padding (RFC 7515 §2).
    private static func base64URL(_ bytes: Data) -> String {
        bytes.base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
