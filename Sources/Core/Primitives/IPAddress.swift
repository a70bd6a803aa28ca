/// An IPv4 or IPv6 address as a value: comparable, hashable, printable, with no system types in it.
package struct IPAddress: Hashable, Sendable {
    package enum Family: UInt8, Sendable {
        case v4 = 4
        case v6 = 6
    }

    package let family: Family
    /// The upper half of an IPv6 address; 0 for IPv4.
    package let high: UInt64
    /// The lower half of an IPv6 address, or the 32 bits of an IPv4 address.
    package let low: UInt64

    @inlinable
    package init(v4 bits: UInt32) {
        family = .v4
        high = 0
        low = UInt64(bits)
    }

    @inlinable
    package init(v6 high: UInt64, _ low: UInt64) {
        family = .v6
        self.high = high
        self.low = low
    }

    /// An IPv4 address that arrived on an IPv6 socket (`::ffff:a.b.c.d`, RFC 4291 §2.5.5.2) as plain IPv4.
    package var unmapped: IPAddress {
        guard family == .v6, high == 0, low >> 32 == 0xFFFF else { return self }
        return IPAddress(v4: UInt32(truncatingIfNeeded: low))
    }

    /// 127.0.0.0/8 or ::1.
    package var isLoopback: Bool {
        switch family {
        case .v4: low >> 24 == 127
        case .v6: high == 0 && low == 1
        }
    }

    /// 0.0.0.0 or ::.
    package var isUnspecified: Bool { high == 0 && low == 0 }

    /// 169.254.0.0/16 or fe80::/10.
    package var isLinkLocal: Bool {
        switch family {
        case .v4: low >> 16 == 0xA9FE
        case .v6: high >> 54 == 0xFE80 >> 6
        }
    }

    /// 4 or 16 bytes in network order.
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
    /// Dotted quad, or the canonical IPv6 text of RFC 5952.
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

    /// Six full groups and a dotted quad: `ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255`.
    private static let longestText = 45

    private static func dottedQuad(_ text: some StringProtocol) -> UInt32? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var bits: UInt32 = 0
        for part in parts {
            // A leading zero means octal to some programs: an address that two of them read differently is none.
            guard (1...3).contains(part.utf8.count), part.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                part.utf8.count == 1 || part.utf8.first != 0x30, let value = UInt8(part)
            else { return nil }
            bits = bits << 8 | UInt32(value)
        }
        return bits
    }

    private static func groups(of text: some StringProtocol) -> [UInt16]? {
        var text = String(text)
        // A trailing dotted quad stands for two groups (RFC 4291 §2.2).
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
        // The longest run of at least two zero groups is left out, the first of equals (RFC 5952 §4.2).
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
