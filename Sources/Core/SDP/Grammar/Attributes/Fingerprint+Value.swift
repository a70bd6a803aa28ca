extension Fingerprint {
    /// Reads the value of `a=fingerprint`, such as `sha-256 8F:0F:…` (RFC 8122 §5); `nil` if it is malformed.
    ///
    /// `.some(nil)` means a well-formed value with a hash function that is unknown or too weak. It can be ignored.
    static func reading(_ value: String) -> Fingerprint?? {
        var fields = FieldReader(value)
        guard let name = fields.field(), let hex = fields.field(), fields.isAtEnd, let digest = digest(fromHex: hex)
        else { return nil }
        guard let algorithm = Algorithm(rawValue: name.lowercased()) else { return .some(nil) }
        guard digest.count == algorithm.digestLength else { return nil }
        return Fingerprint(algorithm, digest: digest)
    }

    /// The value of `a=fingerprint`: the hash function in lower case, the digest in upper-case hexadecimal pairs.
    package var value: String {
        var text = Array(algorithm.rawValue.utf8)
        text.reserveCapacity(text.count + 3 * digest.count)
        for (index, byte) in digest.enumerated() {
            text.append(index == 0 ? UInt8(ascii: " ") : UInt8(ascii: ":"))
            text.append(Self.digits[Int(byte >> 4)])
            text.append(Self.digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)

    private static func digest(fromHex text: String) -> [UInt8]? {
        let text = Array(text.utf8)
        guard text.count % 3 == 2 else { return nil }
        var digest: [UInt8] = []
        digest.reserveCapacity(text.count / 3 + 1)
        for start in stride(from: 0, to: text.count, by: 3) {
            guard let high = nibble(text[start]), let low = nibble(text[start + 1]) else { return nil }
            guard start + 2 == text.count || text[start + 2] == UInt8(ascii: ":") else { return nil }
            digest.append(high << 4 | low)
        }
        return digest
    }

    private static func nibble(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        default: nil
        }
    }
}

extension Fingerprint.Algorithm {
    fileprivate var digestLength: Int {
        switch self {
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}
