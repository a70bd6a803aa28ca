/// Turns samples of 48 kHz, in one channel or two, into the payloads of one stream.
///
/// Nothing here may allocate once the encoder has been made.
package protocol AudioEncoder: ~Copyable {
    /// 1 or 2; the samples of two come by turns, left and right.
    var channels: Int { get }

    /// How many samples of 48 kHz make one packet, 120…5,760; 960 for 20 ms.
    var samplesPerPacket: Int { get }

    /// Encodes exactly `samplesPerPacket` samples per channel to the beginning of `payload`.
    ///
    /// - Returns: The number of bytes written; 0 if nothing needs to be sent, which only discontinuous transmission does.
    /// - Throws: `noRoom` if `payload` is too short.
    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int

    /// Forgets the stream, as if nothing had been encoded.
    mutating func reset()
}

extension AudioEncoder where Self: ~Copyable {
    /// For codecs that know no more.
    package var channels: Int { 1 }
}
