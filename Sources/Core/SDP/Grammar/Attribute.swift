/// An `a=` line (RFC 8866 §5.13): a property, or a name with a value.
package struct Attribute: Hashable, Sendable {
    package var name: String
    /// `nil` for a property attribute such as `a=rtcp-mux`.
    package var value: String?

    package init(_ name: String, _ value: String? = nil) {
        self.name = name
        self.value = value
    }
}

extension [Attribute] {
    /// The value of the first attribute of that name; `nil` when there is none or it is a property.
    package func value(of name: String) -> String? {
        first { $0.name == name }?.value
    }

    /// The values of all attributes of that name, in order.
    package func values(of name: String) -> [String] {
        compactMap { $0.name == name ? $0.value : nil }
    }

    package func contains(_ name: String) -> Bool {
        contains { $0.name == name }
    }
}
