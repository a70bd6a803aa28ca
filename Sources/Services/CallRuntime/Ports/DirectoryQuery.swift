import CallControl

/// A search for users (spidr-wire §10). Upper and lower case are the same.
package struct DirectoryQuery: Equatable, Sendable {
    /// What the text is compared with.
    package enum Field: Sendable {
        /// The display name up to its last space.
        case firstName
        /// The last word of the display name.
        case lastName
        /// The display name.
        case name
        /// The part of the address before `@`, which is also what a telephone dials.
        case user
        /// The display name or the address: nothing in particular is meant.
        case any
    }

    /// The text to find, anywhere in the field; empty: all users are found.
    package let text: String
    /// Where to look for it.
    package let field: Field
    /// Only users of this domain are found: other domains may be other organisations. In lower case.
    package let domain: String

    /// Makes a query of its parts.
    package init(_ text: String, in field: Field, of domain: String) {
        self.text = text
        self.field = field
        self.domain = domain
    }

    /// Whether this user is found.
    package func finds(_ user: StoredUser) -> Bool {
        guard user.address.domain == domain else { return false }
        let name = PersonName(user.displayName)
        return switch field {
        case .firstName: contains(name.first)
        case .lastName: contains(name.last)
        case .name: contains(user.displayName)
        case .user: contains(String(user.address.user))
        case .any: contains(user.displayName) || contains(user.address.text)
        }
    }

    private func contains(_ whole: String) -> Bool { text.isEmpty || whole.lowercased().contains(text.lowercased()) }
}
