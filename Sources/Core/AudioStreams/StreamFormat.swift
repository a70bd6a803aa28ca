import Audio
import Primitives

/// The form of the audio of a stream, the same in both directions; always one channel.
package struct StreamFormat: Hashable, Sendable, CustomStringConvertible {
    /// How samples become bytes.
    package enum Encoding: String, Hashable, Sendable, CaseIterable {
        /// Linear samples of 16 bits, the low byte first. It has the name of RFC 3551 §4.5.11, but not its byte order:
        /// programs have little-endian samples in memory.
        case l16
        /// G.711 µ-law, one byte a sample.
        case pcmu
        /// G.711 A-law, one byte a sample.
        case pcma
        /// Opus packets as they are on the wire (RFC 7587). Each binary frame is one packet.
        case opus
    }

    /// The milliseconds of one frame.
    package static let frameMilliseconds = 20
    /// The rates of L16, in samples per second.
    package static let rates = [8_000, 16_000, 24_000, 48_000]

    /// How samples become bytes.
    package let encoding: Encoding
    /// Samples per second: one of `rates` for L16, 8,000 for G.711, 48,000 for Opus.
    package let rate: Int

    /// Makes a format; `nil` if the encoding has no such rate.
    ///
    /// - Parameters:
    ///   - encoding: how samples become bytes.
    ///   - rate: samples per second; `nil`: the usual one, 16,000 for L16, 8,000 for G.711, 48,000 for Opus.
    package init?(_ encoding: Encoding, rate: Int? = nil) {
        let allowed =
            switch encoding {
            case .l16: Self.rates
            case .pcmu, .pcma: [8_000]
            case .opus: [48_000]
            }
        let usual = encoding == .l16 ? 16_000 : allowed[0]
        guard allowed.contains(rate ?? usual) else { return nil }
        self.encoding = encoding
        self.rate = rate ?? usual
    }

    private init(encoding: Encoding, rate: Int) {
        self.encoding = encoding
        self.rate = rate
    }

    /// L16 at 16,000 Hz, what a stream has unless it says otherwise.
    package static let standard = StreamFormat(encoding: .l16, rate: 16_000)
    /// µ-law at 8,000 Hz.
    package static let muLaw = StreamFormat(encoding: .pcmu, rate: 8_000)
    /// A-law at 8,000 Hz.
    package static let aLaw = StreamFormat(encoding: .pcma, rate: 8_000)
    /// Opus as it came.
    package static let opus = StreamFormat(encoding: .opus, rate: 48_000)

    /// Samples in one frame of 20 ms.
    package var samplesPerFrame: Int { rate / 50 }

    /// Bytes of one sample; `nil` for Opus, whose packets have any length.
    package var bytesPerSample: Int? {
        switch encoding {
        case .l16: 2
        case .pcmu, .pcma: 1
        case .opus: nil
        }
    }

    /// Encoding and rate, for logs: `l16/16000`.
    package var description: String { "\(encoding.rawValue)/\(rate)" }

    /// The bytes of samples of this rate. Opus is not encoded here: the result is then empty.
    package func encode(_ samples: [Int16]) -> [UInt8] {
        switch encoding {
        case .l16:
            var bytes = [UInt8](repeating: 0, count: 2 * samples.count)
            var room = bytes.mutableSpan
            for index in samples.indices {
                let word = UInt16(bitPattern: samples[index])
                room[2 * index] = UInt8(truncatingIfNeeded: word)
                room[2 * index + 1] = UInt8(truncatingIfNeeded: word >> 8)
            }
            return bytes
        case .pcmu: return samples.map(G711.muLaw.encode)
        case .pcma: return samples.map(G711.aLaw.encode)
        case .opus: return []
        }
    }

    /// The samples that bytes stand for. Half a sample at the end is left out. Opus is not decoded here: the result is
    /// then empty.
    package func decode(_ bytes: [UInt8]) -> [Int16] {
        switch encoding {
        case .l16:
            var samples = [Int16](repeating: 0, count: bytes.count / 2)
            var room = samples.mutableSpan
            for index in room.indices {
                room[index] = Int16(bitPattern: UInt16(bytes[2 * index + 1]) << 8 | UInt16(bytes[2 * index]))
            }
            return samples
        case .pcmu: return bytes.map(G711.muLaw.decode)
        case .pcma: return bytes.map(G711.aLaw.decode)
        case .opus: return []
        }
    }

    /// The byte that stands for silence; 0 for Opus, which has none.
    package var silence: UInt8 {
        switch encoding {
        case .l16, .opus: 0
        case .pcmu: G711.muLaw.silence
        case .pcma: G711.aLaw.silence
        }
    }
}
