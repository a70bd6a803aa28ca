internal import COpus

/// Decodes Opus packets, mono or stereo, to samples of 48 kHz in one channel or in two interleaved ones, left first
/// (RFC 6716).
///
/// It belongs to one thread, and decoding allocates nothing.
@safe
package struct OpusDecoder: ~Copyable {
    private let decoder: OpaquePointer
    private let channels: Int

    /// Makes a decoder.
    ///
    /// - Parameters:
    ///   - channels: 1 or 2. Stereo packets are mixed down for one channel, and mono packets are put on both of two
    ///     channels.
    ///   - gain: The gain of the output in 1/256 dB, −32,768…32,767 (RFC 7845 §5.1).
    /// - Throws: `OpusError.failed` if libopus refuses or has no memory.
    package init(channels: Int = 1, gain: Int = 0) throws(OpusError) {
        var code: Int32 = 0
        guard let decoder = unsafe opus_decoder_create(48_000, Int32(channels), &code) else { throw OpusError(code) }
        code = unsafe copus_decoder_set_gain(decoder, opus_int32(gain))
        guard code == OPUS_OK else {
            unsafe opus_decoder_destroy(decoder)
            throw OpusError(code)
        }
        unsafe self.decoder = decoder
        self.channels = channels
    }

    deinit { unsafe opus_decoder_destroy(decoder) }

    /// Samples of 48 kHz per channel in a packet, 120…5,760; `nil` if the bytes are no valid Opus packet.
    package static func sampleCount(of packet: Span<UInt8>) -> Int? {
        let count = unsafe packet.withUnsafeBufferPointer { packet in
            guard let bytes = packet.baseAddress else { return OPUS_INVALID_PACKET }
            return unsafe opus_packet_get_nb_samples(bytes, opus_int32(packet.count), 48_000)
        }
        return count > 0 ? Int(count) : nil
    }

    /// Decodes a packet to the start of `samples`. Returns the number of samples per channel.
    ///
    /// - Throws: `malformed` if the packet is not valid, `noRoom` if `samples` is too short.
    package mutating func decode(_ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(OpusError) -> Int
    {
        guard !packet.isEmpty else { throw .malformed }
        return try decode(packet, into: &samples, count: samples.count / channels, isRedundancy: false)
    }

    /// Fills `samples` with the audio before a packet, from the redundant copy in the packet (LBRR), or by concealment
    /// if it has none.
    ///
    /// - Throws: `malformed` if the packet is empty or not valid.
    package mutating func recover(from packet: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(OpusError) {
        guard !packet.isEmpty else { throw .malformed }
        _ = try decode(packet, into: &samples, count: samples.count / channels, isRedundancy: true)
    }

    /// Packet loss concealment: fills `samples`, whose count is a multiple of 120 up to 5,760 per channel.
    ///
    /// - Throws: `OpusError.failed` for another count.
    package mutating func conceal(into samples: inout MutableSpan<Int16>) throws(OpusError) {
        let (decoder, channels) = unsafe (decoder, channels)
        let result = unsafe samples.withUnsafeMutableBufferPointer { samples in
            guard let output = samples.baseAddress else { return OPUS_BAD_ARG }
            return unsafe opus_decode(decoder, nil, 0, output, Int32(samples.count / channels), 0)
        }
        guard result >= 0 else { throw OpusError(result) }
    }

    /// Forgets the stream, as if nothing had been decoded.
    package mutating func reset() { _ = unsafe copus_decoder_reset(decoder) }

    private mutating func decode(
        _ packet: Span<UInt8>, into samples: inout MutableSpan<Int16>, count: Int, isRedundancy: Bool
    ) throws(OpusError) -> Int {
        let decoder = unsafe decoder
        let result = unsafe packet.withUnsafeBufferPointer { packet in
            unsafe samples.withUnsafeMutableBufferPointer { samples in
                guard let output = samples.baseAddress else { return OPUS_BAD_ARG }
                return unsafe opus_decode(
                    decoder, packet.baseAddress, opus_int32(packet.count), output, Int32(count), isRedundancy ? 1 : 0)
            }
        }
        guard result >= 0 else { throw OpusError(result) }
        return Int(result)
    }
}
