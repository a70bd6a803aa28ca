/// The payload of a key that is pressed (RFC 4733 §2.3).
///
///      |     event     |E|R| volume    |          duration             |
package struct TelephoneEvent: Equatable, Sendable {
    package static let size = 4
    private static let keys: [Character] = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#", "A", "B", "C", "D",
    ]

    /// 0…15 are the keys; others are no keys.
    package var event: UInt8
    package var isEnd: Bool
    /// dB below full scale, 0…63.
    package var volume: UInt8
    /// So far, in ticks of the stream's clock.
    package var duration: UInt16

    /// - Parameter digit: `0…9 * # A…D`.
    package init(digit: Character, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        guard let event = Self.keys.firstIndex(of: digit) else { preconditionFailure("a digit has a key") }
        self.event = UInt8(event)
        self.isEnd = isEnd
        self.volume = volume
        self.duration = duration
    }

    /// `nil` for a payload that is too short.
    package init?(parsing payload: Span<UInt8>) {
        guard payload.count >= Self.size else { return nil }
        event = payload[0]
        isEnd = payload[1] & 0x80 != 0
        volume = payload[1] & 0x3F
        duration = payload.bigEndian16(at: 2)
    }

    package func write(to payload: inout MutableSpan<UInt8>) {
        payload[0] = event
        payload[1] = (isEnd ? 0x80 : 0) | volume & 0x3F
        payload.setBigEndian16(duration, at: 2)
    }

    /// `nil` for events that are no keys.
    package var digit: Character? { event < Self.keys.count ? Self.keys[Int(event)] : nil }
}
