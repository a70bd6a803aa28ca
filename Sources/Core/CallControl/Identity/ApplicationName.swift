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
