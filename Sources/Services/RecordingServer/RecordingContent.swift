import Audio
import CallControl
import CallRuntime
import Opus
import Primitives

/// Makes the bytes of a file of 20 ms after 20 ms of samples.
protocol RecordingContent: AnyObject {
    /// What the file starts with.
    func start() -> [UInt8]
    /// Takes 20 ms of 48 kHz. Returns what belongs at the end of the file.
    ///
    /// - Throws: `OpusError`.
    func add(_ samples: Span<Int16>) throws(OpusError) -> [UInt8]
    /// Takes a packet of Opus. Returns what belongs at the end of the file.
    func add(_ packet: RecordedPacket) -> [UInt8]
    /// What belongs at the end of the file, so that everything up to now can be played.
    func flush() -> [UInt8]
    /// What belongs at the end of the file behind which nothing more comes.
    ///
    /// - Throws: `OpusError`.
    func finish() throws(OpusError) -> [UInt8]
    /// The start of the file anew, once it has so many bytes; `nil`: it stays as it is.
    func restart(size: Int) -> [UInt8]?
}

/// A RIFF/WAVE file. Its header says how much there is, and so is written anew.
final class WaveContent: RecordingContent {
    private let header: WaveHeader

    init(channels: Int) { header = WaveHeader(rate: 48_000, channels: channels) }

    func start() -> [UInt8] { header.bytes(dataSize: 0) }

    func add(_ samples: Span<Int16>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(2 * samples.count)
        for index in samples.indices {
            bytes.append(UInt8(truncatingIfNeeded: samples[index]))
            bytes.append(UInt8(truncatingIfNeeded: samples[index] >> 8))
        }
        return bytes
    }

    func add(_ packet: RecordedPacket) -> [UInt8] { preconditionFailure("packets are for Ogg files") }
    func flush() -> [UInt8] { [] }
    func finish() -> [UInt8] { [] }
    func restart(size: Int) -> [UInt8]? { header.bytes(dataSize: size - WaveHeader.size) }
}

/// An Ogg file with Opus. Samples and packets may come in turn: a packet says by itself what it is.
final class OggContent: RecordingContent {
    /// What libopus delays at 48 kHz, in samples: 6.5 ms.
    static let preSkip = 312
    private static let bitsPerChannel = 40_000

    private var encoder: OpusEncoder
    private var writer: OggOpusWriter
    private let channels: Int
    private var played = 0
    private var packet = [UInt8](repeating: 0, count: 1_500)

    init(channels: Int, serialNumber: UInt32) throws(OpusError) {
        var configuration = OpusEncoder.Configuration()
        configuration.channels = channels
        configuration.bitrate = channels * Self.bitsPerChannel
        encoder = try OpusEncoder(configuration)
        writer = OggOpusWriter(channels: channels, preSkip: Self.preSkip, serialNumber: serialNumber)
        self.channels = channels
    }

    func start() -> [UInt8] { writer.start(vendor: "orbweaver") }

    func add(_ samples: Span<Int16>) throws(OpusError) -> [UInt8] {
        played += samples.count / channels
        return try encode(samples)
    }

    func add(_ packet: RecordedPacket) -> [UInt8] {
        played += packet.samples
        return writer.add(packet.bytes.span, samples: packet.samples)
    }

    func flush() -> [UInt8] { writer.flush() }

    /// The delay of the encoder has the end of the audio in one more packet, which is also the one of the last page.
    func finish() throws(OpusError) -> [UInt8] {
        let rest = [Int16](repeating: 0, count: channels * AudioMixer.frame)
        return try encode(rest.span) + writer.finish(played: played)
    }

    func restart(size: Int) -> [UInt8]? { nil }

    private func encode(_ samples: Span<Int16>) throws(OpusError) -> [UInt8] {
        var buffer: [UInt8] = []
        swap(&buffer, &packet)
        defer { swap(&buffer, &packet) }
        let count = try Self.encode(samples, with: &encoder, into: &buffer)
        return writer.add(buffer.span.extracting(0..<count), samples: AudioMixer.frame)
    }

    private static func encode(
        _ samples: Span<Int16>, with encoder: inout OpusEncoder, into packet: inout [UInt8]
    ) throws(OpusError) -> Int {
        var span = packet.mutableSpan
        return try encoder.encode(samples, into: &span)
    }
}
