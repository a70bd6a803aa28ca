internal import Audio
package import AudioStreams
internal import CallControl
package import CallRuntime
internal import SpeexDSP

/// What a program says on a stream, and what the program is sent of what the leg hears. `StreamSession` decides; this
/// converts the rate, and carries out what follows.
///
/// A cycle is `advance`, then `speak` and `hear` of the audio engine. What `speak` is not asked for passes unheard.
///
/// Confined to the thread of the leg's worker.
package final class StreamVoice: HeadlessVoice {
    /// One channel.
    package var channels: Int { 1 }
    /// What the stream was opened with last.
    private var terms: StreamTerms
    private var session: StreamSession
    private var link: StreamLink
    /// Whether the socket is open, as far as the session knows.
    private var isOpen = true
    private var playout = StreamSession.Playout.silence
    /// Converts what the program says to 48,000 samples per second, and what it hears from there.
    private var upward: Resampler
    private var downward: Resampler
    /// 20 ms of what the leg hears: at 48,000 samples per second, and at the rate of the stream.
    private var wide = [Int16](repeating: 0, count: AudioMixer.frame)
    private var narrow: [Int16]
    /// What others hear while there is no socket.
    private let music = MusicPlayer()
    private var wishes: [StreamWish] = []
    /// Messages of the program that were refused, since the last `takeRefusals`.
    private var refusals = 0

    /// Makes a voice of a stream whose socket is open.
    package init(_ stream: MediaStream) {
        terms = stream.terms
        link = stream.link
        session = StreamSession(terms.dialect, start: stream.start, terms.configuration)
        upward = Resampler(from: terms.format.rate, to: 48_000)
        downward = Resampler(from: 48_000, to: terms.format.rate)
        narrow = [Int16](repeating: 0, count: terms.format.samplesPerFrame)
        carryOut(session.socketOpened())
    }

    /// Whether the program has a socket.
    package var isConnected: Bool { isOpen && !session.isOver }

    /// Goes on with another socket.
    ///
    /// - Returns: whether it does: the dialect and the format have to be the same, and the stream must not be over.
    package func reopen(_ stream: MediaStream) -> Bool {
        guard !session.isOver, stream.terms.dialect == terms.dialect, stream.terms.format == terms.format else {
            return false
        }
        if isConnected { link.end(.replaced) }
        (terms, link, isOpen) = (stream.terms, stream.link, true)
        carryOut(session.socketOpened())
        return true
    }

    /// Ends the stream, and closes its socket.
    package func end(_ reason: StreamEnd) { carryOut(session.ended(reason)) }

    // MARK: A cycle

    /// Takes what the program has sent, and the keys that it is told of.
    package func receive() {
        guard isConnected else { return }
        // What came before the socket was gone still counts.
        let isGone = link.isGone
        for frame in link.takeInward() { carryOut(session.received(frame)) }
        for (key, milliseconds) in link.takeKeys() { carryOut(session.pressed(key, for: milliseconds)) }
        guard isGone else { return }
        isOpen = false
        session.socketClosed()
    }

    /// 20 ms pass: the next `speak` is about what the program says in them.
    package func advance() {
        let (playout, actions) = session.tick()
        self.playout = playout
        carryOut(actions)
    }

    /// Whether others hear the stream now, and not the voice that it took the place of.
    package var takesPlaceOfBase: Bool { isConnected || playout != .silence || isAbsentWithMusic }

    private var isAbsentWithMusic: Bool { !isConnected && terms.absence == .music }

    /// Says what the program says in this cycle.
    package func speak(into samples: inout MutableSpan<Int16>) -> Bool {
        switch playout {
        case .samples(let said):
            fill(&samples, from: said, said.count, with: &upward)
            return true
        // No stream is opened with Opus.
        case .packets, .silence: return isAbsentWithMusic && music.next(into: &samples)
        }
    }

    /// Sends the program what the leg hears.
    package func hear(_ samples: Span<Int16>, channels: Int) {
        guard isConnected else { return }
        for index in wide.indices {
            wide[index] =
                channels == 1 ? samples[index] : Int16((Int(samples[2 * index]) + Int(samples[2 * index + 1])) / 2)
        }
        resample(wide.span, with: &downward, into: &narrow)
        carryOut(session.heard(narrow))
    }

    // MARK: What follows

    /// What the program has asked for since the last call, in its order.
    package func takeWishes() -> [StreamWish] {
        guard !wishes.isEmpty else { return [] }
        defer { wishes = [] }
        return wishes
    }

    /// How many messages of the program were refused since the last call.
    package func takeRefusals() -> Int {
        defer { refusals = 0 }
        return refusals
    }

    private func carryOut(_ actions: [StreamSession.Action]) {
        guard !actions.isEmpty else { return }
        var frames: [StreamFrame] = []
        var end: StreamEnd?
        for action in actions {
            switch action {
            case .send(let frame): frames.append(frame)
            case .press(let digits):
                guard let digits = DigitSequence(digits) else {
                    preconditionFailure("a dialect reads digits that can be pressed")
                }
                wishes.append(.press(digits))
            case .answer: wishes.append(.answer)
            case .hangUp: wishes.append(.end)
            case .count: refusals += 1
            case .close(let reason): end = reason
            }
        }
        link.send(frames)
        if let end { link.end(end) }
    }
}

extension SpeakingVoice {
    /// Whether there is a stream with a socket.
    package var hasStream: Bool { stream?.isConnected == true }

    /// Lets a stream speak while no list plays, and sends it what the leg hears. A stream whose socket is lost goes on
    /// with this one.
    package func attach(_ opened: MediaStream) {
        if stream?.reopen(opened) == true { return }
        stream?.end(.replaced)
        stream = StreamVoice(opened)
    }

    /// Ends the stream.
    package func endStream(_ reason: StreamEnd) {
        stream?.end(reason)
        stream = nil
    }
}
