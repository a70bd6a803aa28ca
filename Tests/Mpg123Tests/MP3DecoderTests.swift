import Mpg123
import Testing

struct MP3DecoderTests {
    /// A frame by its header; what follows are zeros, which is silence, or bytes of no meaning.
    struct Frame: Sendable, CustomTestStringConvertible {
        let header: [UInt8]
        let size: Int
        let rate: Int
        let channels: Int
        let samples: Int

        init(_ header: [UInt8], size: Int, rate: Int, channels: Int, samples: Int) {
            (self.header, self.size, self.rate, self.channels) = (header, size, rate, channels)
            self.samples = samples
        }

        var silence: [UInt8] { header + [UInt8](repeating: 0, count: size - header.count) }

        func noise(_ seed: UInt64) -> [UInt8] {
            var state = seed
            return header
                + (header.count..<size).map { _ in
                    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                    return UInt8(truncatingIfNeeded: state >> 56)
                }
        }

        var testDescription: String { "\(rate) Hz, \(channels) channels" }
    }

    /// Each sample rate of MPEG-1, MPEG-2 and MPEG-2.5.
    static let frames = [
        Frame([0xFF, 0xFB, 0x90, 0x00], size: 417, rate: 44_100, channels: 2, samples: 1_152),
        Frame([0xFF, 0xFB, 0x54, 0xC0], size: 192, rate: 48_000, channels: 1, samples: 1_152),
        Frame([0xFF, 0xFB, 0x58, 0xC0], size: 288, rate: 32_000, channels: 1, samples: 1_152),
        Frame([0xFF, 0xF3, 0x80, 0x00], size: 208, rate: 22_050, channels: 2, samples: 576),
        Frame([0xFF, 0xF3, 0x84, 0xC0], size: 192, rate: 24_000, channels: 1, samples: 576),
        Frame([0xFF, 0xF3, 0x88, 0xC0], size: 288, rate: 16_000, channels: 1, samples: 576),
        Frame([0xFF, 0xE3, 0x80, 0x40], size: 417, rate: 11_025, channels: 2, samples: 576),
        Frame([0xFF, 0xE3, 0x84, 0xC0], size: 384, rate: 12_000, channels: 1, samples: 576),
        Frame([0xFF, 0xE3, 0x88, 0xC0], size: 576, rate: 8_000, channels: 1, samples: 576),
    ]

    /// What is made of each of the inputs.
    private static func decoded(_ inputs: [[UInt8]], rate: Int, channels: Int) throws(MP3Error) -> [[Int16]] {
        var decoder = try MP3Decoder(rate: rate, channels: channels)
        var samples = [Int16](repeating: 99, count: MP3Decoder.longestFrame * channels)
        var pieces: [[Int16]] = []
        for input in inputs {
            let made = try decode(input, with: &decoder, into: &samples)
            pieces.append(Array(samples[..<made]))
        }
        return pieces
    }

    private static func decode(
        _ input: [UInt8], with decoder: inout MP3Decoder, into samples: inout [Int16]
    ) throws(MP3Error) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(input.span, into: &span)
    }

    @Test(arguments: frames) func `each frame is decoded at once, the first and the last, at every rate`(
        _ frame: Frame
    ) throws {
        let pieces = try Self.decoded(
            [[UInt8]](repeating: frame.silence, count: 3), rate: frame.rate, channels: frame.channels)
        let silence = [Int16](repeating: 0, count: frame.samples * frame.channels)
        #expect(pieces == [silence, silence, silence])
    }

    @Test(arguments: frames) func `what is damaged in a frame takes none of its time`(_ frame: Frame) throws {
        for seed in UInt64(1)...20 {
            let inputs = [frame.silence] + (0..<10).map { frame.noise(100 * seed + $0) } + [frame.silence]
            let pieces = try Self.decoded(inputs, rate: frame.rate, channels: frame.channels)
            #expect(pieces.allSatisfy { $0.count == frame.samples * frame.channels })
        }
    }

    @Test func `a mono stream may be wanted in two channels`() throws {
        let pieces = try Self.decoded([Self.frames[1].silence], rate: 48_000, channels: 2)
        #expect(pieces.map(\.count) == [2_304])
    }

    @Test(
        arguments: [
            Array("<html>there is no such file</html>".utf8), [], [0xFF], [0xFF, 0xFB, 0x90, 0x00],
            [UInt8](repeating: 0, count: 4_096), Array(frames[0].silence.dropLast()),
        ] as [[UInt8]])
    func `what is no frame, or not a whole one, is refused`(_ input: [UInt8]) {
        #expect(throws: MP3Error.self) { try Self.decoded([input], rate: 44_100, channels: 2) }
    }

    @Test func `a stream of another rate than expected is refused`() {
        #expect(throws: MP3Error.self) {
            try Self.decoded([Self.frames[1].silence], rate: 44_100, channels: 1)
        }
        #expect(throws: MP3Error.self) { try Self.decoded([], rate: 44_000, channels: 1) }
    }
}
