extension Fingerprint {
    /// The value of `a=fingerprint`, such as `sha-256 8F:0F:…` (RFC 8122 §5).
    ///
    /// `.some(nil)` is a well-formed line with a hash function the gateway does not know; it can be ignored.
    static func reading(_ value: String) -> Fingerprint?? {
        var fields = FieldReader(value)
        guard let name = fields.field(), let hex = fields.field(), fields.isAtEnd, let digest = digest(fromHex: hex) else { return nil }
        guard let algorithm = Algorithm(rawValue: name.lowercased()) else { return .some(nil) }
        guard digest.count == algorithm.digestLength else { return nil }
        return Fingerprint(algorithm, digest: digest)
    }

    /// The hash function in lower case, the digest in upper-case hexadecimal pairs.
    package var value: String {
        var text = algorithm.rawValue
        var separator = " "
        for byte in digest {
            text += separator
            text += byte < 16 ? "0" : ""
            text += String(byte, radix: 16, uppercase: true)
            separator = ":"
        }
        return text
    }

    private static func digest(fromHex text: String) -> [UInt8]? {
        var digest: [UInt8] = []
        digest.reserveCapacity(64)
        var pairs = text.utf8[...]
        while let high = pairs.popFirst() {
            guard let low = pairs.popFirst(), let high = nibble(high), let low = nibble(low) else { return nil }
            digest.append(high << 4 | low)
            guard let colon = pairs.popFirst() else { break }
            guard colon == UInt8(ascii: ":"), !pairs.isEmpty else { return nil }
        }
        return digest.isEmpty ? nil : digest
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
        case .sha1: 20
        case .sha224: 28
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }
}
