package import Primitives

/// One caller without an account, from its subscription to the end of it (spidr-wire §7).
///
/// Random, but no secret: the people a guest calls see it. The resources of a guest have names of the form
/// `<guest>.<secret>`, so that a name alone tells whose resource it is.
package struct GuestID: Hashable, Sendable, CustomStringConvertible {
    /// Sixteen lower-case hexadecimal digits.
    package let description: String

    private static let length = 16
    private static let separator = UInt8(ascii: ".")

    package init(random: inout some RandomSource) {
        let digits = String(random.next(), radix: 16)
        description = String(repeating: "0", count: Self.length - digits.utf8.count) + digits
    }

    /// The guest whose resource has this name; `nil` if it is no guest's.
    package init?(owning resource: String) {
        let bytes = resource.utf8
        guard let end = bytes.firstIndex(of: Self.separator), bytes[..<end].count == Self.length,
            bytes[..<end].allSatisfy(\.isHexadecimalDigit)
        else { return nil }
        description = String(resource[..<end])
    }
}

extension UserAddress {
    /// What the names of this user's subscriptions, channels and legs begin with.
    package var resourcePrefix: String { guest.map { "\($0)." } ?? "" }
}

extension UInt8 {
    /// Lower case only: an identity has one spelling.
    fileprivate var isHexadecimalDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
