import Audio
import AudioStreams
import TestSupport
import Testing

/// Noise that goes on, in which sentences are said.
struct SpeechScene {
    /// What is heard beside the sentences.
    enum Noise: String, CaseIterable {
        case white
        case pink
        case hum
        case car
    }

    /// What the detector found, and the millisecond at which it did.
    struct Found {
        let at: Int
        let event: SpeechDetector.Event

        var start: Int? {
            switch event {
            case .started(let time): time
            case .stopped: nil
            }
        }

        var stop: Int? {
            switch event {
            case .started: nil
            case .stopped(let time): time
            }
        }
    }

    let noise: Noise
    let rate: Int
    /// The root mean square of the noise: 58 is −55 dBov.
    let level: Double
    private var random: SeededRandomSource
    private var low = (0.0, 0.0, 0.0)
    private var hum: (Oscillator, Oscillator)
    private var clock = 0
    /// The millisecond at which the last sentence started.
    private(set) var sentenceStart = 0

    init(noise: Noise, level: Double, rate: Int, seed: UInt64 = 11) {
        random = SeededRandomSource(seed: seed)
        self.noise = noise
        self.level = level
        self.rate = rate
        hum = (Oscillator(frequency: 100, rate: Double(rate)), Oscillator(frequency: 300, rate: Double(rate)))
    }

    /// Two seconds of noise, the sentence in noise, and a second of noise. Events have the time of their finding.
    mutating func say(
        _ sentence: [Double], to detector: inout SpeechDetector
    ) -> [Found] {
        let before = hear(milliseconds: 2_000, &detector)
        sentenceStart = clock
        let during = hear(sentence, &detector)
        return before + during + hear(milliseconds: 1_000, &detector)
    }

    mutating func hear(
        milliseconds: Int, _ detector: inout SpeechDetector
    ) -> [Found] {
        hear([Double](repeating: 0, count: milliseconds * rate / 1_000), &detector)
    }

    private mutating func hear(
        _ sound: [Double], _ detector: inout SpeechDetector
    ) -> [Found] {
        var events: [Found] = []
        let size = rate / 50
        for start in stride(from: 0, to: sound.count, by: size) {
            var frame = [Int16](repeating: 0, count: size)
            for index in 0..<size {
                let value = start + index < sound.count ? sound[start + index] : 0
                frame[index] = Int16(sample: value + level * next())
            }
            clock += 20
            if let event = detector.hear(frame) { events.append(Found(at: clock, event: event)) }
        }
        return events
    }

    /// A sample of noise with a root mean square near 1.
    private mutating func next() -> Double {
        // The sum of eight bytes is nearly normal.
        let word = random.next()
        var sum = 0.0
        for shift in stride(from: UInt64(0), to: 64, by: 8) { sum += Double(word >> shift & 0xFF) }
        let white = (sum - 1_020) / 209
        switch noise {
        case .white: return white
        case .pink:
            // Paul Kellet's filter with three poles.
            low.0 = 0.997_65 * low.0 + 0.099_046 * white
            low.1 = 0.963 * low.1 + 0.296_516_4 * white
            low.2 = 0.57 * low.2 + 1.052_691_3 * white
            return (low.0 + low.1 + low.2 + 0.184_8 * white) / 1.6
        case .hum: return 0.2 * white + 1.1 * hum.0.next() + 0.5 * hum.1.next()
        case .car:
            low.0 = 0.98 * low.0 + 0.2 * white
            return low.0
        }
    }

    /// A sentence at −26 dBov while it is spoken, and the millisecond of its onset: the first step of 10 ms that is at
    /// most 30 dB below the loudest.
    static func sentence(_ path: String) throws -> (samples: [Double], onset: Int) {
        let bytes = try Fixtures.bytes(path)
        let file = try WaveFile(parsing: bytes.span)
        let plain = file.samples.map { Double($0) }
        let spoken = plain.filter { abs($0) > 200 }
        let power = spoken.reduce(0) { $0 + $1 * $1 } / Double(spoken.count)
        let gain = 1_642 / power.squareRoot()
        let steps = stride(from: 0, to: plain.count - 79, by: 80).map { start in
            plain[start..<start + 80].reduce(0) { $0 + $1 * $1 }
        }
        let loudest = steps.max() ?? 0
        let onset = try #require(steps.firstIndex { $0 >= loudest / 1_000 })
        return (plain.map { $0 * gain }, onset * 10)
    }
}
