/// A value that must not appear in a log. Every description of it is `‹redacted›`.
package struct Redacted<Value>: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself, for the code that needs it.
    package var value: Value

    /// Wraps a value.
    package init(_ value: Value) { self.value = value }

    /// The text `‹redacted›`.
    package var description: String { "‹redacted›" }
    /// The text `‹redacted›`.
    package var debugDescription: String { "‹redacted›" }
    /// A mirror without children, so that `dump` does not show the value.
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension Redacted: Equatable where Value: Equatable {}
extension Redacted: Hashable where Value: Hashable {}
extension Redacted: Sendable where Value: Sendable {}
