internal import Audio

/// Speaks to one leg: 20 ms of samples in at a time, packets as long as the peer wants them out.
protocol AudioSender: AnyObject {
    /// How many samples of 48 kHz a packet holds, per channel.
    var samplesPerPacket: Int { get }
    /// How many are coded.
    var channels: Int { get }
    /// Nothing waits for the rest of its packet.
    var isBetweenPackets: Bool { get }

    /// - Parameter channels: of the samples; two come by turns. What the coder has fewer of is folded, what it has more of is said twice.
    func append(_ samples: Span<Int16>, channels: Int)
    /// Codes the next packet and returns the payload's size, 0 if there is nothing to send; `nil` if too little audio waits for one.
    func nextPacket(into payload: inout MutableSpan<UInt8>) -> Int?
    /// Forgets the stream, between packets: what comes next begins anew.
    func reset()
}

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
            // A packet that cannot be coded is one that is not sent.
            return 0
        }
    }

    func reset() {
        encoder.reset()
        waiting.removeAll()
    }
}
