import Audio
import AudioStreams
import TestSupport
import Testing

/// Figures for the detector: `fixtures/audio/speech` has eight sentences of espeak-ng, noise is made here.
struct SpeechDetectorTests {
    /// Speech at −26 dBov over noise at −55 dBov, as on a quiet line.
    @Test(arguments: SpeechScene.Noise.allCases)
    func `starts of speech are found within 120 ms`(_ noise: SpeechScene.Noise) throws {
        var scene = SpeechScene(noise: noise, level: 58, rate: 8_000)
        var (count, found, early) = (0, 0, 0)
        var detector = SpeechDetector(rate: 8_000)
        for path in Fixtures.files(in: "audio/speech") {
            let sentence = try SpeechScene.sentence(path)
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
    @Test(arguments: SpeechScene.Noise.allCases)
    func `noise alone is no speech`(_ noise: SpeechScene.Noise) {
        var scene = SpeechScene(noise: noise, level: 58, rate: 8_000)
        var detector = SpeechDetector(rate: 8_000)
        let events = scene.hear(milliseconds: 60_000, &detector)
        #expect(events.isEmpty, "\(noise): \(events)")
    }

    @Test(arguments: [8_000, 16_000, 24_000, 48_000])
    func `a start is found at every rate`(_ rate: Int) throws {
        var scene = SpeechScene(noise: .white, level: 183, rate: rate)
        var detector = SpeechDetector(rate: rate)
        let sentence = try SpeechScene.sentence("audio/speech/hello.wav")
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
        var found: [SpeechScene.Found] = []
        for cycle in 0..<150 {
            let frame = (0..<160).map { _ in
                50..<100 ~= cycle ? Int16(8_000 * oscillator.next()) : Int16(0)
            }
            if let event = detector.hear(frame) { found.append(SpeechScene.Found(at: 20 * (cycle + 1), event: event)) }
        }
        #expect(found.count == 2)
        let start = try #require(found.first?.start)
        let end = try #require(found.last?.stop)
        #expect((980...1_020).contains(start))
        #expect((1_980...2_080).contains(end))
        #expect(found[1].at - end >= 200)
    }
}
