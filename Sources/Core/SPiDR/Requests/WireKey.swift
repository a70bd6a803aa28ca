/// A key that is known only at run time, such as the one top-level key of a body.
package struct WireKey: CodingKey {
    /// The key as it is on the wire.
    package let stringValue: String

    /// Makes a key of its text.
    package init(_ name: String) { stringValue = name }

    /// Makes a key of its text.
    package init(stringValue: String) { self.stringValue = stringValue }

    /// Always `nil`: the key is no index.
    package var intValue: Int? { nil }

    /// Always `nil`: the key is no index.
    package init?(intValue: Int) { nil }
}
