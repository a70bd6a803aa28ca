import Audio
import CallControl
import CallRuntime
import MediaServer
import Synchronization
import TestSupport
import Testing

/// What is recorded of a headless leg: who is in which channel, what is left out, and when it is over.
struct RecordedLegTests {
    /// Keeps what it is given.
    private final class Kept: AudioRecorder {
        private let state = Mutex((frames: [[Int16]](), steps: [RecordingStep](), isFull: false))

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

        func note(_ step: RecordingStep, of recording: RecordingID) { state.withLock { $0.steps.append(step) } }
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
}
