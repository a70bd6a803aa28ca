/// How much audio a peer wants in each packet (`a=ptime`, `a=maxptime`; RFC 8866 §6.4), for all formats of its m-line.
package struct PacketTime: Hashable, Sendable {
    /// What it would like, in microseconds; `nil` if it does not say.
    package var preferred: Int?
    /// More than this it does not take, in microseconds; `nil` if it does not say.
    package var maximum: Int?

    package init(preferred: Int? = nil, maximum: Int? = nil) {
        self.preferred = preferred
        self.maximum = maximum
    }

    /// - Parameters: the values of the attributes as written; what is no positive number of milliseconds is as good as none.
    package init(ptime: String?, maxptime: String?) {
        preferred = ptime.flatMap(Self.microseconds)
        maximum = maxptime.flatMap(Self.microseconds)
    }

    /// A second is more than any packet of audio holds.
    private static let longest = 1_000_000

    /// `non-zero-int-or-real` (RFC 8866 §9), as far as whole microseconds go.
    private static func microseconds(_ text: String) -> Int? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        var fraction = parts.count == 2 ? String(parts[1].prefix(3)) : ""
        while fraction.utf8.count < 3 { fraction.append("0") }
        guard let whole = Int(decimal: parts[0].utf8), whole <= longest / 1_000, let rest = Int(decimal: fraction.utf8)
        else { return nil }
        let result = whole * 1_000 + rest
        return result > 0 ? result : nil
    }
}

extension PeerMedia {
    package var packetTimes: PacketTime { PacketTime(ptime: packetTime, maxptime: maximumPacketTime) }
}
