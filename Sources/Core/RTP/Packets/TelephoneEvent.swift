/// The payload of a telephone event packet (RFC 4733 §2.3).
///
///      |     event     |E|R| volume    |          duration             |
package struct TelephoneEvent: Equatable, Sendable {
    /// Bytes of a payload.
    package static let size = 4
    private static let digits: [Character] = [
        "0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "*", "#", "A", "B", "C", "D",
    ]

    /// The event code. 0…15 are DTMF digits; other codes are other events (RFC 4733 §3.2).
    package var event: UInt8
    /// The E bit: the event has ended.
    package var isEnd: Bool
    /// The power level as dB below 0 dBm0, 0…63 (RFC 4733 §2.3.4).
    package var volume: UInt8
    /// The duration so far, in ticks of the RTP clock.
    package var duration: UInt16

    /// Makes a DTMF event; the volume is −10 dBm0 unless given.
    ///
    /// - Parameter digit: `0…9`, `*`, `#` or `A…D`; any other character traps.
    package init(digit: Character, isEnd: Bool, volume: UInt8 = 10, duration: UInt16) {
        guard let event = Self.digits.firstIndex(of: digit) else { preconditionFailure("a DTMF digit has an event") }
        self.event = UInt8(event)
        self.isEnd = isEnd
        self.volume = volume
        self.duration = duration
    }

    /// Parses a payload; `nil` if it is too short.
    package init?(parsing payload: Span<UInt8>) {
        guard payload.count >= Self.size else { return nil }
        event = payload[0]
        isEnd = payload[1] & 0x80 != 0
        volume = payload[1] & 0x3F
        duration = payload.bigEndian16(at: 2)
    }

    /// Writes the event to the start of `payload`, which has at least `size` bytes.
    package func write(to payload: inout MutableSpan<UInt8>) {
        payload[0] = event
        payload[1] = (isEnd ? 0x80 : 0) | volume & 0x3F
        payload.setBigEndian16(duration, at: 2)
    }

    /// The DTMF digit of the event; `nil` for other events.
    package var digit: Character? { event < Self.digits.count ? Self.digits[Int(event)] : nil }
}
