package import Audio
internal import AudioStreams
package import CallControl
package import CallRuntime
package import Primitives

/// An item of a list, with what it is played from.
package struct SpokenItem {
    /// What is played.
    package enum Source {
        /// A sound that was read from a file.
        case sound(Sound)
        /// A tone of the telephone network.
        case tone(ToneCadence)
        /// Music on hold.
        case music
        /// Nothing.
        case silence
    }

    /// What is played.
    package let source: Source
    /// How many cycles of 20 ms it plays, 1 or more; `nil`: a sound to its end, anything else without an end.
    package let cycles: Int?

    /// Makes an item.
    ///
    /// - Parameter length: how long it plays, rounded up to 20 ms; `nil`: as for `cycles`.
    package init(_ source: Source, length: Duration?) {
        self.source = source
        cycles = length.map { max(1, (Int($0.inSamples) + AudioMixer.frame - 1) / AudioMixer.frame) }
    }

    /// A player of the item from its start.
    fileprivate var player: any AudioPlayer {
        switch source {
        case .sound(let sound): SamplePlayer(sound, from: 0, repeats: false)
        case .tone(let cadence): TonePlayer(cadence)
        case .music: MusicPlayer()
        case .silence: SilentPlayer()
        }
    }
}

/// The voice of every headless leg: it plays lists one after the other, and without one lets the stream of a program
/// speak, or else a base voice.
///
/// A list plays only while others hear the leg, since a voice speaks only then. The items of a list start on multiples
/// of 20 ms.
package final class SpeakingVoice: HeadlessVoice {
    /// A list that plays or waits.
    private struct Spoken {
        let number: UInt32
        let tag: String?
        let items: [SpokenItem]
        /// How often the list is still to be started after this time; `nil`: for ever.
        var repetitions: Int?
        /// The factor of all samples.
        let gain: Float
        /// The item that plays.
        var place = 0
        var player: (any AudioPlayer)?
        /// How many cycles the item has played.
        var cycles = 0
        /// How many cycles of the list others could hear.
        var heard = 0
    }

    /// One channel or two, those of the first base; constant. A list is brought into as many.
    package let channels: Int
    /// Others hear nothing, whatever plays.
    package var isMuted = false
    /// What plays stands still.
    package var isPaused = false
    /// The peer that is to hear the leg is not connected yet. The voice waits for it, but only so long.
    package var awaitsPeer = false {
        didSet { if !awaitsPeer { waited = 0 } }
    }
    /// How many cycles the voice has waited for the peer.
    private var waited = 0
    /// 10 seconds. A client may ignore what comes before the answer, and never connect for it.
    private static let longestWait = 500
    /// Lists and the stream stand still until the peer is connected.
    package var isWaiting: Bool { awaitsPeer && waited < Self.longestWait }
    /// What is recorded of the leg; `nil`: nothing is.
    private var recording: RecordingTap?
    private var base: any HeadlessVoice
    /// The stream of a program, which may have lost its socket; `nil`: there was none.
    package internal(set) var stream: StreamVoice?
    /// The programs that hear the leg, and say nothing.
    var listeners: [ListeningStream] = []
    /// The Opus packets of the stream that others hear in this cycle; `nil`: they hear samples alone.
    package private(set) var saidPackets: [[UInt8]]?
    private var lists: [Spoken] = []
    private var played: [PlayedList] = []
    /// A frame of a list whose channels are not those of the voice.
    private var frame: [Int16] = []

    /// Makes a voice that lets this one speak while it plays no list.
    package init(_ base: any HeadlessVoice) {
        self.base = base
        channels = base.channels
    }

    /// Lets another voice speak while no list plays. One with other channels than the first is brought into those. A
    /// stream whose program is gone is over then.
    package func setBase(_ base: any HeadlessVoice) {
        self.base = base
        if stream?.isConnected == false { endSpeakingStream(.unreachable) }
    }

    // MARK: Lists

    /// Plays a list.
    ///
    /// - Parameters:
    ///   - items: the items of the list; `nil`: one of them cannot be played, and the list fails.
    ///   - isReplacing: what plays and waits is dropped; otherwise the list follows it.
    package func play(
        _ list: PlayList, _ items: [SpokenItem]?, number: UInt32, tag: String?, replacing isReplacing: Bool
    ) {
        guard let items, !items.isEmpty else {
            played.append(PlayedList(number: number, tag: tag, heard: 0, outcome: .failed))
            return
        }
        if isReplacing { drop(.replaced) }
        let loops = list.loops ?? 1
        lists.append(
            Spoken(
                number: number, tag: tag, items: items, repetitions: loops == 0 ? nil : loops - 1,
                gain: Self.factor(of: list.volume)))
    }

    /// Stops what plays, and drops what waits.
    package func stop() { drop(.stopped) }

    /// Stops the list of this number, whether it plays or waits; the others stay. One that is over is ignored.
    package func stop(_ number: UInt32) {
        guard let index = lists.firstIndex(where: { $0.number == number }) else { return }
        end(lists.remove(at: index), .stopped)
    }

    /// Drops what plays and what waits, since the leg is over.
    package func cutOff() { drop(.callEnded) }

    /// The lists that are over since the last call, in their order.
    package func takePlayed() -> [PlayedList] {
        guard !played.isEmpty else { return [] }
        defer { played = [] }
        return played
    }

    private func drop(_ outcome: PlayedList.Outcome) {
        for list in lists { end(list, outcome) }
        lists = []
    }

    private func end(_ list: Spoken, _ outcome: PlayedList.Outcome) {
        played.append(PlayedList(number: list.number, tag: list.tag, heard: list.heard * 20, outcome: outcome))
    }

    /// 10 to the power of a twentieth of the decibels, by steps of one decibel.
    private static func factor(of decibels: Int) -> Float {
        let step: Float = decibels < 0 ? 0.891_250_94 : 1.122_018_5
        return (0..<abs(decibels)).reduce(1 as Float) { factor, _ in factor * step }
    }

    // MARK: A cycle

    /// Says the next 20 ms of the list that plays, or else of the base; or those of the tone before a recording.
    package func speak(into samples: inout MutableSpan<Int16>) -> Bool {
        saidPackets = nil
        defer { if isWaiting { waited += 1 } }
        let speaks = say(into: &samples)
        if speaks { for listener in listeners { listener.said(samples.span, channels: channels) } }
        guard let recording, !isHoldingBack(recording) else { return speaks }
        if recording.isBeeping { saidPackets = nil }
        return recording.speak(&samples, channels: channels, isSpeaking: speaks)
    }

    private func say(into samples: inout MutableSpan<Int16>) -> Bool {
        guard !isPaused, !isWaiting else { return false }
        guard !lists.isEmpty else { return speakBase(into: &samples) && !isMuted }
        let player = lists[0].player ?? lists[0].items[lists[0].place].player
        let hasMore = fill(&samples, from: player)
        apply(lists[0].gain, to: &samples)
        lists[0].player = player
        lists[0].cycles += 1
        if !isMuted, !awaitsPeer { lists[0].heard += 1 }
        let item = lists[0].items[lists[0].place]
        if item.cycles.map({ lists[0].cycles >= $0 }) ?? !hasMore { advance() }
        return !isMuted
    }

    /// Lets the base, the stream, listeners and the recording take what the leg hears.
    package func hear(_ samples: Span<Int16>, channels: Int) {
        base.hear(samples, channels: channels)
        if !isPaused {
            stream?.hear(samples, channels: channels)
            for listener in listeners { listener.heard(samples, channels: channels) }
        }
        guard let recording, !isHoldingBack(recording) else { return }
        recording.hear(samples, channels: channels)
        if recording.isOver { self.recording = nil }
    }

    /// Whether the base, a stream, a listener or a recording uses what the leg hears.
    package var needsSamples: Bool {
        base.needsSamples || stream != nil || !listeners.isEmpty || recording?.needsSamples == true
    }

    /// Tells the stream and the recording what is to come.
    package func expectPackets(_ isExpected: Bool) {
        stream?.expectPackets(isExpected)
        recording?.expectPackets(isExpected)
    }

    /// Lets the stream and the recording have a packet of the sender that the leg hears.
    package func receive(_ packet: Span<UInt8>, timestamp: RTPTimestamp, isRestart: Bool) {
        if !isPaused { stream?.receive(packet, timestamp: timestamp, isRestart: isRestart) }
        recording?.receive(packet, timestamp: timestamp, isRestart: isRestart)
    }

    /// Tells the recording that time has passed.
    package func skip(_ cycles: Int) { recording?.skip(cycles) }

    // MARK: Recording

    /// The tone before a recording waits for the peer, too.
    private func isHoldingBack(_ recording: RecordingTap) -> Bool { isWaiting && recording.isBeeping }

    /// Starts a recording, or does something about the one that goes on.
    package func record(_ order: RecordingOrder, with recorder: any AudioRecorder) {
        switch order {
        case .start(let id, let request): recording = RecordingTap(id, request, recorder)
        case .pause: recording?.pause()
        case .resume: recording?.resume()
        case .stop:
            recording?.stop()
            recording = nil
        }
    }

    // MARK: Parts

    /// The item that plays is over.
    private func advance() {
        lists[0].player = nil
        lists[0].cycles = 0
        lists[0].place += 1
        guard lists[0].place == lists[0].items.count else { return }
        lists[0].place = 0
        if let repetitions = lists[0].repetitions {
            guard repetitions > 0 else {
                end(lists.removeFirst(), .completed)
                return
            }
            lists[0].repetitions = repetitions - 1
        }
    }

    /// A stream takes the place of the base.
    private func speakBase(into samples: inout MutableSpan<Int16>) -> Bool {
        let voice: any HeadlessVoice = if let stream, stream.takesPlaceOfBase { stream } else { base }
        guard voice.channels != channels else {
            guard voice.speak(into: &samples) else { return false }
            saidPackets = voice.saidPackets
            return true
        }
        var own = takeFrame(voice.channels)
        defer { frame = own }
        var span = own.mutableSpan
        guard voice.speak(into: &span) else { return false }
        convert(own.span, of: voice.channels, into: &samples)
        return true
    }

    /// Fills the samples from a player. Returns `false` at the end of its audio.
    private func fill(_ samples: inout MutableSpan<Int16>, from player: any AudioPlayer) -> Bool {
        guard player.channels != channels else { return player.next(into: &samples) }
        var own = takeFrame(player.channels)
        defer { frame = own }
        var span = own.mutableSpan
        let hasMore = player.next(into: &span)
        convert(own.span, of: player.channels, into: &samples)
        return hasMore
    }

    /// Moves the frame out of the object, so that it is not copied.
    private func takeFrame(_ channels: Int) -> [Int16] {
        var own: [Int16] = []
        swap(&own, &frame)
        let count = channels * AudioMixer.frame
        if own.count != count { own = [Int16](repeating: 0, count: count) }
        return own
    }

    /// Brings a frame of one channel into two, or of two into one.
    private func convert(_ own: Span<Int16>, of count: Int, into samples: inout MutableSpan<Int16>) {
        for index in 0..<AudioMixer.frame {
            if count == 1 {
                samples[2 * index] = own[index]
                samples[2 * index + 1] = own[index]
            } else {
                samples[index] = Int16((Int(own[2 * index]) + Int(own[2 * index + 1])) / 2)
            }
        }
    }

    private func apply(_ gain: Float, to samples: inout MutableSpan<Int16>) {
        guard gain != 1 else { return }
        for index in samples.indices {
            let scaled = (Float(samples[index]) * gain).rounded()
            samples[index] = Int16(min(max(scaled, -32_768), 32_767))
        }
    }
}
