/// A user's address, `user@domain`, compared without case.
package struct UserAddress: Hashable, Sendable, CustomStringConvertible {
    /// Lower-case `user@domain`.
    package let text: String

    package var description: String { text }
}
