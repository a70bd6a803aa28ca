/// The audio level of a packet, as its sender states it in a header extension (RFC 6464 §3).
///
///      0 1 2 3 4 5 6 7
///     |V|    level    |
///
/// The gateway ignores the sender's voice activity flag (V): a sender that cannot detect speech may set either value.
package struct ClientAudioLevel: Hashable, Sendable {
    /// dB below overload, 0…127; 127 is digital silence.
    package let decibelsBelow: UInt8

    /// `nil` if the element is not one byte long.
    package init?(parsing data: Span<UInt8>) {
        guard data.count == 1 else { return nil }
        decibelsBelow = data[0] & 0x7F
    }

    /// The level in dBov, −127…0.
    package var decibels: Double { 0 - Double(decibelsBelow) }
}
