import Audio
import TestSupport
import Testing

/// Participants of one channel and of two in one mix.
struct StereoMixerTests {
    private static let frame = AudioMixer.frame

    private static func pairs(_ left: [Int16], _ right: [Int16]) -> [Int16] { zip(left, right).flatMap { [$0, $1] } }

    private static func side(_ number: Int, of samples: [Int16]) -> [Int] {
        stride(from: number, to: samples.count, by: 2).map { Int(samples[$0]) }
    }

    /// What a listener hears of one cycle.
    private static func cycle(_ mixer: inout AudioMixer, _ said: [Int: [Int16]], listeners: [Int], channels: Int)
        -> [[Int16]]
    {
        for (participant, samples) in said {
            mixer.setInput(samples.span, channels: samples.count / frame, of: participant)
        }
        _ = mixer.mix()
        defer { mixer.finishCycle() }
        return listeners.map { listener in
            var samples = [Int16](repeating: 7, count: frame * channels)
            mixer.output(for: listener, into: &samples)
            return samples
        }
    }

    /// Who has one channel is on both sides; who has two, on each with its own.
    @Test(arguments: [2, 3, 8, 32]) func `everybody hears on each side all others and not itself`(_ count: Int) {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed", seed)
        var random = SeededRandomSource(seed: seed)
        var mixer = AudioMixer()
        for _ in 0..<5 {
            var said: [Int: [Int16]] = [:]
            for participant in 0..<count where random.next() % 4 > 0 {
                let channels = participant % 3 == 0 ? 1 : 2
                said[participant] = (0..<(channels * Self.frame)).map { _ in
                    Int16(truncatingIfNeeded: random.next() % 1_600) - 800
                }
            }
            let both = Self.cycle(&mixer, said, listeners: Array(0..<count), channels: 2)
            let one = Self.cycle(&mixer, said, listeners: Array(0..<count), channels: 1)
            for listener in 0..<count {
                let others = said.filter { $0.key != listener }.values
                for side in 0...1 {
                    let expected = (0..<Self.frame).map { index in
                        others.reduce(0) { $0 + Int($1.count == Self.frame ? $1[index] : $1[2 * index + side]) }
                    }
                    #expect(Self.side(side, of: both[listener]) == expected)
                }
                let folded = (0..<Self.frame).map { index in
                    others.reduce(0) {
                        $0
                            + ($1.count == Self.frame
                                ? Int($1[index]) : (Int($1[2 * index]) + Int($1[2 * index + 1])) / 2)
                    }
                }
                #expect(one[listener].map(Int.init) == folded)
            }
        }
    }

    @Test func `a participant with two channels is heard exactly as it speaks`() {
        var mixer = AudioMixer()
        let said = Self.pairs(
            tone(440, count: Self.frame, amplitude: 28_000), tone(1_000, count: Self.frame, amplitude: 20_000))
        let heard = Self.cycle(&mixer, [4: said], listeners: [0, 4], channels: 2)
        #expect(heard[0] == said)
        #expect(heard[1] == [Int16](repeating: 0, count: 2 * Self.frame))
    }

    @Test func `a mix of one channel is the same with a listener of two`() {
        var mixer = AudioMixer()
        let said = [0: tone(300, count: Self.frame), 1: tone(700, count: Self.frame)]
        let one = Self.cycle(&mixer, said, listeners: [0, 1, 2], channels: 1)
        let both = Self.cycle(&mixer, said, listeners: [0, 1, 2], channels: 2)
        #expect(both == one.map { Self.pairs($0, $0) })
        #expect((0...2).allSatisfy { mixer.channels(for: $0) == 1 })
    }

    /// A loud left side makes the right one softer by as much: the sound stays where it is.
    @Test func `the limiter has one gain for both sides`() {
        var mixer = AudioMixer()
        let soft = tone(1_000, count: Self.frame, amplitude: 5_000)
        var heard: [[Int16]] = []
        for cycle in 0..<10 {
            let loud = tone(440, from: cycle * Self.frame, count: Self.frame, amplitude: 25_000)
            heard = Self.cycle(
                &mixer, [0: Self.pairs(loud, soft), 1: Self.pairs(loud, soft)], listeners: [2], channels: 2)
        }
        let (left, right) = (Self.side(0, of: heard[0]), Self.side(1, of: heard[0]))
        let (loudest, softest) = (left.map(abs).max() ?? 0, right.map(abs).max() ?? 0)
        #expect(loudest <= 29_100 && loudest > 28_500)
        #expect(abs(Double(loudest) / Double(softest) - 5) < 0.02, "\(loudest) and \(softest)")
        #expect(share(of: 1_000, in: right.map { Int16($0) }) > 0.99)
        for _ in 0..<60 { heard = Self.cycle(&mixer, [0: Self.pairs(soft, soft)], listeners: [2], channels: 2) }
        #expect(heard[0] == Self.pairs(soft, soft))
    }

    @Test func `how many channels there are to hear is a matter of who is there, not of who speaks`() {
        var mixer = AudioMixer()
        let said = tone(300, count: Self.frame)
        _ = Self.cycle(&mixer, [0: said, 1: Self.pairs(said, said)], listeners: [], channels: 2)
        #expect((0...2).map { mixer.channels(for: $0) } == [2, 1, 2], "nobody hears itself")
        _ = Self.cycle(&mixer, [0: said], listeners: [], channels: 2)
        #expect((0...2).map { mixer.channels(for: $0) } == [2, 1, 2])
        _ = Self.cycle(&mixer, [2: Self.pairs(said, said)], listeners: [], channels: 2)
        #expect((0...2).map { mixer.channels(for: $0) } == [2, 2, 2])
        mixer.remove(1)
        _ = Self.cycle(&mixer, [2: said], listeners: [], channels: 2)
        #expect(
            (0...2).map { mixer.channels(for: $0) } == [1, 1, 1],
            "a codec of one channel has come in place of the other")
    }

    /// 8,000 at its peak is 15 dB below full scale; the same on one side alone is half the power.
    @Test func `the level is that of the mean power of both sides`() {
        let (voice, silence) = (tone(300, count: Self.frame), [Int16](repeating: 0, count: Self.frame))
        for (said, level) in [
            (voice, 15), (Self.pairs(voice, voice), 15), (Self.pairs(voice, silence), 18),
            (Self.pairs(silence, voice), 18),
        ] {
            var mixer = AudioMixer()
            _ = Self.cycle(&mixer, [0: said], listeners: [], channels: 2)
            #expect(abs(Int(mixer.level(of: 0).decibelsBelow) - level) <= 1)
        }
    }
}
