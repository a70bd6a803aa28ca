import Spandsp
import TestSupport
import Testing

struct DTMFDetectorTests {
    private static let low = [697.0, 770, 852, 941]
    private static let high = [1_209.0, 1_336, 1_477, 1_633]
    private static let pad: [Character] = [
        "1", "2", "3", "A", "4", "5", "6", "B", "7", "8", "9", "C", "*", "0", "#", "D",
    ]

    /// One tone or two, both at `amplitude`, from `start` on.
    private static func sound(_ frequencies: [Double], milliseconds: Int, amplitude: Double = 4_000) -> [Int16] {
        (0..<(milliseconds * 8)).map { index in
            Int16(frequencies.reduce(0) { $0 + amplitude * Sine.of(2 * .pi * $1 * Double(index) / 8_000) })
        }
    }

    private static func press(
        _ digit: Character, milliseconds: Int = 100, amplitude: Double = 4_000, offset: Double = 1
    )
        -> [Int16]
    {
        let place = pad.firstIndex(of: digit) ?? 0
        return sound(
            [low[place / 4] * offset, high[place % 4] * offset], milliseconds: milliseconds, amplitude: amplitude)
    }

    private static func silence(milliseconds: Int) -> [Int16] { [Int16](repeating: 0, count: milliseconds * 8) }

    /// What is heard in packets of so many samples.
    private static func digits(in samples: [Int16], packet: Int = 160) -> String {
        var detector = DTMFDetector()
        var digits = ""
        for start in stride(from: 0, to: samples.count, by: packet) {
            detector.hear(samples.span.extracting(start..<min(start + packet, samples.count)))
            while let digit = detector.next() { digits.append(digit) }
        }
        return digits
    }

    @Test(arguments: pad) func `a digit is heard once, however long it is pressed`(_ digit: Character) {
        for milliseconds in [50, 100, 500, 3_000] {
            #expect(
                Self.digits(in: Self.press(digit, milliseconds: milliseconds) + Self.silence(milliseconds: 60))
                    == String(digit))
        }
    }

    @Test(arguments: [80, 160, 240, 480, 960, 37]) func `packets may have any length`(_ packet: Int) {
        let samples = Self.pad.flatMap { Self.press($0) + Self.silence(milliseconds: 60) }
        #expect(Self.digits(in: samples, packet: packet) == String(Self.pad))
    }

    @Test func `the same digit twice is two`() {
        let samples = (0..<5).flatMap { _ in Self.press("5", milliseconds: 70) + Self.silence(milliseconds: 70) }
        #expect(Self.digits(in: samples) == "55555")
    }

    /// Levels of each tone: −6 to −36 dB below full scale.
    @Test(arguments: [16_000, 4_000, 1_000, 500]) func `loud and quiet digits are heard`(_ amplitude: Double) {
        #expect(Self.digits(in: Self.press("7", amplitude: amplitude) + Self.silence(milliseconds: 60)) == "7")
    }

    /// ITU-T Q.24: tones within 1.5 % are digits, tones beyond 3.5 % are none.
    @Test(arguments: [(1.012, true), (0.988, true), (1.04, false), (0.96, false)] as [(Double, Bool)])
    func `tones have to be right`(_ offset: Double, _ isDigit: Bool) {
        #expect(
            Self.digits(in: Self.press("6", offset: offset) + Self.silence(milliseconds: 60)) == (isDigit ? "6" : ""))
    }

    @Test func `a press that is too short is none`() {
        #expect(Self.digits(in: Self.press("1", milliseconds: 15) + Self.silence(milliseconds: 100)) == "")
    }

    // MARK: Talk-off

    @Test(arguments: [425.0, 440, 1_000, 1_336, 770, 2_100]) func `single tones are no digits`(_ frequency: Double) {
        #expect(Self.digits(in: Self.sound([frequency], milliseconds: 3_000)) == "")
    }

    @Test(arguments: [[350.0, 440], [440, 480], [480, 620], [697, 770], [1_209, 1_336]])
    func `other pairs are no digits`(
        _ pair: [Double]
    ) {
        #expect(Self.digits(in: Self.sound(pair, milliseconds: 3_000)) == "")
    }

    @Test(arguments: [1, 2, 3, 4] as [UInt64]) func `two minutes of noise are no digits`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        let noise = (0..<(120 * 8_000)).map { _ in Int16(truncatingIfNeeded: random.next()) / 4 }
        #expect(Self.digits(in: noise) == "")
    }

    /// Voices: a fundamental that glides, its harmonics, and syllables.
    @Test(arguments: [90.0, 120, 180, 233, 349]) func `what is like a voice is no digit`(_ pitch: Double) {
        var (phase, samples) = (0.0, [Int16]())
        for index in 0..<(60 * 8_000) {
            let time = Double(index) / 8_000
            phase += 2 * .pi * pitch * (1 + 0.15 * Sine.of(2 * .pi * 0.7 * time)) / 8_000
            let voice = (1...9).reduce(0.0) { $0 + Sine.of(phase * Double($1)) / Double($1) }
            samples.append(Int16(5_000 * voice * (0.6 + 0.4 * Sine.of(2 * .pi * 3.1 * time))))
        }
        #expect(Self.digits(in: samples) == "")
    }

    @Test(arguments: [1, 2, 3] as [UInt64]) func `digits are heard through noise`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        // 20 dB below the digit.
        let samples = Self.pad.flatMap { Self.press($0) + Self.silence(milliseconds: 80) }.map {
            $0 + Int16(truncatingIfNeeded: random.next()) / 64
        }
        #expect(Self.digits(in: samples) == String(Self.pad))
    }
}
