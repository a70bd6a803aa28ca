/// Readings that accept every form that clients in the field send (spidr-wire §1.3, §3.1).
extension KeyedDecodingContainer {
    /// A whole number, or its decimal digits in a string: `7200`, `"7200"`. `nil` if the member is missing or null.
    ///
    /// - Throws: `DecodingError` for any other value.
    func decodeLenientInteger(forKey key: Key) throws -> Int? {
        guard try contains(key) && !decodeNil(forKey: key) else { return nil }
        do {
            return try decode(Int.self, forKey: key)
        } catch DecodingError.typeMismatch {
            let text = try decode(String.self, forKey: key)
            // `Int` would read `+7` and `007`, too. No client writes them, so they are refused.
            guard let number = Int(text), String(number) == text else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: self, debugDescription: "a whole number is expected.")
            }
            return number
        }
    }

    /// A boolean, or its name in a string, without case: `true`, `"true"`, `"TRUE"`. `nil` if the member is missing or
    /// null.
    ///
    /// - Throws: `DecodingError` for any other value.
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

    /// A string, or the text of a number or boolean written without quotes.
    ///
    /// - Throws: `DecodingError` if the member is missing or has another type.
    func decodeLenientText(forKey key: Key) throws -> String {
        do {
            return try decode(String.self, forKey: key)
        } catch DecodingError.typeMismatch {
            // Each reading that fails leaves the value to the next one.
            if let number = try? decode(Int.self, forKey: key) { return String(number) }
            if let number = try? decode(Double.self, forKey: key) { return String(number) }
            // The error of the last reading stands for all of them: it names the field.
            return String(try decode(Bool.self, forKey: key))
        }
    }
}
