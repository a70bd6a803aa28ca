import Cryptography

/// The keys that tokens may be signed with: a JWK Set (RFC 7517), or one public key in PEM.
package struct TokenKeySet: Sendable {
    private struct Entry: Sendable {
        /// The name of the key, `kid`; `nil`: it has none.
        var id: String?
        var key: SignatureKey
    }

    private var entries: [Entry] = []
    /// What is in the file and is not used, one clause each, such as `the key "7" is for encryption`.
    package private(set) var unused: [String] = []

    /// Whether one of the keys is a shared secret.
    package var hasSecrets: Bool { entries.contains { $0.key.algorithm == .hmacSHA256 } }
    /// How many keys there are.
    package var count: Int { entries.count }

    /// Reads a file. Keys of other kinds, sizes and uses are left out (RFC 7517 §5), and so are private keys, which do
    /// not belong here.
    ///
    /// - Throws: `malformed` if the bytes are neither a JWK Set nor a public key in PEM; `noKey` if it has no key that
    ///   can be used; `repeated` if two keys cannot be told apart.
    package init(parsing bytes: [UInt8]) throws(TokenKeySetError) {
        if let text = String(validating: bytes, as: UTF8.self), text.contains("-----BEGIN ") {
            do throws(SignatureKeyError) {
                entries = [Entry(id: nil, key: try SignatureKey(publicKeyPEM: text))]
            } catch {
                throw .noKey("the key in PEM \(error)")
            }
            return
        }
        guard let keys = StrictJSON(bytes)?.members?["keys"]?.elements else { throw .malformed }
        for (index, key) in keys.enumerated() {
            let name = key.members?["kid"]?.text.map { "\"\($0)\"" } ?? "number \(index + 1)"
            do throws(Reason) {
                let entry = try Self.entry(key)
                if let id = entry.id, self.key(for: entry.key.algorithm, id: id) != nil { throw .repeated }
                entries.append(entry)
            } catch {
                if error == .repeated { throw .repeated("the key \(name) is there twice") }
                unused.append("the key \(name) \(error.clause)")
            }
        }
        if entries.isEmpty { throw .noKey(unused.isEmpty ? "the set is empty" : unused.joined(separator: "; ")) }
    }

    /// The key that must have signed a token.
    ///
    /// - Throws: `unknownKey` if the token names a key that is not here; `wrongAlgorithm` if the key is for another
    ///   algorithm; `ambiguousKey` if the token names none, and not exactly one key fits.
    func key(for token: BearerToken) throws(TokenError) -> SignatureKey {
        let algorithm = token.algorithm.signature
        if let id = token.keyID {
            guard entries.contains(where: { $0.id == id }) else { throw .unknownKey }
            guard let key = key(for: algorithm, id: id) else { throw .wrongAlgorithm }
            return key
        }
        let fitting = entries.filter { $0.key.algorithm == algorithm }
        guard let only = fitting.first else { throw .wrongAlgorithm }
        guard fitting.count == 1 else { throw .ambiguousKey }
        return only.key
    }

    private func key(for algorithm: SignatureKey.Algorithm, id: String) -> SignatureKey? {
        entries.first { $0.id == id && $0.key.algorithm == algorithm }?.key
    }

    // MARK: - One key

    private enum Reason: Error, Equatable {
        case malformed, kind, use, algorithm, privateKey, repeated
        case refused(SignatureKeyError)

        var clause: String {
            switch self {
            case .malformed: "is not a JWK"
            case .kind: "is of another kind than oct, RSA, EC P-256 and OKP Ed25519"
            case .use: "is not for checking signatures"
            case .algorithm: "is for another algorithm than its kind is used with here"
            case .privateKey: "is private; only its public half belongs here"
            case .repeated: "is there twice"
            case .refused(let error): error.description
            }
        }
    }

    private static func entry(_ value: StrictJSON) throws(Reason) -> Entry {
        guard let members = value.members, let kind = members["kty"]?.text else { throw .malformed }
        if let id = members["kid"], id.text == nil { throw .malformed }
        if let use = members["use"], use.text != "sig" { throw .use }
        if let operations = members["key_ops"] {
            guard operations.elements?.contains(.string("verify")) == true else { throw .use }
        }
        let algorithm: BearerToken.Algorithm
        switch (kind, members["crv"]?.text) {
        case ("oct", _): algorithm = .hs256
        case ("RSA", _): algorithm = .rs256
        case ("EC", "P-256"): algorithm = .es256
        case ("OKP", "Ed25519"): algorithm = .edDSA
        default: throw .kind
        }
        // RFC 9864 gives EdDSA with this curve a name of its own.
        let names = [algorithm.rawValue] + (algorithm == .edDSA ? ["Ed25519"] : [])
        if let name = members["alg"] { guard name.text.map(names.contains) == true else { throw .algorithm } }
        if algorithm != .hs256, members["d"] != nil { throw .privateKey }
        let key: SignatureKey
        do throws(SignatureKeyError) {
            switch algorithm {
            case .hs256: key = try SignatureKey(secret: bytes(members["k"]))
            case .rs256: key = try SignatureKey(rsaModulus: bytes(members["n"]), exponent: bytes(members["e"]))
            case .es256: key = try SignatureKey(p256X: bytes(members["x"]), y: bytes(members["y"]))
            case .edDSA: key = try SignatureKey(ed25519: bytes(members["x"]))
            }
        } catch {
            throw .refused(error)
        }
        return Entry(id: members["kid"]?.text, key: key)
    }

    private static func bytes(_ value: StrictJSON?) throws(SignatureKeyError) -> [UInt8] {
        guard let text = value?.text, let bytes = [UInt8](base64URL: text.utf8) else { throw .malformed }
        return bytes
    }
}

/// Why a file with keys cannot be used. It never shows a key.
package enum TokenKeySetError: Error, Equatable, CustomStringConvertible {
    /// The file cannot be read, or is longer than ``TokenKeyFile/sizeLimit``.
    case unreadable
    /// The file is neither a JWK Set nor PEM.
    case malformed
    /// There is no key in it that can be used; the text says why.
    case noKey(String)
    /// Two keys have the same name and are for the same algorithm; the text names them.
    case repeated(String)

    /// What is wrong, as a clause that follows the path, for the operator.
    package var description: String {
        switch self {
        case .unreadable: "cannot be read"
        case .malformed: "holds neither a JWK Set nor a public key in PEM"
        case .noKey(let reason): "has no key for tokens: \(reason)"
        case .repeated(let reason): "is not clear: \(reason)"
        }
    }
}
