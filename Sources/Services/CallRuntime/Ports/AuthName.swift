import CallControl

/// A name with which a user logs in instead of the address (spidr-wire §1.2): that of a directory, for example, which
/// says nothing about how the user is called.
///
/// It is written like the user part of an address, and compared without case. A name with `@` is an address, so that no
/// auth name is ever that of another account.
package struct AuthName: Hashable, Sendable, CustomStringConvertible {
    /// The name in lower case.
    package let text: String

    /// The name in lower case.
    package var description: String { text }

    /// Reads a name.
    ///
    /// - Parameter text: 1 to 128 bytes of UTF-8 that could stand before the `@` of an address; otherwise `nil`.
    package init?(_ text: String) {
        guard text.utf8.count <= 128, !text.utf8.contains(UInt8(ascii: "@")),
            let address = UserAddress(parsing: text, defaultDomain: "auth.invalid")
        else { return nil }
        self.text = String(address.user)
    }
}
