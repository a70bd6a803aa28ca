internal import COpus

/// Encodes samples of 48 kHz, in one channel or two, to Opus packets (RFC 6716).
///
/// It belongs to one thread, and encoding allocates nothing.
@safe
package struct OpusEncoder: ~Copyable {
    /// The parameters of an encoder.
    package struct Configuration: Equatable, Sendable {
        /// 1 or 2. Two channels are interleaved, left first.
        package var channels = 1
        /// Bits per second, 6,000…510,000; `nil` leaves the choice to libopus.
        package var bitrate: Int?
        /// The highest sampling rate that the receiver can play, 8,000…48,000 Hz (RFC 7587 §6.1).
        package var maximumPlaybackRate = 48_000
        /// Whether a packet of speech has a redundant copy of the packet before it (LBRR). It needs an `expectedLoss`
        /// above 0.
        package var usesInbandFEC = false
        /// The expected packet loss in percent, 0…100, for which the encoder reserves bits.
        package var expectedLoss = 0
        /// Whether packets are left out in silence (discontinuous transmission).
        package var usesDTX = false
        /// Whether the bit rate is constant, and does not vary with the audio.
        package var isConstantBitrate = false
        /// The computational complexity, 0…10.
        package var complexity = 5

        /// Makes the default: mono, no FEC, no DTX, variable bit rate, and complexity 5.
        package init() {}
    }

    private let encoder: OpaquePointer
    /// The number of channels, 1 or 2.
    package let channels: Int

    /// Makes an encoder.
    ///
    /// - Throws: `OpusError.failed` if libopus refuses a parameter or has no memory.
    package init(_ configuration: Configuration = Configuration()) throws(OpusError) {
        var code: Int32 = 0
        // Two channels are not a telephone: such audio is music or a recording.
        let application = configuration.channels == 1 ? OPUS_APPLICATION_VOIP : OPUS_APPLICATION_AUDIO
        guard let encoder = unsafe opus_encoder_create(48_000, Int32(configuration.channels), application, &code) else {
            throw OpusError(code)
        }
        code = unsafe Self.apply(configuration, to: encoder)
        guard code == OPUS_OK else {
            unsafe opus_encoder_destroy(encoder)
            throw OpusError(code)
        }
        unsafe self.encoder = encoder
        channels = configuration.channels
    }

    /// Returns the first code that is not OPUS_OK.
    private static func apply(_ configuration: Configuration, to encoder: OpaquePointer) -> Int32 {
        let codes = unsafe [
            configuration.bitrate.map { unsafe copus_encoder_set_bitrate(encoder, opus_int32($0)) } ?? OPUS_OK,
            copus_encoder_set_max_bandwidth(encoder, bandwidth(for: configuration.maximumPlaybackRate)),
            copus_encoder_set_inband_fec(encoder, configuration.usesInbandFEC ? 1 : 0),
            copus_encoder_set_packet_loss(encoder, opus_int32(configuration.expectedLoss)),
            copus_encoder_set_dtx(encoder, configuration.usesDTX ? 1 : 0),
            copus_encoder_set_vbr(encoder, configuration.isConstantBitrate ? 0 : 1),
            copus_encoder_set_complexity(encoder, opus_int32(configuration.complexity)),
        ]
        return codes.first { $0 != OPUS_OK } ?? OPUS_OK
    }

    deinit { unsafe opus_encoder_destroy(encoder) }

    /// Encodes 2.5, 5, 10, 20, 40, 60, 80, 100 or 120 ms, 120…5,760 samples per channel, to the start of `packet`.
    /// Returns the size of the packet. One or two bytes mean that the packet need not be sent.
    ///
    /// - Throws: `noRoom` if `packet` is too short, `failed` for another number of samples.
    package mutating func encode(_ samples: Span<Int16>, into packet: inout MutableSpan<UInt8>) throws(OpusError) -> Int
    {
        let (encoder, channels) = unsafe (encoder, channels)
        let result = unsafe samples.withUnsafeBufferPointer { samples in
            unsafe packet.withUnsafeMutableBufferPointer { packet in
                guard let input = samples.baseAddress, let output = packet.baseAddress else { return OPUS_BAD_ARG }
                return unsafe opus_encode(
                    encoder, input, Int32(samples.count / channels), output, opus_int32(packet.count))
            }
        }
        guard result >= 0 else { throw OpusError(result) }
        return Int(result)
    }

    /// Forgets the stream, as if nothing had been encoded.
    package mutating func reset() { _ = unsafe copus_encoder_reset(encoder) }

    private static func bandwidth(for rate: Int) -> opus_int32 {
        switch rate {
        case ..<12_000: OPUS_BANDWIDTH_NARROWBAND
        case ..<16_000: OPUS_BANDWIDTH_MEDIUMBAND
        case ..<24_000: OPUS_BANDWIDTH_WIDEBAND
        case ..<48_000: OPUS_BANDWIDTH_SUPERWIDEBAND
        default: OPUS_BANDWIDTH_FULLBAND
        }
    }
}
