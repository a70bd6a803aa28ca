/// Readings that accept every form public clients send (spidr-wire §1.3, §3.1).
extension KeyedDecodingContainer {
    /// A number, or its decimal digits in a string: `7200`, `"7200"`.
    func decodeLenientInteger(forKey key: Key) throws -> Int? {
        guard try contains(key) && !decodeNil(forKey: key) else { return nil }
        do {
            return try decode(Int.self, forKey: key)
        } catch DecodingError.typeMismatch {
            let text = try decode(String.self, forKey: key)
            // `+7` and `007` would be read as well, but no client writes them.
            guard let number = Int(text), String(number) == text else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: self, debugDescription: "a whole number is expected.")
            }
            return number
        }
    }

    /// `true`, `"true"`, `"TRUE"` and their opposites.
    func decodeLenientBoolean(forKey key: Key) throws -> Bool? {
        guard try contains(key) && !decodeNil(forKey: key) else { return nil }
        do {
            return try decode(Bool.self, forKey: key)
        } catch DecodingError.typeMismatch {
            switch try decode(String.self, forKey: key).lowercased() {
            case "true": return true
            case "false": return false
            default:
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: self, debugDescription: "\"true\" or \"false\" is expected.")
            }
        }
    }

    /// A string, or a number or boolean written without quotes.
    func decodeLenientText(forKey key: Key) throws -> String {
        do {
            return try decode(String.self, forKey: key)
        } catch DecodingError.typeMismatch {
            // A reading that fails leaves it to the next one.
            if let number = try? decode(Int.self, forKey: key) { return String(number) }
            if let number = try? decode(Double.self, forKey: key) { return String(number) }
            // The last reading speaks for all: its error names the field.
            return String(try decode(Bool.self, forKey: key))
        }
    }
}
