/// Turns the packets of one stream into samples, one after the other.
///
/// The engine counts audio in samples of 48 kHz per channel: every decoder brings its codec to that rate, and to as many channels as
/// it was made for, whatever each packet has. Nothing here may allocate once the decoder has been made.
package protocol AudioDecoder: ~Copyable {
    /// 1 or 2 for as long as the decoder lives; the samples of two come by turns, left and right, in all spans here.
    var channels: Int { get }

    /// How many samples per channel `payload` will make, read from its header; `nil` if it cannot be decoded.
    func sampleCount(of payload: Span<UInt8>) -> Int?

    /// Decodes one payload to the beginning of `samples`.
    ///
    /// - Returns: The number of samples written, per channel.
    /// - Throws: `malformed` for a payload that is none, `noRoom` if `samples` is too short; the decoder stays usable.
    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int

    /// Whether `payload` carries a copy of the audio before it (RFC 6716 §2.1.7, LBRR).
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool

    /// Fills all of `samples` with the audio that a lost packet held, from the copy in the packet after it.
    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError)

    /// Fills all of `samples` with what hides a loss; called again and again, it fades out.
    mutating func conceal(into samples: inout MutableSpan<Int16>)

    /// Fills all of `samples` with comfort noise (RFC 3389), going on where it stopped.
    mutating func makeNoise(_ noise: ComfortNoise, into samples: inout MutableSpan<Int16>)

    /// The next key that was heard in what has been decoded, each press once; `nil` if there is no more.
    mutating func nextKey() -> Character?

    /// Forgets the stream, as if nothing had been decoded.
    mutating func reset()
}

extension AudioDecoder where Self: ~Copyable {
    /// For codecs that know no more.
    package var channels: Int { 1 }

    /// For those who do not listen for keys.
    package mutating func nextKey() -> Character? { nil }

    /// For codecs that have their own way of saying nothing: silence.
    package mutating func makeNoise(_ noise: ComfortNoise, into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = 0 }
    }
}

package enum AudioCodecError: Error, Equatable, Sendable {
    /// The peer's payload is not what the codec makes.
    case malformed
    /// The buffer given is too short for what has to go in; a caller's mistake or a payload longer than any allowed.
    case noRoom
    /// The library refused; its own code.
    case failed(Int32)
}
