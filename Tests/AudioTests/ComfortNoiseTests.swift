import Audio
import TestSupport
import Testing

struct ComfortNoiseTests {
    private static func payload(_ noise: ComfortNoise) -> [UInt8] {
        var bytes = [UInt8](repeating: 0xEE, count: ComfortNoise.size)
        var span = bytes.mutableSpan
        noise.write(to: &span)
        return bytes
    }

    private static func noise(_ bytes: [UInt8]) -> ComfortNoise? { ComfortNoise(parsing: bytes.span) }

    private static func samples(_ noise: ComfortNoise, count: Int = 16_000) -> [Int16] {
        var generator = NoiseGenerator()
        var samples = [Int16](repeating: 0, count: count)
        var span = samples.mutableSpan
        generator.fill(&span, with: noise)
        return samples
    }

    @Test func `an empty payload says nothing`() {
        #expect(Self.noise([]) == nil)
    }

    /// The level is in the low seven bits (RFC 3389 §3.1).
    @Test(
        arguments: [([0], 0, 0), ([40], 40, 0), ([127], 127, 0), ([0x80 | 40], 40, 0), ([40, 127, 200], 40, 2)]
            as [([UInt8], UInt8, Int)])
    func `a payload has a level and as many reflections as it is long`(_ payload: [UInt8], _ level: UInt8, _ order: Int)
    {
        let noise = Self.noise(payload)
        #expect(noise?.level.decibelsBelow == level)
        #expect(noise?.order == order)
    }

    /// k = (N − 127) · 258 / 32768 (RFC 3389 §3.3), kept away from 1.
    @Test(
        arguments: [(127, 0), (0, -0.99), (254, 0.99), (255, 0.99), (191, 0.50390625), (63, -0.50390625)]
            as [(UInt8, Double)])
    func `reflections are numbers between -1 and 1`(_ byte: UInt8, _ reflection: Double) throws {
        let noise = try #require(Self.noise([30, byte]))
        #expect(abs(noise.reflections[0] - reflection) < 0.001)
    }

    @Test func `reflections beyond those that count are passed over`() {
        #expect(Self.noise([50] + [UInt8](repeating: 140, count: 200))?.order == ComfortNoise.maximumOrder)
    }

    @Test(arguments: [0, 1, 47, 126, 127] as [UInt8]) func `what is written is read again`(_ level: UInt8) {
        let noise = ComfortNoise(level: AudioLevel(decibelsBelow: level))
        #expect(Self.noise(Self.payload(noise)) == noise)
    }

    /// White noise, and coloured by what a car and a fan would say.
    @Test(arguments: [10, 20, 30, 40, 50, 60, 70] as [UInt8], [[], [30], [220], [40, 180, 100, 140]] as [[UInt8]])
    func `noise is as loud as it should be, whatever its colour`(_ level: UInt8, _ reflections: [UInt8]) throws {
        let samples = Self.samples(try #require(Self.noise([level] + reflections)))
        #expect(abs(Int(AudioLevel(of: samples.span).decibelsBelow) - Int(level)) <= 1)
    }

    /// Coefficients that change with every packet make an all-pole lattice grow without end, until it holds no number
    /// any more.
    @Test(arguments: 1...40 as ClosedRange<UInt64>)
    func `whatever a peer describes in turns, noise stays sound`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        var generator = NoiseGenerator()
        // From a handful of payloads, as extreme as can be, so that they come again and again.
        let payloads = (0..<Int(1 + random.next() % 4)).map { _ in
            [UInt8(random.next() % 2 * 30)]
                + (0..<Int(random.next() % 14)).map { _ in
                    random.next() % 3 == 0 ? UInt8(truncatingIfNeeded: random.next()) : random.next() % 2 == 0 ? 0 : 255
                }
        }
        var samples = [Int16](repeating: 0, count: 480)
        for step in 0..<1_000 {
            let noise = try #require(Self.noise(payloads[Int(random.next() % UInt64(payloads.count))]))
            let count = Int(1 + random.next() % 480)
            var span = samples.mutableSpan
            var part = span._mutatingExtracting(0..<count)
            generator.fill(&part, with: noise)
            // What was loud leaves nothing behind.
            if step % 100 == 99 {
                var rest = span._mutatingExtracting(0..<480)
                generator.fill(&rest, with: ComfortNoise(level: .silence))
                #expect(samples.allSatisfy { $0 == 0 }, "seed \(seed), step \(step)")
            }
        }
    }

    /// One per 10 ms, as they were seen to end the process after two seconds.
    @Test func `two payloads in turns are as loud as each says`() throws {
        let payloads = Self.alternating.map { [40] + $0.dropFirst() }
        let noises = try payloads.map { try #require(Self.noise($0)) }
        var generator = NoiseGenerator()
        var samples = [Int16](repeating: 0, count: 80)
        for step in 0..<2_000 {
            var span = samples.mutableSpan
            generator.fill(&span, with: noises[step % 2])
            #expect(AudioLevel(of: samples.span).decibelsBelow > 20, "step \(step)")
        }
    }

    /// Level and twelve reflections; each of the two is stable by itself.
    static let alternating: [[UInt8]] = [
        [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF, 0xFF, 0x61, 0x15, 0x00, 0x00, 0x1D],
        [0x00, 0x8A, 0x4B, 0x69, 0x00, 0x64, 0xFF, 0xB9, 0xF8, 0x45, 0x00, 0xFF, 0xFF],
    ]

    @Test(
        arguments: [
            (0, 0), (1.9, 1), (-1.9, -1), (32_766.9, 32_766), (32_767, 32_767), (1e300, 32_767), (.infinity, 32_767),
            (-32_768, -32_768),
            (-1e300, -32_768), (-.infinity, -32_768), (.nan, 0), (.signalingNaN, 0), (.leastNonzeroMagnitude, 0),
        ] as [(Double, Int16)])
    func `a sample is made of any number, and of what is none`(_ value: Double, _ sample: Int16) {
        #expect(Int16(sample: value) == sample)
    }

    @Test func `silence is silent`() {
        #expect(Self.samples(ComfortNoise(level: .silence)).allSatisfy { $0 == 0 })
    }

    @Test func `noise is no tone`() {
        let samples = Array(Self.samples(ComfortNoise(level: AudioLevel(decibelsBelow: 20))).prefix(4_000))
        for frequency in stride(from: 100.0, to: 3_900, by: 100) {
            #expect(share(of: frequency, in: samples, rate: 8_000) < 0.02)
        }
    }

    /// The first reflection is minus the correlation of neighbours: at 0.7 low notes are gone, at −0.7 high ones.
    @Test(arguments: [(216, false), (38, true)] as [(UInt8, Bool)])
    func `reflections colour the noise`(_ byte: UInt8, _ isLow: Bool) throws {
        let samples = Self.samples(try #require(Self.noise([20, byte]))).map(Double.init)
        let correlation =
            zip(samples, samples.dropFirst()).reduce(0) { $0 + $1.0 * $1.1 } / samples.reduce(0) { $0 + $1 * $1 }
        #expect(isLow ? correlation > 0.6 : correlation < -0.6, "\(correlation)")
    }

    // MARK: Sending

    private typealias Verdict = SilenceSuppression.Verdict

    private static func verdicts(_ levels: [(UInt8, Int)]) -> [(Verdict, Int)] {
        var suppression = SilenceSuppression()
        var verdicts: [(Verdict, Int)] = []
        for level in levels.flatMap({ Array(repeating: $0.0, count: $0.1) }) {
            let verdict = suppression.next(AudioLevel(decibelsBelow: level))
            if verdicts.last?.0 == verdict {
                verdicts[verdicts.count - 1].1 += 1
            } else {
                verdicts.append((verdict, 1))
            }
        }
        return verdicts
    }

    private static func told(_ level: UInt8) -> Verdict { .noise(AudioLevel(decibelsBelow: level)) }

    @Test(
        arguments: [
            ("speech goes on", [(20, 100)], [(.audio, 100)]),
            ("quiet speech is speech", [(59, 100)], [(.audio, 100)]),
            (
                "a pause ends with its level, and is refreshed", [(20, 5), (70, 120)],
                [
                    (.audio, 15), (told(70), 1), (.nothing, 49), (told(70), 1), (.nothing, 49), (told(70), 1),
                    (.nothing, 9),
                ]
            ),
            (
                "a word after a pause", [(127, 12), (30, 3), (127, 12)],
                [
                    (.audio, 10), (told(127), 1), (.nothing, 1), (.audio, 13), (told(127), 1), (.nothing, 1),
                ]
            ),
            ("short gaps between words are kept", [(20, 5), (80, 9), (20, 5), (80, 10), (20, 1)], [(.audio, 30)]),
            (
                "a background that grows is said again", [(90, 12), (62, 8)],
                [
                    (.audio, 10), (told(90), 1), (.nothing, 1), (told(83), 1), (told(78), 1), (told(74), 1),
                    (.nothing, 1),
                    (told(69), 1), (.nothing, 2), (told(65), 1),
                ]
            ),
        ] as [(String, [(UInt8, Int)], [(Verdict, Int)])])
    private func `audio stops after the hangover, and the background is described`(
        _ name: String, _ levels: [(UInt8, Int)], _ expected: [(Verdict, Int)]
    ) {
        let verdicts = Self.verdicts(levels)
        #expect(
            verdicts.map(\.0) == expected.map(\.0) && verdicts.map(\.1) == expected.map(\.1), "\(name): \(verdicts)")
    }
}
