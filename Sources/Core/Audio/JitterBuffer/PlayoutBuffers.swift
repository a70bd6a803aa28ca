/// The packets of one stream that wait, and the samples decoded or made in their place.
struct PlayoutBuffers: ~Copyable {
    /// The longest packet of any codec (RFC 6716 §3.2.5), in samples.
    static let longestPacket = 5_760
    /// Codecs conceal whole blocks of 2.5 ms, in samples.
    private static let block = 120

    var packets = JitterBuffer()
    var queue: SampleQueue

    /// - Parameter channels: The channels of the stream's decoder, 1 or 2.
    init(channels: Int) { queue = SampleQueue(channels: channels) }

    mutating func removeAll() {
        packets.removeAll()
        queue.removeAll()
    }

    /// Decodes a packet that was removed. Returns the number of samples per channel; throws what the decoder throws.
    mutating func decode(_ packet: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable)
        throws(AudioCodecError) -> Int
    {
        try Self.decode(packet, of: packets, into: &queue, using: &decoder)
    }

    /// Makes `count` samples from the redundant copy in the packet after the lost one; `false` if it has none.
    mutating func recover(
        _ count: Int, from packet: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable
    ) -> Bool {
        guard !packet.isNoise else { return false }
        return Self.recover(count, from: packet, of: packets, into: &queue, using: &decoder)
    }

    /// Conceals about `count` missing samples, in whole blocks. Returns how many it made.
    mutating func conceal(_ count: Int, using decoder: inout some AudioDecoder & ~Copyable) -> Int {
        let count = max(Self.block, count / Self.block * Self.block)
        var room = queue.room(for: count)
        decoder.conceal(into: &room)
        queue.commit(count)
        return count
    }

    mutating func makeNoise(
        _ sound: ComfortNoise, _ count: Int, using decoder: inout some AudioDecoder & ~Copyable
    ) {
        var room = queue.room(for: count)
        decoder.makeNoise(sound, into: &room)
        queue.commit(count)
    }

    // MARK: Parts

    // The parts are parameters, because a span into one part of a value prevents changes of the whole value.

    private static func decode(
        _ packet: JitterBuffer.Packet, of packets: borrowing JitterBuffer, into queue: inout SampleQueue,
        using decoder: inout some AudioDecoder & ~Copyable
    ) throws(AudioCodecError) -> Int {
        let payload = packets.payload(of: packet)
        var room = queue.room(for: longestPacket)
        let written = try decoder.decode(payload, into: &room)
        queue.commit(written)
        return written
    }

    private static func recover(
        _ count: Int, from packet: JitterBuffer.Packet, of packets: borrowing JitterBuffer,
        into queue: inout SampleQueue,
        using decoder: inout some AudioDecoder & ~Copyable
    ) -> Bool {
        let payload = packets.payload(of: packet)
        guard decoder.carriesRedundancy(payload) else { return false }
        var room = queue.room(for: count)
        do throws(AudioCodecError) {
            try decoder.recover(from: payload, into: &room)
        } catch {
            // The loss is concealed instead.
            return false
        }
        queue.commit(count)
        return true
    }
}
