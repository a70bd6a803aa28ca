/// The name of an application: 1 to 64 ASCII letters, digits, `-`, `_` and `.`.
package struct ApplicationName: Hashable, Sendable, CustomStringConvertible {
    /// The name as it was written; names are compared with case.
    package let description: String

    /// Reads a name; `nil` if the text is none.
    package init?(_ text: String) {
        let allowed = text.utf8.allSatisfy { byte in
            let character = Character(UnicodeScalar(byte))
            return character.isASCII && (character.isLetter || character.isNumber) || "-_.".contains(character)
        }
        guard (1...64).contains(text.utf8.count), allowed else { return nil }
        description = text
    }
}

extension ApplicationName: Codable {
    /// Reads a name.
    ///
    /// - Throws: `DecodingError` if the text is none.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let name = ApplicationName(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "no application: \(text)")
        }
        self = name
    }

    /// Writes the name.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
