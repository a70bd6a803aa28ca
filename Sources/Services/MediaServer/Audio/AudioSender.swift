internal import Audio

/// Speaks to one leg: 20 ms of samples in at a time, packets as long as the peer wants them out.
protocol AudioSender: AnyObject {
    /// How many samples of 48 kHz a packet holds.
    var samplesPerPacket: Int { get }
    /// Nothing waits for the rest of its packet.
    var isBetweenPackets: Bool { get }

    func append(_ samples: Span<Int16>)
    /// Codes the next packet and returns the payload's size, 0 if there is nothing to send; `nil` if too little audio waits for one.
    func nextPacket(into payload: inout MutableSpan<UInt8>) -> Int?
}

final class EncodingSender<Encoder: AudioEncoder & ~Copyable>: AudioSender {
    private var encoder: Encoder
    private var waiting: SampleQueue

    init(_ encoder: consuming Encoder) {
        waiting = SampleQueue(capacity: encoder.samplesPerPacket + AudioMixer.frame)
        self.encoder = encoder
    }

    var samplesPerPacket: Int { encoder.samplesPerPacket }
    var isBetweenPackets: Bool { waiting.count == 0 }

    func append(_ samples: Span<Int16>) {
        var room = waiting.room(for: samples.count)
        for index in samples.indices { room[index] = samples[index] }
        waiting.commit(samples.count)
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
}
