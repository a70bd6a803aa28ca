internal import Audio
internal import CallControl
internal import CallRuntime
internal import Primitives

/// Takes what a headless leg says and hears into a recording, 20 ms of 48 kHz at a time: what it says first, and then
/// what it hears.
///
/// A recording as Ogg of what the leg hears is made of the packets of its sender, as they come, as long as the leg
/// hears one sender of Opus. A recording that silence ends needs its level, and so is made of samples.
///
/// The recording ends with this object at the latest: its leg is then gone.
final class RecordingTap {
    private let id: RecordingID
    private let sides: RecordRequest.Sides
    private let channels: Int
    private let recorder: any AudioRecorder
    private var course: RecordingCourse
    private var tone = Oscillator(frequency: 1_000)
    /// What the leg has said in this cycle, in one channel.
    private var own = [Int16](repeating: 0, count: AudioMixer.frame)
    /// The end was noted.
    private var isNoted = false
    /// The packets that are recorded; `nil`: the recording is not made of packets. There is one for the whole
    /// recording, so that nobody gets more room by changes of the codec.
    private var packets: OpusOrder?
    /// What the leg hears in this cycle comes in packets.
    private var isPacketed = false
    /// How many packets were left out, as far as the recorder knows.
    private var droppedBefore = 0

    init(_ id: RecordingID, _ request: RecordRequest, _ recorder: any AudioRecorder) {
        self.id = id
        sides = request.sides
        channels = request.channels
        self.recorder = recorder
        course = RecordingCourse(request)
        if request.sides == .other, request.format == .ogg, request.silence == nil { packets = OpusOrder() }
        if course.state == .recording { recorder.note(.started, of: id) }
    }

    deinit {
        guard !isNoted else { return }
        finishPackets()
        recorder.note(.over(.callEnded), of: id)
    }

    /// The tone before the recording is heard.
    var isBeeping: Bool { if case .beep = course.state { true } else { false } }

    /// Nothing more is recorded.
    var isOver: Bool { if case .over = course.state { true } else { false } }

    // MARK: Orders

    func pause() {
        let hasStarted = course.state == .recording
        guard course.pause() else { return }
        finishPackets()
        if !hasStarted { recorder.note(.started, of: id) }
        recorder.note(.paused, of: id)
    }

    func resume() { if course.resume() { recorder.note(.resumed, of: id) } }

    func stop() {
        if course.end(.command) { noteEnd() }
    }

    private func noteEnd() {
        guard case .over(let end) = course.state, !isNoted else { return }
        isNoted = true
        if end != .failed { finishPackets() }
        recorder.note(.over(end), of: id)
    }

    // MARK: Packets

    /// Whether the recording is made of samples, as far as is known.
    var needsSamples: Bool { !isPacketed }

    /// Whether all that the leg hears from now on comes in packets. If that changes the recording goes on in the other
    /// way.
    func expectPackets(_ isExpected: Bool) {
        guard packets != nil, isExpected != isPacketed else { return }
        if isPacketed { finishPackets() }
        isPacketed = isExpected
    }

    /// Cycles were left out, because the gateway was late. What comes in packets of their time is not lost.
    func skip(_ cycles: Int) {
        if isPacketed, course.state == .recording { packets?.skip(cycles) }
    }

    /// Takes a packet of the sender that the leg hears. What comes before the first cycle, during the tone or during a
    /// pause is left out.
    func receive(_ packet: Span<UInt8>, timestamp: RTPTimestamp, isRestart: Bool) {
        guard isPacketed, course.state == .recording else { return }
        if isRestart { packets?.restart() }
        packets?.insert(packet, timestamp: timestamp)
    }

    /// Has the packets written that wait, and what is missing behind them.
    private func finishPackets() {
        if isPacketed { write(packets?.finish() ?? []) }
    }

    /// Has packets written, as far as there is room for them. A recording that cannot be written is over.
    private func write(_ due: [OpusOrder.Packet]) {
        if let dropped = packets?.dropped, dropped > droppedBefore {
            recorder.noteDropped(dropped - droppedBefore)
            droppedBefore = dropped
        }
        var taken: [RecordedPacket] = []
        for packet in due where course.write(samples: packet.samples) {
            taken.append(RecordedPacket(bytes: packet.bytes, samples: packet.samples))
        }
        guard !taken.isEmpty else { return }
        if !recorder.take(taken, of: id) { _ = course.end(.failed) }
    }

    // MARK: A cycle

    /// Takes what the leg says, and puts the tone before the recording in its place.
    ///
    /// - Parameter isSpeaking: whether it says something; otherwise the samples are undefined.
    /// - Returns: whether others hear the samples.
    func speak(_ samples: inout MutableSpan<Int16>, channels: Int, isSpeaking: Bool) -> Bool {
        if case .beep = course.state {
            beep(into: &samples, channels: channels)
            return true
        }
        for index in own.indices {
            own[index] = isSpeaking ? Self.sample(samples.span, at: index, of: channels) : 0
        }
        return isSpeaking
    }

    /// Takes what the leg hears, and has the recorder write what is to be recorded of this cycle.
    func hear(_ samples: Span<Int16>, channels heard: Int) {
        let wasBeep = if case .beep = course.state { true } else { false }
        if isPacketed {
            // Silence does not end such a recording.
            if course.pass(isSilent: false) { write(packets?.pass() ?? []) }
        } else {
            let frame = frame(samples, heard)
            let isSilent = AudioLevel(of: frame.span).decibelsBelow >= RecordingCourse.silenceLevel
            if course.pass(isSilent: isSilent), course.write(samples: AudioMixer.frame), !recorder.take(frame, of: id) {
                _ = course.end(.failed)
            }
        }
        if wasBeep, course.state == .recording { recorder.note(.started, of: id) }
        noteEnd()
    }

    private func frame(_ samples: Span<Int16>, _ heard: Int) -> [Int16] {
        if sides == .own { return own }
        var frame = [Int16](repeating: 0, count: channels * AudioMixer.frame)
        for index in own.indices {
            let other = Self.sample(samples, at: index, of: heard)
            switch (sides, channels) {
            case (.other, _): frame[index] = other
            case (_, 1): frame[index] = Int16(clamping: Int(other) + Int(own[index]))
            case (_, _): (frame[2 * index], frame[2 * index + 1]) = (other, own[index])
            }
        }
        return frame
    }

    /// A sample of one channel; of two channels the mean.
    private static func sample(_ samples: Span<Int16>, at index: Int, of channels: Int) -> Int16 {
        channels == 1 ? samples[index] : Int16((Int(samples[2 * index]) + Int(samples[2 * index + 1])) / 2)
    }

    /// A quarter of the full level.
    private func beep(into samples: inout MutableSpan<Int16>, channels: Int) {
        for index in 0..<AudioMixer.frame {
            let sample = Int16(sample: tone.next() * 8_192)
            for channel in 0..<channels { samples[channels * index + channel] = sample }
        }
    }
}
