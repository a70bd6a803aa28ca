/// The duration of audio per packet that a peer wants, for all formats of its m-line (`a=ptime`, `a=maxptime`;
/// RFC 8866 §6.4).
package struct PacketTime: Hashable, Sendable {
    /// The preferred duration in microseconds; `nil` if the peer does not say one.
    package var preferred: Int?
    /// The longest duration that the peer accepts, in microseconds; `nil` if it does not say one.
    package var maximum: Int?

    /// Makes packet times of durations in microseconds.
    package init(preferred: Int? = nil, maximum: Int? = nil) {
        self.preferred = preferred
        self.maximum = maximum
    }

    /// Makes packet times of the attributes.
    ///
    /// - Parameters:
    ///   - ptime: The value of `a=ptime` as written, in milliseconds.
    ///   - maxptime: The value of `a=maxptime` as written, in milliseconds. A value that is no positive number of at
    ///     most one second is ignored, in both.
    package init(ptime: String?, maxptime: String?) {
        preferred = ptime.flatMap(Self.microseconds)
        maximum = maxptime.flatMap(Self.microseconds)
    }

    /// The longest duration that is accepted, in microseconds; no packet of audio holds more than a second.
    private static let longest = 1_000_000

    /// Reads `non-zero-int-or-real` (RFC 8866 §9) in milliseconds, to whole microseconds.
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
    /// The packet times of this m-line, parsed.
    package var packetTimes: PacketTime { PacketTime(ptime: packetTime, maxptime: maximumPacketTime) }
}
