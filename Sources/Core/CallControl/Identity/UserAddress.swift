/// The address of a user, `user@domain`, compared without case.
package struct UserAddress: Hashable, Sendable, CustomStringConvertible {
    /// Lower-case `user@domain`.
    package let text: String
    /// The guest whose address this is; `nil` for the address of an account. Text that was read never equals a guest's
    /// address.
    package let guest: GuestID?

    /// Lower-case `user@domain`.
    package var description: String { text }

    /// The part before the `@`.
    package var user: Substring { text[..<at] }

    /// The part after the `@`.
    package var domain: Substring { text[text.utf8.index(after: at)...] }

    private var at: String.Index { text.utf8.firstIndex(of: UInt8(ascii: "@")) ?? text.startIndex }

    /// The longest address, in bytes of UTF-8, as for a mailbox (RFC 5321 §4.5.3.1.3).
    package static let maximumLength = 254

    /// Reads `joe@example.com`, `sip:joe@example.com;transport=tls` and `Joe <sip:joe@example.com>` (RFC 3261 §19.1,
    /// §20.10); `nil` if the text is not an address.
    ///
    /// URI parameters, headers and the port are dropped: they say how to reach a user, not which user it is.
    ///
    /// - Parameter defaultDomain: completes telephone numbers and bare names such as `+15550100`; without it they are
    ///   not addresses.
    package init?(parsing text: String, defaultDomain: String? = nil) {
        guard let named = NameAddress(parsing: text, defaultDomain: defaultDomain) else { return nil }
        self = named.address
    }

    /// Reads a URI, without display name and angle brackets.
    init?(uri: Substring, defaultDomain: String?) {
        let rest = uri.withoutScheme
        let user: Substring
        let domain: Substring
        if let at = rest.utf8.firstIndex(of: UInt8(ascii: "@")) {
            user = rest[..<at]
            domain = rest[rest.utf8.index(after: at)...].withoutParameters
        } else {
            user = rest.withoutParameters
            guard let defaultDomain else { return nil }
            domain = defaultDomain[...]
        }
        guard user.isUser, let host = domain.host else { return nil }
        let text = "\(user)@\(host)".lowercased()
        guard text.utf8.count <= Self.maximumLength else { return nil }
        self.text = text
        guest = nil
    }

    /// Makes the address of a guest, as others see it. Its domain does not exist (RFC 2606 §2), and tells people so
    /// (RFC 3323 §4.1).
    package init(_ guest: GuestID) {
        text = "\(Self.guestPrefix)\(guest)\(Self.guestSuffix)"
        self.guest = guest
    }

    /// The address of the application that places calls for users. Its domain does not exist (RFC 2606 §2).
    package static let connector: UserAddress = {
        guard let address = UserAddress(parsing: "click-to-call@gateway.invalid") else {
            preconditionFailure("this is an address")
        }
        return address
    }()

    private static let guestPrefix = "anonymous-"
    private static let guestSuffix = "@anonymous.invalid"

    /// Reads an address that the gateway has written. The address of a guest becomes a guest's address again.
    init?(written text: String) {
        if text.hasPrefix(Self.guestPrefix), text.hasSuffix(Self.guestSuffix),
            let guest = GuestID(
                written: text.dropFirst(Self.guestPrefix.count).dropLast(Self.guestSuffix.count))
        {
            self.init(guest)
        } else {
            self.init(parsing: text)
        }
    }
}

// MARK: - Grammar

// Delimiters are searched for among bytes: as a `Character`, a colon with a combining accent is not a colon.
extension Substring {
    /// The rest after `sip:`, `sips:` or `tel:` (RFC 3261 §19.1, RFC 3966). Schemes are compared without case.
    fileprivate var withoutScheme: Substring {
        guard let colon = utf8.firstIndex(of: UInt8(ascii: ":")),
            ["sip", "sips", "tel"].contains(self[..<colon].lowercased())
        else {
            return self
        }
        return self[utf8.index(after: colon)...]
    }

    /// The part before URI parameters and headers (RFC 3261 §19.1.1).
    fileprivate var withoutParameters: Substring {
        self[..<(utf8.firstIndex { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: "?") } ?? endIndex)]
    }

    /// Whether the text is printable, and contains nothing that ends an address or breaks a path of which it becomes a
    /// segment.
    fileprivate var isUser: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy { scalar in
                if scalar.isASCII {
                    return scalar.value > 0x20 && scalar.value < 0x7F && !#"<>"\@:/?"#.unicodeScalars.contains(scalar)
                }
                // Invisible and direction-changing characters make one address look like another.
                return switch scalar.properties.generalCategory {
                case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator,
                    .spaceSeparator:
                    false
                default: true
                }
            }
    }

    /// The host of a `hostport` (RFC 3261 §25.1), without a final dot; `nil` if the text is not one.
    fileprivate var host: Substring? {
        if first == "[" {
            guard let close = firstIndex(of: "]"), self[index(after: close)...].isPortOrEmpty else { return nil }
            let address = self[index(after: startIndex)..<close]
            return !address.isEmpty && address.utf8.allSatisfy(\.isPartOfIPv6) ? self[...close] : nil
        }
        var name = prefix { $0 != ":" }
        guard self[name.endIndex...].isPortOrEmpty else { return nil }
        if name.last == "." { name = name.dropLast() }
        return name.split(separator: ".", omittingEmptySubsequences: false).allSatisfy(\.isLabel) ? name : nil
    }

    /// One label of a host name (RFC 1123 §2.1), or of a name in a private network, where underscores occur.
    private var isLabel: Bool {
        guard let first = utf8.first, let last = utf8.last, utf8.count <= 63 else { return false }
        let hyphen = UInt8(ascii: "-")
        return first != hyphen && last != hyphen
            && utf8.allSatisfy { $0.isLetterOrDigit || $0 == hyphen || $0 == UInt8(ascii: "_") }
    }

    /// Nothing, or a colon and one to five digits.
    private var isPortOrEmpty: Bool {
        isEmpty || (utf8.first == UInt8(ascii: ":") && 2...6 ~= utf8.count && utf8.dropFirst().allSatisfy(\.isDigit))
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    fileprivate var isLetterOrDigit: Bool { isDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20 }

    fileprivate var isPartOfIPv6: Bool {
        isDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self | 0x20 || self == UInt8(ascii: ":")
            || self == UInt8(ascii: ".")
    }
}
