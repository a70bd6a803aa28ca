import Audio
import Opus
import Primitives
import RTP

/// The media of a mix without its network: each leg's packets through playout and decoder, the mixer, an encoder per
/// leg, all of them in one channel or in two.
final class MixLoop {
    private let receivers: [MixReceiver]
    private let encoders: [MixEncoder]
    private var mixer = AudioMixer()
    private let payloads: [[UInt8]]
    private var cycle = 0
    private let channels: Int
    private var samples: [Int16]

    init(legs: Int, payloads: [[UInt8]], channels: Int) throws {
        receivers = try (0..<legs).map { _ in try MixReceiver(channels) }
        encoders = try (0..<legs).map { _ in try MixEncoder(channels) }
        samples = [Int16](repeating: 0, count: AudioMixer.frame * channels)
        self.channels = channels
        self.payloads = payloads
    }

    func run(cycles: Int) {
        for _ in 0..<cycles {
            let now = MonotonicTime(nanoseconds: UInt64(cycle) * 20_000_000)
            for (place, receiver) in receivers.enumerated() {
                // Everybody says something else at a time.
                receiver.insert(payloads[(cycle + 17 * place) % payloads.count], number: cycle, at: now)
                if receiver.advance(at: now) { mixer.setInput(receiver.frame.span, channels: channels, of: place) }
            }
            _ = mixer.mix()
            for (place, encoder) in encoders.enumerated() {
                mixer.output(for: place, into: &samples)
                encoder.encode(samples)
            }
            mixer.finishCycle()
            cycle += 1
        }
    }
}

/// Owners of codecs in an array: those cannot be copied.
private final class MixReceiver {
    private var playout: AudioPlayout
    private var decoder: PlainOpusDecoder
    private(set) var frame: [Int16]

    init(_ channels: Int) throws {
        playout = AudioPlayout(channels: channels)
        decoder = PlainOpusDecoder(channels: channels, decoder: try OpusDecoder(channels: channels))
        frame = [Int16](repeating: 0, count: AudioMixer.frame * channels)
    }

    func insert(_ payload: [UInt8], number: Int, at now: MonotonicTime) {
        playout.insert(
            payload.span, number: SequenceNumber(UInt16(truncatingIfNeeded: number)),
            timestamp: RTPTimestamp(UInt32(truncatingIfNeeded: number * AudioMixer.frame)), clockRate: 48_000,
            sampleCount: AudioMixer.frame,
            at: now)
    }

    func advance(at now: MonotonicTime) -> Bool {
        var span = frame.mutableSpan
        return playout.pull(into: &span, using: &decoder, at: now)
    }
}

private final class MixEncoder {
    private var encoder: OpusEncoder
    private var packet = [UInt8](repeating: 0, count: 1_276)

    init(_ channels: Int) throws { encoder = try OpusEncoder(BareOpus.configuration(channels)) }

    func encode(_ samples: [Int16]) {
        var span = packet.mutableSpan
        do { _ = try encoder.encode(samples.span, into: &span) } catch {
            preconditionFailure("20 ms fit a packet: \(error)")
        }
    }
}

/// Opus for a playout whose packets all arrive.
private struct PlainOpusDecoder: AudioDecoder, ~Copyable {
    let channels: Int
    var decoder: OpusDecoder

    func sampleCount(of payload: Span<UInt8>) -> Int? { OpusDecoder.sampleCount(of: payload) }
    func carriesRedundancy(_ payload: Span<UInt8>) -> Bool { OpusPacket.carriesRedundancy(payload) }

    mutating func decode(_ payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) -> Int
    {
        do throws(OpusError) { return try decoder.decode(payload, into: &samples) } catch { throw .malformed }
    }

    mutating func recover(from payload: Span<UInt8>, into samples: inout MutableSpan<Int16>) throws(AudioCodecError) {
        do throws(OpusError) { try decoder.recover(from: payload, into: &samples) } catch { throw .malformed }
    }

    mutating func conceal(into samples: inout MutableSpan<Int16>) {
        do throws(OpusError) { try decoder.conceal(into: &samples) } catch {
            preconditionFailure("20 ms can be concealed: \(error)")
        }
    }

    mutating func reset() { decoder.reset() }
}
