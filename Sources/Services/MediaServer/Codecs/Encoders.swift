internal import Audio
internal import Opus
internal import Spandsp
internal import SpeexDSP

/// Encodes Opus.
struct OpusAudioEncoder: AudioEncoder, ~Copyable {
    private var encoder: OpusEncoder
    let samplesPerPacket: Int

    /// - Parameter samplesPerPacket: One of `PacketLength.opus`.
    init(_ configuration: OpusEncoder.Configuration, samplesPerPacket: Int) throws(OpusError) {
        encoder = try OpusEncoder(configuration)
        self.samplesPerPacket = samplesPerPacket
    }

    var channels: Int { encoder.channels }

    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int
    {
        do throws(OpusError) {
            let count = try encoder.encode(samples, into: &payload)
            // A packet of one or two bytes need not be transmitted (DTX, RFC 6716 §2.1.9).
            return count <= 2 ? 0 : count
        } catch {
            throw AudioCodecError(error)
        }
    }

    mutating func reset() { encoder.reset() }
}

/// Converts from 48 to 8 kHz, and encodes G.711.
struct G711AudioEncoder: AudioEncoder, ~Copyable {
    private let law: G711
    private var resampler = Resampler(from: 48_000, to: 8_000)
    private var narrow: [Int16]
    let samplesPerPacket: Int

    /// - Parameter samplesPerPacket: One of `PacketLength.sampled`.
    init(_ law: G711, samplesPerPacket: Int) {
        self.law = law
        self.samplesPerPacket = samplesPerPacket
        narrow = [Int16](repeating: 0, count: samplesPerPacket / 6)
    }

    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int
    {
        guard payload.count >= narrow.count else { throw .noRoom }
        resample(samples, with: &resampler, into: &narrow)
        for index in narrow.indices { payload[index] = law.encode(narrow[index]) }
        return narrow.count
    }

    mutating func reset() { resampler.reset() }
}

/// Converts from 48 to 16 kHz, and encodes G.722.
struct G722AudioEncoder: AudioEncoder, ~Copyable {
    private var encoder = G722Encoder()
    private var resampler = Resampler(from: 48_000, to: 16_000)
    private var wide: [Int16]
    let samplesPerPacket: Int

    /// - Parameter samplesPerPacket: One of `PacketLength.sampled`.
    init(samplesPerPacket: Int) {
        self.samplesPerPacket = samplesPerPacket
        wide = [Int16](repeating: 0, count: samplesPerPacket / 3)
    }

    mutating func encode(_ samples: Span<Int16>, into payload: inout MutableSpan<UInt8>) throws(AudioCodecError) -> Int
    {
        guard payload.count >= wide.count / 2 else { throw .noRoom }
        resample(samples, with: &resampler, into: &wide)
        return Self.encode(wide, with: &encoder, into: &payload)
    }

    mutating func reset() {
        encoder.reset()
        resampler.reset()
    }

    private static func encode(
        _ samples: [Int16], with encoder: inout G722Encoder, into payload: inout MutableSpan<UInt8>
    ) -> Int {
        encoder.encode(samples.span, into: &payload)
    }
}
