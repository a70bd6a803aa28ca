internal import Audio
internal import AudioStreams
internal import Opus

/// What a stream of Opus needs where its packets cannot pass as they are: an encoder for what no peer has encoded, and
/// a decoder for those who hear the program in another way than its peer.
///
/// Samples are of 48 kHz, in one channel. Confined to the thread of the leg's worker.
final class OpusStreamCoder {
    private var encoder: OpusEncoder
    private var decoder: OpusDecoder
    /// What was decoded, and is heard in later cycles.
    private var waiting: [Int16] = []
    /// What is heard in this cycle.
    private var frame = [Int16](repeating: 0, count: AudioMixer.frame)

    /// The longest packet of Opus lasts 120 ms (RFC 6716 §2.1.4).
    private static let longestPacket = 5_760
    /// Bytes of a packet with 20 ms, at most.
    private static let largestPacket = 1_275

    /// Makes a coder.
    ///
    /// - Throws: what libopus says, which is that it has no memory.
    init() throws(OpusError) {
        encoder = try OpusEncoder()
        decoder = try OpusDecoder()
    }

    /// The coder of a stream with this format; `nil`: it needs none, or there is no memory for it.
    static func make(for format: StreamFormat) -> OpusStreamCoder? {
        guard format.encoding == .opus else { return nil }
        do throws(OpusError) {
            return try OpusStreamCoder()
        } catch {
            return nil
        }
    }

    /// The packet of 20 ms; `nil` if libopus refuses them.
    func encode(_ samples: Span<Int16>) -> [UInt8]? {
        var packet = [UInt8](repeating: 0, count: Self.largestPacket)
        let count = encode(samples, into: &packet)
        guard count > 0 else { return nil }
        packet.removeLast(packet.count - count)
        return packet
    }

    private func encode(_ samples: Span<Int16>, into packet: inout [UInt8]) -> Int {
        var room = packet.mutableSpan
        do throws(OpusError) {
            return try encoder.encode(samples, into: &room)
        } catch {
            return 0
        }
    }

    /// 20 ms pass, in which these packets start. One that is broken is silence.
    func advance(_ packets: [[UInt8]]) {
        for packet in packets {
            var samples = [Int16](repeating: 0, count: Self.longestPacket)
            let count = decode(packet, into: &samples)
            waiting += samples[..<count]
        }
        let count = min(frame.count, waiting.count)
        for index in frame.indices { frame[index] = index < count ? waiting[index] : 0 }
        waiting.removeFirst(count)
    }

    private func decode(_ packet: [UInt8], into samples: inout [Int16]) -> Int {
        let length = OpusPacket.sampleCount(of: packet.span) ?? 0
        var room = samples.mutableSpan
        do throws(OpusError) {
            return try decoder.decode(packet.span, into: &room)
        } catch {
            return length
        }
    }

    /// Takes what is heard in this cycle.
    func take(into samples: inout MutableSpan<Int16>) {
        for index in samples.indices { samples[index] = frame[index] }
    }

    /// Forgets what was decoded: the program has stopped.
    func forget() { waiting.removeAll(keepingCapacity: true) }
}
