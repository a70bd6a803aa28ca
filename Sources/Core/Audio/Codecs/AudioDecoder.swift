/// Turns the packets of one stream into samples, one after the other.
///
/// The engine counts audio in samples per channel at 48 kHz. Every decoder converts the audio of its codec to that rate
/// and to the number of channels it was made for, whatever a packet has. No function may allocate once the decoder has
/// been made.
package protocol AudioDecoder: ~Copyable {
    /// 1 or 2, constant for the life of the decoder. Two channels are interleaved, left first, in all spans of this
    /// protocol.
    var channels: Int { get }

    /// How many samples per channel `payload` decodes to, read from its header; `nil` if it cannot be decoded.
    func sampleCount(of payload: Span<UInt8>) -> Int?

    /// Decodes one payload to the start of `samples`.
    ///
    /// - Returns: The number of samples written, per channel.
    /// - Throws: `malformed` if the payload is not valid for the codec, `noRoom` if `samples` is too short. The decoder
    ///   stays usable.
    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int

    /// Whether `payload` carries a redundant copy of the audio before it (LBRR, RFC 6716 §2.1.7).
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool

    /// Fills all of `samples` with the audio of a lost packet, decoded from the copy in the packet after it.
    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError)

    /// Packet loss concealment: fills all of `samples` in place of lost audio, and fades out when called repeatedly.
    mutating func conceal(into samples: inout MutableSpan<Int16>)

    /// Fills all of `samples` with comfort noise (RFC 3389), continuous with the noise made before.
    mutating func makeNoise(_ noise: ComfortNoise, into samples: inout MutableSpan<Int16>)

    /// The next DTMF digit detected in the decoded audio, each press once; `nil` if there is no more.
    mutating func nextDigit() -> Character?

    /// Forgets the stream, as if nothing had been decoded.
    mutating func reset()
}

extension AudioDecoder where Self: ~Copyable {
    /// One channel, the default for codecs without stereo.
    package var channels: Int { 1 }

    /// No DTMF digits, the default for decoders that do not detect DTMF tones.
    package mutating func nextDigit() -> Character? { nil }

    /// Silence, the default for codecs that describe pauses in their own format instead of RFC 3389.
    package mutating func makeNoise(_ noise: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = 0 }
    }
}

/// Why a payload was not decoded or not encoded.
package enum AudioCodecError: Error, Equatable, Sendable {
    /// The payload is not valid for the codec.
    case malformed
    /// The buffer is too short for the result: an error of the caller, or a payload longer than any that is allowed.
    case noRoom
    /// The codec library refused; the value is the library's own error code.
    case failed(Int32)
}
