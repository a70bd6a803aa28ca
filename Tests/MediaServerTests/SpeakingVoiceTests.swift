import Audio
import CallControl
import MediaServer
import TestSupport
import Testing

/// Lists that a headless leg plays: one after the other, so often, so loud, and how much of them was heard.
struct SpeakingVoiceTests {
    /// A sound of whole frames, each of one value.
    private static func sound(_ values: Int16..., channels: Int = 1) -> SpokenItem {
        let samples = values.flatMap { [Int16](repeating: $0, count: AudioMixer.frame * channels) }
        return SpokenItem(.sound(Sound(samples, channels: channels)), length: nil)
    }

    private struct Rig {
        let voice: SpeakingVoice
        private var number: UInt32 = 0

        init(_ base: any HeadlessVoice = PlayingVoice(nil)) { voice = SpeakingVoice(base) }

        mutating func play(
            _ items: [SpokenItem]?, loops: Int? = nil, volume: Int = 0, replacing: Bool = false
        ) throws {
            number += 1
            let list = try PlayList(items: [.silence(.seconds(1))], loops: loops, volume: volume)
            voice.play(list, items, number: number, tag: "\(number)", replacing: replacing)
        }

        /// The first sample of each frame; `nil` where it says nothing.
        func say(_ frames: Int) -> [Int16?] {
            (0..<frames).map { _ in
                var samples = [Int16](repeating: 99, count: AudioMixer.frame * voice.channels)
                var span = samples.mutableSpan
                let speaks = voice.speak(into: &span)
                return speaks ? samples[0] : nil
            }
        }

        var played: [String] {
            voice.takePlayed().map { "\($0.tag ?? "-") \($0.heard) \($0.outcome)" }
        }
    }

    @Test func `items follow each other, and the end is told with how much was heard`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1, 2), SpokenItem(.silence, length: .milliseconds(40)), Self.sound(3)])
        #expect(rig.say(4) == [1, 2, 0, 0])
        #expect(rig.played.isEmpty)
        #expect(rig.say(2) == [3, nil])
        #expect(rig.played == ["1 100 completed"])
        #expect(rig.played.isEmpty, "it is told once")
    }

    @Test func `lists are repeated, queued, replaced and stopped`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1)], loops: 2)
        try rig.play([Self.sound(2)], loops: 0)
        #expect(rig.say(5) == [1, 1, 2, 2, 2])
        #expect(rig.played == ["1 40 completed"])
        try rig.play([Self.sound(3)])
        try rig.play([Self.sound(4, 4)], replacing: true)
        #expect(rig.played == ["2 60 replaced", "3 0 replaced"])
        #expect(rig.say(1) == [4])
        rig.voice.stop()
        #expect(rig.played == ["4 20 stopped"])
        #expect(rig.say(1) == [nil])
        rig.voice.stop()
        #expect(rig.played.isEmpty)
    }

    @Test func `one list is stopped by its number, and what waits behind it is heard`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1, 1)])
        try rig.play([Self.sound(2)])
        try rig.play([Self.sound(3)])
        #expect(rig.say(1) == [1])
        rig.voice.stop(2)
        #expect(rig.played == ["2 0 stopped"], "it waited")
        rig.voice.stop(1)
        #expect(rig.played == ["1 20 stopped"], "it played")
        rig.voice.stop(1)
        #expect(rig.say(2) == [3, nil])
        #expect(rig.played == ["3 20 completed"])
    }

    @Test func `the end of the leg cuts off what plays and what waits, each with how much was heard`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1)], loops: 0)
        try rig.play([Self.sound(2)])
        #expect(rig.say(3) == [1, 1, 1])
        rig.voice.cutOff()
        #expect(rig.played == ["1 60 callEnded", "2 0 callEnded"])
        #expect(rig.say(1) == [nil])
        rig.voice.cutOff()
        #expect(rig.played.isEmpty, "it is told once")
    }

    @Test func `a list with a file that is gone fails, and the others go on`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1)])
        try rig.play(nil, replacing: true)
        #expect(rig.played == ["2 0 failed"])
        #expect(rig.say(2) == [1, nil])
    }

    @Test func `what nobody hears does not count, and what stands still goes on where it was`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1, 2, 3, 4)])
        #expect(rig.say(1) == [1])
        rig.voice.isMuted = true
        #expect(rig.say(1) == [nil])
        rig.voice.isMuted = false
        rig.voice.isPaused = true
        #expect(rig.say(3) == [nil, nil, nil])
        rig.voice.isPaused = false
        #expect(rig.say(3) == [3, 4, nil])
        #expect(rig.played == ["1 60 completed"])
    }

    @Test func `a list waits for the peer that is to hear it, but not for longer than ten seconds`() throws {
        var rig = Rig()
        try rig.play([Self.sound(1, 2)])
        rig.voice.awaitsPeer = true
        #expect(rig.say(3) == [nil, nil, nil])
        rig.voice.awaitsPeer = false
        #expect(rig.say(3) == [1, 2, nil])
        #expect(rig.played == ["1 40 completed"])

        try rig.play([Self.sound(3, 4)])
        rig.voice.awaitsPeer = true
        #expect(rig.say(500).allSatisfy { $0 == nil } && rig.voice.isWaiting == false)
        #expect(rig.say(1) == [3])
        rig.voice.awaitsPeer = false
        #expect(rig.say(2) == [4, nil])
        #expect(rig.played == ["2 20 completed"], "what nobody heard does not count")
    }

    @Test(arguments: [(0, 1_000), (6, 1_995), (-6, 501), (10, 3_162), (-30, 32)])
    func `the volume is in decibels`(_ decibels: Int, _ loudness: Int16) throws {
        var rig = Rig()
        try rig.play([Self.sound(1_000, 30_000)], volume: decibels)
        let said = rig.say(2).compactMap(\.self)
        #expect(abs(Int(said[0]) - Int(loudness)) <= 1)
        if decibels > 0 { #expect(said[1] == 32_767, "what is too large is cut") }
    }

    @Test func `a tone lasts as long as was asked for`() throws {
        var rig = Rig()
        let cadence = ToneCadence(.dial, in: .itu)
        try rig.play([SpokenItem(.tone(cadence), length: .milliseconds(50)), Self.sound(7)])
        _ = rig.say(3)
        #expect(rig.say(1) == [7])
    }

    @Test func `two channels are brought into one, and one into two`() throws {
        var rig = Rig()
        let samples = (0..<AudioMixer.frame).flatMap { _ in [100, 300] as [Int16] }
        try rig.play([SpokenItem(.sound(Sound(samples, channels: 2)), length: nil)])
        #expect(rig.say(1) == [200])
        let stereo = Sound([Int16](repeating: 5, count: 2 * AudioMixer.frame), channels: 2)
        var wide = Rig(PlayingVoice(SamplePlayer(stereo, from: 0, repeats: true)))
        #expect(wide.voice.channels == 2)
        try wide.play([Self.sound(9)])
        #expect(wide.say(2) == [9, 5])
    }

    @Test func `an echo goes on under a list`() throws {
        var rig = Rig(EchoVoice(delay: .milliseconds(20)))
        let heard = [Int16](repeating: 8, count: AudioMixer.frame)
        rig.voice.hear(heard.span, channels: 1)
        try rig.play([Self.sound(1)])
        #expect(rig.say(2) == [1, 8])
    }
}
