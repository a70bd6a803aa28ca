/// What can be read from an Opus packet without decoding it (RFC 6716 §3).
package enum OpusPacket {
    /// Whether the packet carries a redundant copy of the audio before it, in any of its channels (LBRR, RFC 6716
    /// §4.2.3 and §4.2.4).
    ///
    /// The LBRR flags are the first bits that the range coder wrote, each with a probability of one half. Such bits
    /// stand unchanged in the first byte of the frame.
    package static func carriesRedundancy(_ packet: Span<UInt8>) -> Bool {
        guard let toc = packet.isEmpty ? nil : packet[0] else { return false }
        let configuration = toc >> 3
        // Configurations from 16 on are CELT only, which has no LBRR.
        guard configuration < 16, let start = firstFrame(packet), start < packet.count else { return false }
        // SILK only has 10, 20, 40 and 60 ms; hybrid packets have 10 and 20 ms. A SILK frame is 20 ms at most.
        let frames = configuration < 12 ? max(1, Int(configuration & 3)) : 1
        let flags = packet[start]
        let isStereo = toc & 0x04 != 0
        let mid = flags >> UInt8(7 - frames) & 1 != 0
        return mid || (isStereo && 2 * frames + 1 < 8 && flags >> UInt8(7 - 2 * frames - 1) & 1 != 0)
    }

    /// Samples of 48 kHz that the packet declares, 120…5,760 (RFC 6716 §3.1 and §3.2); `nil` if it is no Opus packet.
    package static func sampleCount(of packet: Span<UInt8>) -> Int? {
        guard let toc = packet.isEmpty ? nil : packet[0] else { return nil }
        let frames: Int
        switch toc & 3 {
        case 0: frames = 1
        case 1, 2: frames = 2
        default:
            guard packet.count > 1 else { return nil }
            frames = Int(packet[1] & 0x3F)
        }
        let count = frames * samplesPerFrame(toc >> 3)
        return (1...5_760).contains(count) ? count : nil
    }

    /// SILK: 10, 20, 40, 60 ms; hybrid: 10, 20 ms; CELT: 2.5, 5, 10, 20 ms.
    static func samplesPerFrame(_ configuration: UInt8) -> Int {
        switch configuration {
        case 0..<12: configuration & 3 == 3 ? 2_880 : 480 << Int(configuration & 3)
        case 12..<16: 480 << Int(configuration & 1)
        default: 120 << Int(configuration & 3)
        }
    }

    /// The offset of the first frame (RFC 6716 §3.2); `nil` if the packet is too short.
    private static func firstFrame(_ packet: Span<UInt8>) -> Int? {
        switch packet[0] & 3 {
        case 0, 1: return 1
        case 2:
            guard packet.count > 1 else { return nil }
            return packet[1] < 252 ? 2 : 3
        default:
            guard packet.count > 1 else { return nil }
            var start = 2
            // The padding length is a sequence of bytes; each byte of 255 is followed by another one.
            if packet[1] & 0x40 != 0 {
                while start < packet.count, packet[start] == 255 { start += 1 }
                start += 1
            }
            let frames = Int(packet[1] & 0x3F)
            guard packet[1] & 0x80 != 0, frames > 1 else { return start }
            for _ in 1..<frames {
                guard start < packet.count else { return nil }
                start += packet[start] < 252 ? 1 : 2
            }
            return start
        }
    }
}
