package import CallControl

/// An address as clients write it: `ann@example.com`, `sip:ann@example.com`, `Ann <sip:ann@example.com>`,
/// `+15550100` (spidr-wire §6.1; the name-addr form is RFC 3261 §20.10).
package struct WireAddress: Equatable, Sendable {
    package var displayName: String?
    package var user: UserAddress

    /// `nil` if no user can be found in the text.
    package init?(parsing text: String, defaultDomain: String) {
        var address = text[...]
        if let open = text.lastIndex(of: "<") {
            guard let close = text[open...].firstIndex(of: ">") else { return nil }
            let name = Self.unquoted(text[..<open])
            displayName = name.isEmpty ? nil : name
            address = text[text.index(after: open)..<close]
        }
        guard let user = UserAddress(parsing: String(address), defaultDomain: defaultDomain) else { return nil }
        self.user = user
    }

    /// The display name without the quotes and escapes of RFC 3261 §25.1 `quoted-string`.
    private static func unquoted(_ text: Substring) -> String {
        let trimmed = text.drop { $0 == " " || $0 == "\t" }
        let end = trimmed.lastIndex { $0 != " " && $0 != "\t" }
        let name = end.map { trimmed[...$0] } ?? ""
        guard name.count >= 2, name.first == "\"", name.last == "\"" else { return String(name) }
        var result = ""
        var escaped = false
        for character in name.dropFirst().dropLast() {
            if !escaped && character == "\\" {
                escaped = true
            } else {
                result.append(character)
                escaped = false
            }
        }
        return result
    }
}
