import Audio
import CallControl
import CallRuntime
import MediaPlane
import MediaServer
import Primitives
import SDP
import Synchronization
import TestSupport
import Testing

/// What is recorded of a headless leg: who is in which channel, what is left out, and when it is over.
struct RecordedLegTests {
    /// Keeps what it is given.
    private final class Kept: AudioRecorder {
        private let state = Mutex(
            (frames: [[Int16]](), packets: [RecordedPacket](), steps: [RecordingStep](), dropped: 0, isFull: false))

        var frames: [[Int16]] { state.withLock { $0.frames } }
        var steps: [RecordingStep] { state.withLock { $0.steps } }
        /// Takes nothing more.
        func fill() { state.withLock { $0.isFull = true } }

        func take(_ samples: [Int16], of recording: RecordingID) -> Bool {
            state.withLock { state in
                guard !state.isFull else { return false }
                state.frames.append(samples)
                return true
            }
        }

        var packets: [RecordedPacket] { state.withLock { $0.packets } }

        func take(_ packets: [RecordedPacket], of recording: RecordingID) -> Bool {
            state.withLock { state in
                guard !state.isFull else { return false }
                state.packets += packets
                return true
            }
        }

        func note(_ step: RecordingStep, of recording: RecordingID) { state.withLock { $0.steps.append(step) } }

        /// How many packets were left out.
        var dropped: Int { state.withLock { $0.dropped } }

        func noteDropped(_ packets: Int) { state.withLock { $0.dropped += packets } }
    }

    private static let id = RecordingID(1, of: SessionID("c1"))
    private let recorder = Kept()
    private let voice = SpeakingVoice(PlayingVoice(nil))

    /// One cycle of the engine. Returns the first sample that others hear; `nil`: they hear nothing.
    @discardableResult
    private func pass(hearing value: Int16, channels: Int = 1) -> Int16? {
        var samples = [Int16](repeating: 99, count: AudioMixer.frame * voice.channels)
        var span = samples.mutableSpan
        let speaks = voice.speak(into: &span)
        let heard = [Int16](repeating: value, count: channels * AudioMixer.frame)
        voice.hear(heard.span, channels: channels)
        return speaks ? samples[1] : nil
    }

    private func say(_ value: Int16) throws {
        let sound = Sound([Int16](repeating: value, count: 50 * AudioMixer.frame), channels: 1)
        voice.play(
            try PlayList(items: [.silence(.seconds(1))]), [SpokenItem(.sound(sound), length: nil)], number: 1,
            tag: nil, replacing: true)
    }

    private func record(_ order: RecordingOrder) { voice.record(order, with: recorder) }

    /// The first two samples of each frame that was taken.
    private var starts: [[Int16]] { recorder.frames.map { Array($0.prefix(2)) } }

    @Test(
        arguments: [
            (RecordRequest.Sides.both, 1, [[1_200, 1_200]]), (.both, 2, [[200, 1_000]]), (.own, 1, [[1_000, 1_000]]),
            (.other, 1, [[200, 200]]),
        ] as [(RecordRequest.Sides, Int, [[Int16]])])
    func `each side is where it belongs`(
        _ sides: RecordRequest.Sides, _ channels: Int, _ expected: [[Int16]]
    ) throws {
        try say(1_000)
        record(.start(Self.id, try RecordRequest(sides: sides, channels: channels)))
        pass(hearing: 200)
        #expect(starts == expected)
        #expect(recorder.frames[0].count == channels * AudioMixer.frame)
        #expect(recorder.steps == [.started])
    }

    @Test func `two channels that are heard become one, and what is too loud is limited`() throws {
        try say(30_000)
        record(.start(Self.id, try RecordRequest()))
        pass(hearing: 30_000, channels: 2)
        #expect(starts == [[.max, .max]])
    }

    @Test func `what nobody hears of the leg is silence`() throws {
        try say(1_000)
        record(.start(Self.id, try RecordRequest(channels: 2)))
        voice.isMuted = true
        pass(hearing: 200)
        voice.isMuted = false
        voice.stop()
        pass(hearing: 300)
        #expect(starts == [[200, 0], [300, 0]])
    }

    @Test func `the others hear the tone, and the recording starts behind it`() throws {
        try say(1_000)
        record(.start(Self.id, try RecordRequest(sides: .own, beep: true)))
        #expect(recorder.steps.isEmpty)
        for _ in 0..<RecordingCourse.beepCycles { #expect(pass(hearing: 0) != 1_000) }
        #expect(recorder.frames.isEmpty && recorder.steps == [.started])
        #expect(pass(hearing: 0) == 1_000)
        #expect(starts == [[1_000, 1_000]])
    }

    @Test func `the tone waits for the peer that is to hear it, and a recording without one does not`() throws {
        voice.awaitsPeer = true
        record(.start(Self.id, try RecordRequest(sides: .other, beep: true)))
        for _ in 0..<2 * RecordingCourse.beepCycles { #expect(pass(hearing: 5) == nil) }
        #expect(recorder.frames.isEmpty && recorder.steps.isEmpty)
        voice.awaitsPeer = false
        for _ in 0..<RecordingCourse.beepCycles { #expect(pass(hearing: 5) != nil) }
        pass(hearing: 6)
        #expect(starts == [[6, 6]])
        record(.stop)
        voice.awaitsPeer = true
        record(.start(Self.id, try RecordRequest(sides: .other)))
        pass(hearing: 7)
        #expect(starts == [[6, 6], [7, 7]])
    }

    @Test func `pauses are left out, and each step is told once`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other)))
        pass(hearing: 1)
        record(.pause)
        record(.pause)
        pass(hearing: 2)
        record(.resume)
        pass(hearing: 3)
        record(.stop)
        pass(hearing: 4)
        record(.stop)
        #expect(starts == [[1, 1], [3, 3]])
        #expect(recorder.steps == [.started, .paused, .resumed, .over(.command)])
    }

    @Test func `it ends by its length, by silence, by a recorder that fails, and with the leg`() throws {
        record(.start(Self.id, try RecordRequest(maximum: .seconds(1))))
        for _ in 0..<60 { pass(hearing: 9_000) }
        #expect(recorder.frames.count == 50 && recorder.steps == [.started, .over(.maximum)])
        record(.start(Self.id, try RecordRequest(silence: .seconds(1))))
        for _ in 0..<60 { pass(hearing: 20) }
        #expect(recorder.frames.count == 100 && recorder.steps.suffix(2) == [.started, .over(.silence)])
        record(.start(Self.id, try RecordRequest()))
        recorder.fill()
        pass(hearing: 0)
        pass(hearing: 0)
        #expect(recorder.steps.suffix(2) == [.started, .over(.failed)])
        var other: SpeakingVoice? = SpeakingVoice(PlayingVoice(nil))
        other?.record(.start(Self.id, try RecordRequest()), with: recorder)
        other = nil
        #expect(recorder.steps.suffix(2) == [.started, .over(.callEnded)])
    }

    // MARK: Packets

    /// 20 ms of Opus in CELT.
    private static func packet(_ number: Int) -> [UInt8] { [31 << 3, UInt8(number), 1, 2] }

    /// A packet comes, and then a cycle, in which it is heard decoded.
    private func receive(_ number: Int, isRestart: Bool = false) {
        let timestamp = RTPTimestamp(UInt32(number * 960))
        voice.receive(Self.packet(number).span, timestamp: timestamp, isRestart: isRestart)
        voice.expectPackets(true)
        pass(hearing: 9)
    }

    /// Samples of 48 kHz in all packets that were taken.
    private var samples: Int { recorder.packets.reduce(0) { $0 + $1.samples } }

    private var numbers: [UInt8] { recorder.packets.compactMap { $0.bytes.count > 1 ? $0.bytes[1] : nil } }

    @Test func `one side of a sender of Opus is recorded as it comes, and pauses are left out`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other)))
        voice.expectPackets(true)
        for number in 0..<20 { receive(number) }
        record(.pause)
        for number in 20..<30 { receive(number) }
        record(.resume)
        for number in 30..<40 { receive(number) }
        record(.stop)
        #expect(numbers == Array(0..<20) + Array(30..<40))
        #expect(recorder.frames.isEmpty, "nothing is coded anew")
        #expect((30 * 960 - 4_800...30 * 960).contains(samples))
        #expect(recorder.steps == [.started, .paused, .resumed, .over(.command)])
    }

    @Test func `a recording goes on in samples where there are no packets, and in packets where there are`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other)))
        pass(hearing: 1)
        #expect(recorder.frames.count == 1 && recorder.packets.isEmpty)
        voice.expectPackets(true)
        for number in 0..<10 { receive(number) }
        #expect(recorder.frames.count == 1)
        // A conference: the leg hears a mix.
        voice.expectPackets(false)
        #expect(numbers == Array(0..<10), "what waits is written first")
        pass(hearing: 2)
        #expect(recorder.frames.count == 2)
    }

    @Test func `a recording that packets cannot make is made of samples`() throws {
        for request in [
            try RecordRequest(), try RecordRequest(sides: .own), try RecordRequest(format: .wav, sides: .other),
            try RecordRequest(sides: .other, silence: .seconds(5)),
        ] {
            let before = recorder.frames.count
            record(.start(Self.id, request))
            for number in 0..<10 { receive(number) }
            record(.stop)
            #expect(recorder.packets.isEmpty && recorder.frames.count == before + 10)
        }
    }

    @Test func `a recording of packets ends by its length, by a recorder that fails, and with the leg`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other, maximum: .seconds(1))))
        voice.expectPackets(true)
        for number in 0..<60 { receive(number) }
        #expect(recorder.steps == [.started, .over(.maximum)])
        #expect((45...51).contains(numbers.count))
        var other: SpeakingVoice? = SpeakingVoice(PlayingVoice(nil))
        other?.record(.start(Self.id, try RecordRequest(sides: .other)), with: recorder)
        other?.expectPackets(true)
        other?.receive(Self.packet(99).span, timestamp: RTPTimestamp(0), isRestart: false)
        other = nil
        #expect(numbers.last == 99 && recorder.steps.last == .over(.callEnded), "what waited is written")
        record(.start(Self.id, try RecordRequest(sides: .other)))
        recorder.fill()
        for number in 0..<10 { receive(number) }
        #expect(recorder.steps.suffix(2) == [.started, .over(.failed)])
    }

    /// 120 ms of Opus in SILK come at once, and again and again: two frames of 60 ms.
    private func receiveFlood(_ numbers: Range<Int>) {
        for number in numbers {
            let payload: [UInt8] = [11 << 3 | 1, 7, 7]
            // The source changes, and the codec does.
            if number % 25 == 0 { voice.expectPackets(false) }
            voice.expectPackets(true)
            voice.receive(
                payload.span, timestamp: RTPTimestamp(0) + number * 5_760, isRestart: number.isMultiple(of: 10))
        }
    }

    @Test func `nobody makes a recording grow faster than the time`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other)))
        for cycle in 0..<200 {
            receiveFlood(cycle * 60..<(cycle + 1) * 60)
            pass(hearing: 9)
            #expect(samples <= (cycle + 1) * 960 + 14_400)
        }
        record(.stop)
        #expect(samples >= 200 * 960 - 4_920 && recorder.frames.isEmpty)
        #expect(recorder.dropped == 200 * 60 - recorder.packets.count { $0.bytes.count > 1 }, "each is counted")
    }

    @Test func `a recording of packets is never longer than it may be`() throws {
        record(.start(Self.id, try RecordRequest(sides: .other, maximum: .seconds(1))))
        for cycle in 0..<60 {
            receiveFlood(cycle * 60..<(cycle + 1) * 60)
            pass(hearing: 9)
        }
        #expect(recorder.steps == [.started, .over(.maximum)])
        #expect((48_000 - 5_760...48_000).contains(samples))
    }

    @Test func `what comes while a worker is late is recorded`() throws {
        let kept = Kept()
        let voice = SpeakingVoice(PlayingVoice(nil))
        voice.record(.start(Self.id, try RecordRequest(sides: .other)), with: kept)
        var rig = EngineRig(a: [.opus()], b: [.pcmu])
        rig.listen(voice)
        rig.runCycle()
        func receive(_ number: Int) {
            rig.receive(Self.packet(number), payloadType: 111, timestamp: UInt32(number * 960))
        }
        for number in 0..<20 {
            receive(number)
            rig.runCycle()
        }
        for number in 20..<70 { receive(number) }
        rig.stall(.seconds(1))
        rig.runCycle()
        for number in 70..<80 {
            receive(number)
            rig.runCycle()
        }
        #expect(kept.packets.map { $0.bytes.count > 1 ? Int($0.bytes[1]) : -1 } == Array(0..<80))
    }

    @Test func `the engine hands over the packets of the one who is heard, while that one sends Opus`() throws {
        let senders: [([Codec], Bool)] = [([.opus(), .events48], true), ([.pcmu, .events8], false)]
        for (codecs, isOpus) in senders {
            let kept = Kept()
            let voice = SpeakingVoice(PlayingVoice(nil))
            voice.record(.start(Self.id, try RecordRequest(sides: .other)), with: kept)
            var rig = EngineRig(a: codecs, b: [.pcmu])
            rig.listen(voice)
            rig.runCycle()
            for number in 0..<50 {
                let payload = isOpus ? Self.packet(number) : [UInt8](repeating: 0xFF, count: 160)
                rig.receive(
                    payload, payloadType: isOpus ? 111 : 0, timestamp: UInt32(number * (isOpus ? 960 : 160)))
                // A telephone event is no audio.
                if number == 20 {
                    rig.receive([1, 10, 0, 160], payloadType: isOpus ? 110 : 101, timestamp: 19_200, marker: true)
                }
                rig.runCycle()
            }
            let numbers = kept.packets.compactMap { $0.bytes.count > 1 ? $0.bytes[1] : nil }
            #expect(numbers == (isOpus ? Array(0..<UInt8(numbers.count)) : []))
            #expect(isOpus ? numbers.count >= 45 && kept.frames.isEmpty : kept.frames.count == 51)
        }
    }

    @Test func `who is heard in place of another is recorded behind that one, whatever the timestamps`() throws {
        let kept = Kept()
        let voice = SpeakingVoice(PlayingVoice(nil))
        voice.record(.start(Self.id, try RecordRequest(sides: .other)), with: kept)
        var rig = EngineRig(a: [.opus()], b: [.opus()])
        let leg = rig.listen(voice)
        rig.runCycle()
        for number in 0..<20 {
            rig.receive(Self.packet(number), payloadType: 111, timestamp: UInt32(1_000_000 + number * 960))
            rig.runCycle()
        }
        rig.route(leg, to: .leg(EngineRig.b))
        rig.runCycle()
        for number in 100..<120 {
            rig.receive(
                Self.packet(number), from: EngineRig.b, payloadType: 111, timestamp: UInt32((number - 100) * 960))
            rig.runCycle()
        }
        let numbers = kept.packets.compactMap { $0.bytes.count > 1 ? $0.bytes[1] : nil }
        #expect(numbers == Array(0..<20) + Array(100..<120))
    }

    @Test func `a sender of Opus is decoded only while somebody needs its samples`() throws {
        let kept = Kept()
        let voice = SpeakingVoice(PlayingVoice(nil))
        var rig = EngineRig(a: [.opus()], b: [.opus()])
        rig.listen(voice)
        var number = 0
        func isDecoded() -> Bool {
            for _ in 0..<20 {
                rig.receive(Self.packet(number), payloadType: 111, timestamp: UInt32(number * 960))
                rig.runCycle()
                number += 1
            }
            return rig.receivedFromA != nil
        }
        var decoded = [isDecoded()]
        voice.record(.start(Self.id, try RecordRequest(sides: .other)), with: kept)
        decoded.append(isDecoded())
        voice.record(.stop, with: kept)
        voice.record(.start(Self.id, try RecordRequest()), with: kept)
        decoded.append(isDecoded())
        voice.record(.stop, with: kept)
        decoded.append(isDecoded())
        voice.setBase(EchoVoice(delay: .milliseconds(100)))
        decoded.append(isDecoded())
        #expect(decoded == [false, false, true, false, true])
        #expect(kept.packets.filter { $0.bytes.count > 1 }.count >= 15 && kept.frames.count >= 15)
    }
}
