/// Turns samples of 48 kHz, in one channel or two, into the payloads of one stream.
///
/// No function may allocate once the encoder has been made.
package protocol AudioEncoder: ~Copyable {
    /// 1 or 2. Two channels are interleaved, left first.
    var channels: Int { get }

    /// Samples of 48 kHz per channel in one packet, 120…5,760; 960 for 20 ms.
    var samplesPerPacket: Int { get }

    /// Encodes exactly `samplesPerPacket` samples per channel to the start of `payload`.
    ///
    /// - Returns: The number of bytes written. 0 means that no packet needs to be sent, which happens only with
    ///   discontinuous transmission.
    /// - Throws: `noRoom` if `payload` is too short.
    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int

    /// Forgets the stream, as if nothing had been encoded.
    mutating func reset()
}

extension AudioEncoder where Self: ~Copyable {
    /// One channel, the default for codecs without stereo.
    package var channels: Int { 1 }
}
