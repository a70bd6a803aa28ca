package import Cryptography

/// A JSON Web Token (RFC 7519) in the compact form of a signature (RFC 7515 §7.1), of which nothing is proven yet.
package struct BearerToken: Sendable {
    /// The signature algorithms that are accepted, by their names (RFC 7518 §3.1, RFC 8037 §3.1).
    package enum Algorithm: String, CaseIterable, Sendable {
        /// HMAC with SHA-256, under a secret that the issuer shares with the gateway.
        case hs256 = "HS256"
        /// RSA (PKCS #1 v1.5) with SHA-256.
        case rs256 = "RS256"
        /// ECDSA on P-256 with SHA-256.
        case es256 = "ES256"
        /// Ed25519.
        case edDSA = "EdDSA"

        /// What a key must be for to verify such signatures.
        package var signature: SignatureKey.Algorithm {
            switch self {
            case .hs256: .hmacSHA256
            case .rs256: .rsaSHA256
            case .es256: .ecdsaP256SHA256
            case .edDSA: .ed25519
            }
        }
    }

    /// The longest token that is read, in bytes.
    package static let sizeLimit = 8 << 10

    /// The algorithm that the header names.
    package let algorithm: Algorithm
    /// The name of the key that the header gives; `nil`: none.
    package let keyID: String?
    /// The bytes that are signed: header and payload as they were sent.
    package let signed: [UInt8]
    /// The signature.
    package let signature: [UInt8]
    private let payload: [UInt8]

    /// Takes a token apart. The header is read, the payload is not.
    ///
    /// Keys that a header brings along (`jwk`, `jku`, `x5u`, `x5c`) are not looked at.
    ///
    /// - Throws: `tooLarge`; `malformed` if the text is not a token; `unsupportedAlgorithm` if the algorithm, such as
    ///   `none`, is not one of ``Algorithm``; `critical` if the header has `crit`; `wrongType` if it says that the
    ///   token is of another kind.
    package init(parsing text: String) throws(TokenError) {
        guard text.utf8.count <= Self.sizeLimit else { throw .tooLarge }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = [UInt8](base64URL: parts[0]), let payload = [UInt8](base64URL: parts[1]),
            let signature = [UInt8](base64URL: parts[2]), let header = StrictJSON(head)?.members
        else { throw .malformed }
        guard let name = header["alg"]?.text, let algorithm = Algorithm(rawValue: name) else {
            throw .unsupportedAlgorithm
        }
        if header["crit"] != nil { throw .critical }
        if let type = header["typ"] { guard Self.isAccepted(type) else { throw .wrongType } }
        if let id = header["kid"], id.text == nil { throw .malformed }
        self.algorithm = algorithm
        keyID = header["kid"]?.text
        signed = Array(text.utf8.prefix(parts[0].count + 1 + parts[1].count))
        self.payload = payload
        self.signature = signature
    }

    /// A plain token or an access token (RFC 9068 §2.1); not, for example, a log-out token of the same issuer (RFC 8725
    /// §3.11).
    private static func isAccepted(_ type: StrictJSON) -> Bool {
        guard let name = type.text?.lowercased() else { return false }
        return ["jwt", "at+jwt", "application/jwt", "application/at+jwt"].contains(name)
    }

    /// `iss` as the token states it, of which nothing is proven: it says whose key is to be tried. `nil`: there is
    /// none.
    package var statedIssuer: String? { StrictJSON(payload)?.members?["iss"]?.text }

    /// The claims, once the key has verified the signature.
    ///
    /// - Throws: `badSignature` if it has not; `malformed` if the payload is not a JSON object.
    package func claims(provenBy key: SignatureKey) throws(TokenError) -> [String: StrictJSON] {
        guard key.algorithm == algorithm.signature, key.verifies(signature, of: signed) else { throw .badSignature }
        guard let claims = StrictJSON(payload)?.members else { throw .malformed }
        return claims
    }
}

extension [UInt8] {
    /// Reads base64url without padding (RFC 7515 §2). `nil` if the text is anything else, also if bits are set that
    /// belong to no byte.
    package init?(base64URL text: some Collection<UInt8>) {
        self = []
        reserveCapacity(text.count * 3 / 4)
        var (bits, count) = (UInt32(0), 0)
        for letter in text {
            let value: UInt8
            switch letter {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = letter - UInt8(ascii: "A")
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = letter - UInt8(ascii: "a") + 26
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = letter - UInt8(ascii: "0") + 52
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            bits = bits << 6 | UInt32(value)
            count += 6
            if count >= 8 {
                count -= 8
                append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
                bits &= 1 << UInt32(count) - 1
            }
        }
        guard count < 6, bits == 0 else { return nil }
    }
}
