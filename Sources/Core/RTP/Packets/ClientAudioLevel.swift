/// How loud the audio of a packet is, as its sender says in a header extension (RFC 6464 §3).
///
///      0 1 2 3 4 5 6 7
///     |V|    level    |
///
/// Whether the sender takes it for speech (V) nobody asks here: senders that cannot tell are free to say either.
package struct ClientAudioLevel: Hashable, Sendable {
    /// dB below the loudest that can be said, 0…127: 127 is digital silence.
    package let decibelsBelow: UInt8

    /// `nil` for anything but one byte.
    package init?(parsing data: Span<UInt8>) {
        guard data.count == 1 else { return nil }
        decibelsBelow = data[0] & 0x7F
    }

    /// dBov, −127…0.
    package var decibels: Double { 0 - Double(decibelsBelow) }
}
