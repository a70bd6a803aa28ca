/// An address that an application owns: one, such as `support@example.com`, or all of a domain, `*@bots.example.com`.
package struct ApplicationAddress: Hashable, Sendable, CustomStringConvertible {
    /// What is owned.
    private enum Extent: Hashable {
        case one(UserAddress)
        /// Every address of this domain, in lower case.
        case domain(String)
    }

    private let extent: Extent

    /// Reads an address, with or without `sip:`, or `*@` and a domain; `nil` if the text is neither.
    package init?(_ text: String) {
        let scheme = "sip:"
        let rest = text.lowercased().hasPrefix(scheme) ? text.dropFirst(scheme.count) : text[...]
        if rest.hasPrefix("*@") {
            // The star is no part of a name: the domain is read as that of any user.
            guard let any = UserAddress(parsing: "any\(rest.dropFirst())"), any.user == "any" else { return nil }
            extent = .domain(String(any.domain))
        } else {
            guard !rest.contains("*"), let address = UserAddress(parsing: String(rest)) else { return nil }
            extent = .one(address)
        }
    }

    /// Owns this address alone.
    package init(_ address: UserAddress) { extent = .one(address) }

    /// `user@domain`, or `*@domain`.
    package var description: String {
        switch extent {
        case .one(let address): address.text
        case .domain(let domain): "*@\(domain)"
        }
    }

    /// The one address that it is; `nil` for a whole domain.
    package var single: UserAddress? { if case .one(let address) = extent { address } else { nil } }

    /// The domain of which it is every address; `nil` for a single one.
    package var wholeDomain: String? { if case .domain(let domain) = extent { domain } else { nil } }

    /// Whether the address is this one, or is of this domain. No address of an application covers that of a guest. Two
    /// applications may cover one address: who owns it is what `ApplicationTable` says.
    package func covers(_ address: UserAddress) -> Bool {
        switch extent {
        case .one(let own): own == address
        case .domain(let domain): address.guest == nil && address.domain == domain
        }
    }
}
