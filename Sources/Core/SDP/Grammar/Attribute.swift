/// An `a=` line (RFC 8866 §5.13): a property attribute, or a name with a value.
package struct Attribute: Hashable, Sendable {
    /// The text before the colon; it is compared with case.
    package var name: String
    /// The text after the colon; `nil` for a property attribute such as `a=rtcp-mux`.
    package var value: String?

    /// Makes an attribute; without a value it is a property attribute.
    package init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }
}

extension [Attribute] {
    /// The value of the first attribute with that name; `nil` if there is none or it is a property attribute.
    package func value(of name: String) -> String? {
        first { $0.name == name }?.value
    }

    /// The values of all attributes with that name, in order; property attributes are left out.
    package func values(of name: String) -> [String] {
        compactMap { $0.name == name ? $0.value : nil }
    }

    /// Whether there is an attribute with that name.
    package func contains(_ name: String) -> Bool {
        contains { $0.name == name }
    }
}
