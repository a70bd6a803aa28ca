internal import Audio

/// Encodes audio for one leg: 20 ms of samples in at a time, packets of the length that the peer wants out.
protocol AudioSender: AnyObject {
    /// Samples of 48 kHz per channel in a packet.
    var samplesPerPacket: Int { get }
    /// The number of channels that are encoded, 1 or 2.
    var channels: Int { get }
    /// Whether no samples wait for the rest of their packet.
    var isBetweenPackets: Bool { get }

    /// Appends samples to be encoded.
    ///
    /// - Parameter channels: The channels of `samples`; two are interleaved. Stereo is mixed down for a mono encoder,
    ///   and mono is sent on both channels of a stereo encoder.
    func append(_ samples: Span<Int16>, channels: Int)
    /// Encodes the next packet. Returns the size of the payload, or 0 if the encoder has nothing to send; `nil` if too
    /// few samples wait for a packet.
    func nextPacket(into payload: inout MutableSpan<UInt8>) -> Int?
    /// Forgets the stream, between packets; the encoder starts anew.
    func reset()
}

/// Collects samples for the packets of one encoder.
final class EncodingSender<Encoder: AudioEncoder & ~Copyable>: AudioSender {
    private var encoder: Encoder
    private var waiting: SampleQueue

    init(_ encoder: consuming Encoder) {
        waiting = SampleQueue(capacity: encoder.samplesPerPacket + AudioMixer.frame, channels: encoder.channels)
        self.encoder = encoder
    }

    var samplesPerPacket: Int { encoder.samplesPerPacket }
    var channels: Int { encoder.channels }
    var isBetweenPackets: Bool { waiting.count == 0 }

    func append(_ samples: Span<Int16>, channels: Int) {
        let count = samples.count / channels
        var room = waiting.room(for: count)
        if channels == encoder.channels {
            for index in samples.indices { room[index] = samples[index] }
        } else if channels == 1 {
            for index in 0..<count { (room[2 * index], room[2 * index + 1]) = (samples[index], samples[index]) }
        } else {
            for index in 0..<count { room[index] = Int16((Int(samples[2 * index]) + Int(samples[2 * index + 1])) / 2) }
        }
        waiting.commit(count)
    }

    func nextPacket(into payload: inout MutableSpan<UInt8>) -> Int? {
        let count = encoder.samplesPerPacket
        guard waiting.count >= count else { return nil }
        defer { waiting.removeFirst(count) }
        do throws(AudioCodecError) {
            return try encoder.encode(waiting.first(count), into: &payload)
        } catch {
            // A packet that cannot be encoded is not sent.
            return 0
        }
    }

    func reset() {
        encoder.reset()
        waiting.removeAll()
    }
}
