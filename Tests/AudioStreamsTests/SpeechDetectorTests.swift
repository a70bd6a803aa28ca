import Audio
import AudioStreams
import TestSupport
import Testing

/// Figures for the detector: `fixtures/audio/speech` has eight sentences of espeak-ng, noise is made here.
struct SpeechDetectorTests {
    enum Noise: String, CaseIterable {
        case white
        case pink
        case hum
        case car
    }

    /// Speech at −26 dBov over noise at −55 dBov, as on a quiet line.
    @Test(arguments: Noise.allCases)
    func `starts of speech are found within 120 ms`(_ noise: Noise) throws {
        var scene = Scene(noise: noise, level: 58, rate: 8_000)
        var (count, found, early) = (0, 0, 0)
        var detector = SpeechDetector(rate: 8_000)
        for path in Fixtures.files(in: "audio/speech") {
            let sentence = try Self.sentence(path)
            let starts = scene.say(sentence.samples, to: &detector).filter { $0.start != nil }
            let spoken = scene.sentenceStart + sentence.onset
            count += 1
            early += starts.count { $0.at < spoken - 20 }
            guard let start = starts.first(where: { $0.at >= spoken - 20 }) else { continue }
            if start.at - spoken <= 120 { found += 1 }
            let time = start.start ?? 0
            #expect((spoken - 100...start.at).contains(time), "the start is told where it was")
        }
        print("speech in \(noise): \(found) of \(count) starts found within 120 ms, \(early) false")
        #expect(count == 8)
        #expect(found == count)
        #expect(early == 0)
    }

    /// A minute of each kind: without optimisation longer takes too long.
    @Test(arguments: Noise.allCases)
    func `noise alone is no speech`(_ noise: Noise) {
        var scene = Scene(noise: noise, level: 58, rate: 8_000)
        var detector = SpeechDetector(rate: 8_000)
        let events = scene.hear(milliseconds: 60_000, &detector)
        #expect(events.isEmpty, "\(noise): \(events)")
    }

    @Test(arguments: [8_000, 16_000, 24_000, 48_000])
    func `a start is found at every rate`(_ rate: Int) throws {
        var scene = Scene(noise: .white, level: 183, rate: rate)
        var detector = SpeechDetector(rate: rate)
        let sentence = try Self.sentence("audio/speech/hello.wav")
        let factor = rate / 8_000
        let samples = sentence.samples.flatMap { [Double](repeating: $0, count: factor) }
        let events = scene.say(samples, to: &detector)
        #expect(events.first?.start != nil)
        let end = try #require(events.last?.stop)
        #expect((scene.sentenceStart...scene.sentenceStart + 2_600).contains(end))
    }

    @Test func `digital silence and a click are no speech`() {
        var detector = SpeechDetector(rate: 8_000)
        var events: [SpeechDetector.Event] = []
        for cycle in 0..<500 {
            var frame = [Int16](repeating: 0, count: 160)
            if cycle % 50 == 20 { for index in 0..<40 { frame[index] = index.isMultiple(of: 2) ? 20_000 : -20_000 } }
            if let event = detector.hear(frame) { events.append(event) }
        }
        #expect(events.isEmpty)
    }

    @Test func `speech ends after the hangover`() throws {
        var detector = SpeechDetector(rate: 8_000, .init(hangover: 200))
        var oscillator = Oscillator(frequency: 440, rate: 8_000)
        var found: [Found] = []
        for cycle in 0..<150 {
            let frame = (0..<160).map { _ in
                50..<100 ~= cycle ? Int16(8_000 * oscillator.next()) : Int16(0)
            }
            if let event = detector.hear(frame) { found.append(Found(at: 20 * (cycle + 1), event: event)) }
        }
        #expect(found.count == 2)
        let start = try #require(found.first?.start)
        let end = try #require(found.last?.stop)
        #expect((980...1_020).contains(start))
        #expect((1_980...2_080).contains(end))
        #expect(found[1].at - end >= 200)
    }

    // MARK: Sounds

    /// What the detector found, and the millisecond at which it did.
    private struct Found {
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

    /// A sentence at −26 dBov while it is spoken, and the millisecond of its onset: the first step of 10 ms that is at
    /// most 30 dB below the loudest.
    private static func sentence(_ path: String) throws -> (samples: [Double], onset: Int) {
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

    /// Noise that goes on, in which sentences are said.
    private struct Scene {
        let noise: Noise
        let rate: Int
        /// The root mean square of the noise: 58 is −55 dBov.
        let level: Double
        private var random = SeededRandomSource(seed: 11)
        private var low = (0.0, 0.0, 0.0)
        private var hum: (Oscillator, Oscillator)
        private var clock = 0
        /// The millisecond at which the last sentence started.
        private(set) var sentenceStart = 0

        init(noise: Noise, level: Double, rate: Int) {
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
    }
}
