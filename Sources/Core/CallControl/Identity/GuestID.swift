package import Primitives

/// A guest, that is a caller without an account, for the life of the guest's subscription (spidr-wire §7).
///
/// It is random, but not secret: the users whom a guest calls see it. The resources of a guest have names of the form
/// `<guest>.<secret>`, so that a name alone tells which guest the resource belongs to.
package struct GuestID: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    package let description: String

    private static let length = 16
    private static let separator = UInt8(ascii: ".")

    /// Draws 64 random bits.
    package init(random: inout some RandomSource) {
        let digits = String(random.next(), radix: 16)
        description = String(repeating: "0", count: Self.length - digits.utf8.count) + digits
    }

    /// The guest who owns the resource of this name; `nil` if the name is not a guest's.
    package init?(owning resource: String) {
        let bytes = resource.utf8
        guard let end = bytes.firstIndex(of: Self.separator), bytes[..<end].count == Self.length,
            bytes[..<end].allSatisfy(\.isHexadecimalDigit)
        else { return nil }
        description = String(resource[..<end])
    }

    /// Reads what `description` has written; `nil` for any other text.
    init?(written text: Substring) {
        guard text.utf8.count == Self.length, text.utf8.allSatisfy(\.isHexadecimalDigit) else { return nil }
        description = String(text)
    }
}

extension UserAddress {
    /// The common start of the names of this user's subscriptions, channels and legs; empty for a user with an account.
    package var resourcePrefix: String { guest.map { "\($0)." } ?? "" }
}

extension UInt8 {
    /// Whether the character is `0…9` or `a…f`. Lower case only, so that an identity has one spelling.
    fileprivate var isHexadecimalDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
