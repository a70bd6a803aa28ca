/// Turns samples of 48 kHz, one channel, into the payloads of one stream.
///
/// Nothing here may allocate once the encoder has been made.
package protocol AudioEncoder: ~Copyable {
    /// How many samples of 48 kHz make one packet, 120…5,760; 960 for 20 ms.
    var samplesPerPacket: Int { get }

    /// Encodes exactly `samplesPerPacket` samples to the beginning of `payload`.
    ///
    /// - Returns: The number of bytes written; 0 if nothing needs to be sent, which only discontinuous transmission does.
    /// - Throws: `noRoom` if `payload` is too short.
    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int

    /// Forgets the stream, as if nothing had been encoded.
    mutating func reset()
}
