import Audio
import Testing

struct AudioMixerTests {
    private static func cycle(_ mixer: inout AudioMixer, _ said: [Int: [Int16]], listeners: [Int]) -> [Int: [Int16]] {
        for (participant, samples) in said { mixer.setInput(samples.span, of: participant) }
        _ = mixer.mix()
        var heard: [Int: [Int16]] = [:]
        for listener in listeners {
            var samples = [Int16](repeating: 0, count: AudioMixer.frame)
            mixer.output(for: listener, into: &samples)
            heard[listener] = samples
        }
        mixer.finishCycle()
        return heard
    }

    @Test(arguments: [3, 8, 32])
    func `everybody hears all others and not itself`(_ count: Int) {
        var mixer = AudioMixer()
        let said = Dictionary(
            uniqueKeysWithValues: (0..<count).map { ($0, tone(300 + 50 * Double($0), count: 960, amplitude: 800)) })
        let heard = Self.cycle(&mixer, said, listeners: Array(0..<count))
        for (listener, samples) in heard {
            for other in 0..<count {
                let expected = (0..<960).map { index in
                    said.filter { $0.key != listener }.reduce(0) { $0 + Int($1.value[index]) }
                }
                #expect(samples.map(Int.init) == expected)
                guard count == 3 else { continue }
                let part = share(of: 300 + 50 * Double(other), in: samples)
                #expect(other == listener ? part < 0.05 : part > 0.3, "\(listener) hears \(other): \(part)")
            }
        }
    }

    @Test func `one voice in a mix of two is exactly what was said`() {
        var mixer = AudioMixer()
        let voice = tone(440, count: 960, amplitude: 28_000)
        let heard = Self.cycle(&mixer, [0: voice], listeners: [0, 1])
        #expect(heard[1] == voice)
        #expect(heard[0] == [Int16](repeating: 0, count: 960))
    }

    @Test func `loud sums are limited, not cut, and the gain comes back`() {
        var mixer = AudioMixer()
        var last: [Int16] = []
        for cycle in 0..<10 {
            let said = Dictionary(
                uniqueKeysWithValues: (0..<4).map { ($0, tone(440, from: cycle * 960, count: 960, amplitude: 20_000)) })
            last = Self.cycle(&mixer, said, listeners: [4])[4] ?? []
        }
        #expect(last.map { abs(Int($0)) }.max() ?? 0 <= 29_100)
        #expect(share(of: 440, in: last) > 0.99, "still a sine")
        let quiet = tone(440, count: 960, amplitude: 1_000)
        for _ in 0..<60 { last = Self.cycle(&mixer, [0: quiet], listeners: [4])[4] ?? [] }
        #expect(last == quiet)
    }

    @Test func `the speaker changes after a moment, not with every noise`() {
        var mixer = AudioMixer()
        let (loud, soft) = (tone(300, count: 960, amplitude: 10_000), tone(500, count: 960, amplitude: 600))
        _ = Self.cycle(&mixer, [0: loud, 1: soft], listeners: [])
        #expect(mixer.activeSpeaker == 0)
        for _ in 0..<5 { _ = Self.cycle(&mixer, [0: soft, 1: loud], listeners: []) }
        #expect(mixer.activeSpeaker == 0)
        for _ in 0..<60 { _ = Self.cycle(&mixer, [0: soft, 1: loud], listeners: []) }
        #expect(mixer.activeSpeaker == 1)
        for _ in 0..<100 { _ = Self.cycle(&mixer, [:], listeners: []) }
        #expect(mixer.activeSpeaker == 1, "who spoke last stays")
        mixer.remove(1)
        #expect(mixer.activeSpeaker == nil)
    }
}
