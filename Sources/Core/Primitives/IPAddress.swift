/// An IPv4 or IPv6 address as a value: comparable, hashable and printable, without system types.
package struct IPAddress: Hashable, Sendable {
    /// The version of the Internet Protocol.
    package enum Family: UInt8, Sendable {
        /// IPv4, 32 bits.
        case v4 = 4
        /// IPv6, 128 bits.
        case v6 = 6
    }

    /// The version of the address.
    package let family: Family
    /// The upper half of an IPv6 address; 0 for IPv4.
    package let high: UInt64
    /// The lower half of an IPv6 address, or the 32 bits of an IPv4 address.
    package let low: UInt64

    /// Makes an IPv4 address of its 32 bits; the first octet is the highest.
    @inlinable
    package init(v4 bits: UInt32) {
        family = .v4
        high = 0
        low = UInt64(bits)
    }

    /// Makes an IPv6 address of its two halves.
    @inlinable
    package init(v6 high: UInt64, _ low: UInt64) {
        family = .v6
        self.high = high
        self.low = low
    }

    /// The address as plain IPv4 if it came mapped on an IPv6 socket (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2); otherwise
    /// unchanged.
    package var unmapped: IPAddress {
        guard family == .v6, high == 0, low >> 32 == 0xFFFF else { return self }
        return IPAddress(v4: UInt32(truncatingIfNeeded: low))
    }

    /// Whether the address is in 127.0.0.0/8 or is ::1.
    package var isLoopback: Bool {
        switch family {
        case .v4: low >> 24 == 127
        case .v6: high == 0 && low == 1
        }
    }

    /// Whether the Internet does not route the address: it is for private networks (RFC 1918 §3, RFC 4193 §3), shared
    /// address space (RFC 6598 §7), link-local, loopback, or unspecified.
    package var isPrivate: Bool {
        if isLoopback || isLinkLocal || isUnspecified { return true }
        return switch family {
        case .v4: low >> 24 == 10 || low >> 20 == 0xAC1 || low >> 16 == 0xC0A8 || low >> 22 == 0x6440 >> 6
        case .v6: high >> 57 == 0xFC >> 1
        }
    }

    /// Whether the address is 0.0.0.0 or ::.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    /// Whether the address is in 169.254.0.0/16 or fe80::/10.
    package var isLinkLocal: Bool {
        switch family {
        case .v4: low >> 16 == 0xA9FE
        case .v6: high >> 54 == 0xFE80 >> 6
        }
    }

    /// The 4 or 16 bytes of the address in network order.
    package var bytes: [UInt8] {
        var writer = ByteWriter(reserving: 16)
        switch family {
        case .v4: writer.write(UInt32(truncatingIfNeeded: low))
        case .v6:
            writer.write(high)
            writer.write(low)
        }
        return writer.bytes
    }
}

// MARK: - Text

extension IPAddress: CustomStringConvertible {
    /// The dotted quad, or the canonical IPv6 text of RFC 5952.
    package var description: String {
        switch family {
        case .v4: (0..<4).map { String((low >> (24 - 8 * UInt64($0))) & 0xFF) }.joined(separator: ".")
        case .v6: canonicalV6
        }
    }

    /// Parses a dotted quad or an IPv6 address without zone; `nil` if the text is neither.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.longestText else { return nil }
        if text.utf8.contains(UInt8(ascii: ":")) {
            guard let groups = Self.groups(of: text) else { return nil }
            let halves = [groups[0..<4], groups[4..<8]].map { $0.reduce(UInt64(0)) { $0 << 16 | UInt64($1) } }
            self.init(v6: halves[0], halves[1])
        } else {
            guard let bits = Self.dottedQuad(text) else { return nil }
            self.init(v4: bits)
        }
    }

    /// The length of the longest text, six full groups and a dotted quad:
    /// `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
    private static let longestText = 45

    private static func dottedQuad(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            // Some programs read a leading zero as octal, so an address with one is ambiguous and refused.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.utf8.count == 1 || part.utf8.first != 0x30, let value = UInt8(part)
            else { return nil }
            bits = bits << 8 | UInt32(value)
        }
        return bits
    }

    private static func groups(of text: some StringProtocol) -> [UInt16]? {
        var text = String(text)
        // A trailing dotted quad is the text of two groups (RFC 4291 §2.2).
        if text.contains("."), let colon = text.lastIndex(of: ":") {
            guard let bits = dottedQuad(text[text.index(after: colon)...]) else { return nil }
            text = text[...colon] + String(bits >> 16, radix: 16) + ":" + String(bits & 0xFFFF, radix: 16)
        }
        let sides = splitAtDoubleColon(text)
        guard sides.count <= 2 else { return nil }
        var lists: [[UInt16]] = []
        for side in sides {
            if side.isEmpty {
                lists.append([])
                continue
            }
            var list: [UInt16] = []
            for group in side.split(separator: ":", omittingEmptySubsequences: false) {
                guard (1...4).contains(group.utf8.count), group.allSatisfy(\.isASCII), group.allSatisfy(\.isHexDigit),
                    let value = UInt16(group, radix: 16)
                else { return nil }
                list.append(value)
            }
            lists.append(list)
        }
        if lists.count == 1 { return lists[0].count == 8 ? lists[0] : nil }
        let missing = 8 - lists[0].count - lists[1].count
        guard missing >= 1 else { return nil }
        return lists[0] + Array(repeating: 0, count: missing) + lists[1]
    }

    private static func splitAtDoubleColon(_ text: String) -> [Substring] {
        var sides: [Substring] = []
        var rest = text[...]
        while let range = doubleColon(in: rest) {
            sides.append(rest[..<range])
            rest = rest[rest.index(range, offsetBy: 2)...]
        }
        return sides + [rest]
    }

    private static func doubleColon(in text: Substring) -> Substring.Index? {
        text.indices.first { index in
            let next = text.index(after: index)
            return text[index] == ":" && next < text.endIndex && text[next] == ":"
        }
    }

    private var canonicalV6: String {
        if high == 0, low >> 32 == 0xFFFF { return "::ffff:\(unmapped)" }
        let groups = (0..<8).map { UInt16(truncatingIfNeeded: ($0 < 4 ? high : low) >> (48 - 16 * UInt64($0 % 4))) }
        // The longest run of at least two zero groups is left out, the first of several (RFC 5952 §4.2).
        var best = 0..<0
        var start = 0
        while start < 8 {
            guard groups[start] == 0 else {
                start += 1
                continue
            }
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start >= 2, end - start > best.count { best = start..<end }
            start = end
        }
        let text = { (slice: ArraySlice<UInt16>) in slice.map { String($0, radix: 16) }.joined(separator: ":") }
        return best.isEmpty
            ? text(groups[...]) : text(groups[..<best.lowerBound]) + "::" + text(groups[best.upperBound...])
    }
}
