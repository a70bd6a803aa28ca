/// All addresses with the same first bits, such as `10.0.0.0/8` or `2001:db8::/32` (RFC 4632 §3.1, RFC 4291 §2.3).
package struct IPAddressRange: Hashable, Sendable, CustomStringConvertible {
    /// The first address of the range; its bits after the prefix are 0.
    package let first: IPAddress
    /// The number of bits that all addresses share: 0 to 32, for IPv6 0 to 128.
    package let prefixLength: Int

    /// Makes the range that contains `address`; `nil` if the prefix is longer than the address.
    package init?(_ address: IPAddress, prefixLength: Int) {
        let width = address.family == .v4 ? 32 : 128
        guard (0...width).contains(prefixLength) else { return nil }
        first = address.keeping(bits: prefixLength)
        self.prefixLength = prefixLength
    }

    /// Reads `10.0.0.0/8`, or an address alone, which is a range of one; `nil` if the text is neither. Bits after the
    /// prefix must be 0, because `10.1.2.3/8` is more likely a mistake than a range.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let address = parts.first.flatMap({ IPAddress($0) }) else { return nil }
        let width = address.family == .v4 ? 32 : 128
        guard parts.count == 2 else {
            self.init(address, prefixLength: width)
            return
        }
        guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let length = Int(parts[1]),
            length <= width, address.keeping(bits: length) == address
        else { return nil }
        self.init(address, prefixLength: length)
    }

    /// Whether the range contains the address. An IPv4 address that came mapped on an IPv6 socket counts as IPv4.
    package func contains(_ address: IPAddress) -> Bool {
        let address = address.unmapped
        return address.family == first.family && address.keeping(bits: prefixLength) == first
    }

    /// The range as text, such as `10.0.0.0/8`.
    package var description: String { "\(first)/\(prefixLength)" }
}

extension IPAddress {
    /// The address with all bits after the first `count` set to 0.
    package func keeping(bits count: Int) -> IPAddress {
        switch family {
        case .v4:
            return IPAddress(v4: UInt32(truncatingIfNeeded: low) & ~(UInt32.max >> UInt32(min(max(count, 0), 32))))
        case .v6:
            let upper = ~(UInt64.max >> UInt64(min(max(count, 0), 64)))
            let lower = ~(UInt64.max >> UInt64(min(max(count - 64, 0), 64)))
            return IPAddress(v6: high & upper, low & lower)
        }
    }
}
