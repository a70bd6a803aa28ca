import Audio
import Testing

struct ToneTests {
    private static func samples(_ cadence: ToneCadence, milliseconds: Int) -> [Int16] {
        var generator = ToneGenerator(cadence)
        var samples = [Int16](repeating: 0, count: milliseconds * 48)
        var span = samples.mutableSpan
        generator.next(into: &span)
        return samples
    }

    @Test(arguments: ToneCadence.Kind.allCases, ToneCadence.Region.allCases)
    func `each burst has its frequencies, each pause is silent, and it comes again`(
        _ kind: ToneCadence.Kind, _ region: ToneCadence.Region
    ) {
        let cadence = ToneCadence(kind, in: region)
        let length = cadence.elements.reduce(0) { $0 + Int($1.duration / .milliseconds(1)) }
        let samples = Self.samples(cadence, milliseconds: 2 * length)
        var start = 0
        for element in cadence.elements + cadence.elements {
            let end = start + Int(element.duration / .milliseconds(1))
            let part = Array(samples[((start + 20) * 48)..<((end - 20) * 48)])
            let shares = element.frequencies.reduce(0) { $0 + share(of: $1, in: part) }
            #expect(element.frequencies.isEmpty ? part.allSatisfy { $0 == 0 } : shares > 0.97, "\(element): \(shares)")
            start = end
        }
    }

    @Test func `no step between two samples is larger than the tone's own`() {
        let samples = Self.samples(ToneCadence(.busy, in: .itu), milliseconds: 2_500)
        let step = zip(samples, samples.dropFirst()).map { abs(Int($1) - Int($0)) }.max() ?? 0
        #expect(step <= 300)
    }

    @Test func `hold music is a tune: never silent for long, never loud, without clicks`() {
        var music = HoldMusic()
        var samples = [Int16](repeating: 0, count: 48_000 * 10)
        var span = samples.mutableSpan
        music.next(into: &span)
        for start in stride(from: 0, to: samples.count, by: 9_600) {
            #expect(AudioLevel(of: samples.span.extracting(start..<(start + 9_600))) > AudioLevel(decibelsBelow: 45))
        }
        #expect(samples.map { abs(Int($0)) }.max() ?? 0 < 10_000)
        #expect(zip(samples, samples.dropFirst()).map { abs(Int($1) - Int($0)) }.max() ?? 0 < 600)
    }

    @Test(arguments: [(32_767.0, 3), (3_276.7, 23), (327.67, 43), (0, 127)] as [(Double, Int)])
    func `a sine's level is 3 dB below its peak`(_ amplitude: Double, _ level: Int) {
        let samples = tone(1_000, count: 960, amplitude: amplitude)
        #expect(abs(Int(AudioLevel(of: samples.span).decibelsBelow) - level) <= 1)
    }
}
