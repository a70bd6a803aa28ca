/// An address with its display name: `"Joe Doe" <sip:joe@example.com>;tag=1`, the `name-addr` of RFC 3261 §25.1, or the
/// bare `addr-spec`.
package struct NameAddress: Equatable, Sendable {
    /// The display name without quotes and escapes; `nil` if there is none.
    package var displayName: String?
    /// The address of the user, without parameters.
    package var address: UserAddress

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(displayName: String? = nil, address: UserAddress) {
        self.displayName = displayName
        self.address = address
    }

    /// The longest text that is read, in bytes.
    private static let maximumLength = 2_048

    /// Reads a `name-addr` or an `addr-spec`; `nil` if the text is neither, or too long.
    ///
    /// - Parameter defaultDomain: see `UserAddress`.
    package init?(parsing text: String, defaultDomain: String? = nil) {
        guard text.utf8.count <= Self.maximumLength else { return nil }
        let trimmed = text[...].trimmed
        // A quoted name may contain a bracket, what follows it may not; therefore the last one counts.
        guard let open = trimmed.lastIndex(of: "<") else {
            guard let address = UserAddress(uri: trimmed, defaultDomain: defaultDomain) else { return nil }
            self.init(address: address)
            return
        }
        let inner = trimmed[trimmed.index(after: open)...]
        guard let close = inner.firstIndex(of: ">"),
            let address = UserAddress(uri: inner[..<close].trimmed, defaultDomain: defaultDomain)
        else { return nil }
        self.init(displayName: Self.name(trimmed[..<open].trimmed), address: address)
    }

    /// The value of a `display-name`: tokens, or a `quoted-string` with its escapes undone. Control characters are left
    /// out.
    private static func name(_ text: Substring) -> String? {
        let isQuoted = text.count >= 2 && text.first == "\"" && text.last == "\""
        var name = String.UnicodeScalarView()
        var isEscaped = false
        for scalar in (isQuoted ? text.dropFirst().dropLast() : text).unicodeScalars
        where scalar.value >= 0x20 && scalar.value != 0x7F {
            if isQuoted && !isEscaped && scalar == "\\" {
                isEscaped = true
            } else {
                name.append(scalar)
                isEscaped = false
            }
        }
        return name.isEmpty ? nil : String(name)
    }
}

extension Substring {
    /// Without spaces and tabs at both ends.
    fileprivate var trimmed: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        let start = drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start.prefix(0) }
        return start[...last]
    }
}
