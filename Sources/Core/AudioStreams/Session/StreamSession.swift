/// One stream of a leg: all that is decided between the frames of a bot's socket and the sound of the leg.
///
/// The owner calls `heard` for the sound of the leg and `tick` once every 20 ms, and carries out what is returned, in
/// order. Time is counted in ticks; nothing here reads a clock.
///
/// Samples have the rate of the stream's format, in one channel: their owner converts them from and to 48,000 Hz, since
/// the resampler is a C library. L16 and G.711 are encoded and decoded here. Opus passes as packets.
///
/// A socket that is lost does not end the stream. What waits to be heard is still heard, marks that are reached
/// meanwhile are told when there is a socket again, and the time goes on.
package struct StreamSession: Sendable {
    /// What can be tuned.
    package struct Configuration: Equatable, Sendable {
        /// What the bot is sent of the caller.
        package enum Media: String, Hashable, Sendable, CaseIterable {
            /// Everything.
            case always
            /// What the caller says between `speechStarted` and `speechStopped`, and the pre-roll before it.
            case speech
            /// Nothing: the bot only speaks.
            case none
        }

        /// The permitted lengths of the pre-roll, in milliseconds.
        package static let preRolls = 0...2_000

        /// What the bot is sent of the caller. `speech` needs a detector.
        package var media: Media
        /// The buffer for the bot's audio.
        package var buffer: PacingBuffer.Configuration
        /// The detector of speech; `nil`: speech is not looked for.
        package var detector: SpeechDetector.Configuration?
        /// The reversible barge-in; `nil`: speech does not pause playback by itself. It needs a detector.
        package var bargeIn: BargeIn.Configuration?
        /// What a bot that is sent speech alone gets of the time before `speechStarted`, in milliseconds. The time
        /// that finding speech takes, up to 100 ms, is part of it.
        package var preRoll: Int
        /// So many frames in a row of one socket that cannot be read end the stream.
        package var maximumFaults: Int
        /// The bot only hears: what it says is refused, except that it asks how much waits.
        package var isListener: Bool

        /// Makes a configuration; a pre-roll out of range is clamped.
        package init(
            media: Media = .always, buffer: PacingBuffer.Configuration = PacingBuffer.Configuration(),
            detector: SpeechDetector.Configuration? = SpeechDetector.Configuration(),
            bargeIn: BargeIn.Configuration? = nil, preRoll: Int = 300, maximumFaults: Int = 100,
            isListener: Bool = false
        ) {
            self.media = media
            self.buffer = buffer
            self.detector = detector
            self.bargeIn = bargeIn
            self.preRoll = min(max(preRoll, Self.preRolls.lowerBound), Self.preRolls.upperBound)
            self.maximumFaults = max(1, maximumFaults)
            self.isListener = isListener
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// A frame goes to the bot.
        case send(StreamFrame)
        /// These DTMF digits go to the other legs: `0…9 A…D * #`, and `,` for a pause.
        case press(String)
        /// The call is to be answered.
        case answer
        /// The leg is to end; `ended` follows when it has.
        case hangUp
        /// A fault of the bot is to be counted.
        case count(StreamFault.Code)
        /// The stream is over: the socket is closed behind what was sent, and no other one is opened.
        case close(StreamEnd)
    }

    /// What the leg says in 20 ms.
    package enum Playout: Equatable, Sendable {
        /// 20 ms of samples of the format's rate, in one channel.
        case samples([Int16])
        /// The Opus packets that start in these 20 ms; none while a longer one is heard.
        case packets([[UInt8]])
        /// The bot says nothing: silence, or whatever is configured for a bot that is not there.
        case silence
    }

    /// The form of the audio.
    package let format: StreamFormat
    /// Whether there is a socket.
    package private(set) var isConnected = false
    /// Milliseconds since the stream started.
    package private(set) var mediaTime = 0
    /// Whether the stream is over. Nothing has an effect then.
    package private(set) var isOver = false

    private let configuration: Configuration
    private let dialectName: StreamDialectName
    private var dialect: any StreamDialect
    private var start: StreamStart
    private var buffer: PacingBuffer
    private var detector: SpeechDetector?
    private var bargeIn: BargeIn?
    private var preRoll: PreRoll
    /// The media time of the detector's first sample; `nil`: it has heard none.
    private var detectorStart: Int?
    /// When the caller's audio so far ends; the next piece starts there, unless there was a gap.
    private var heardUntil = 0
    /// What happened without a socket, and is told to the next one.
    private var missed: [StreamEvent] = []
    private var faults = 0

    /// Makes a stream without a socket.
    ///
    /// - Parameters:
    ///   - dialect: must carry the format of `start`.
    ///   - start: what the bot is told at the start; time and `isReconnected` are filled in here.
    package init(_ dialect: StreamDialectName, start: StreamStart, _ configuration: Configuration = Configuration()) {
        precondition(dialect.carries(start.format), "the owner has checked that the dialect carries the format")
        format = start.format
        self.configuration = configuration
        dialectName = dialect
        self.dialect = dialect.make(format: start.format)
        self.start = start
        self.start.isReconnected = false
        buffer = PacingBuffer(start.format, configuration.buffer)
        detector = configuration.detector.map { SpeechDetector(rate: start.format.rate, $0) }
        bargeIn = configuration.bargeIn.map { BargeIn($0) }
        preRoll = PreRoll(milliseconds: configuration.preRoll)
    }

    /// How much of the bot's audio waits, for status and tests.
    package var status: StreamStatus { buffer.status }

    /// Milliseconds of the bot's audio that the caller has heard.
    package var heardMilliseconds: Int { buffer.heard }

    // MARK: The socket

    /// A socket to the bot is open: the first one, or one in place of a lost one.
    package mutating func socketOpened() -> [Action] {
        guard !isOver else { return [] }
        dialect = dialectName.make(format: format)
        isConnected = true
        faults = 0
        start.time = mediaTime
        defer { start.isReconnected = true }
        let told = [.start(start)] + missed
        missed = []
        return told.flatMap { tell($0) }
    }

    /// The socket is lost.
    package mutating func socketClosed() { isConnected = false }

    /// Whether the next frame of the bot is to be taken now; otherwise it waits, and with it the bot. A bot that can be
    /// told to stop is always heard: what it sends beyond the buffer is refused. Of one that cannot nothing is refused:
    /// the longest frame has to have room.
    package var takesFrames: Bool {
        isOver || dialectName.hasFlowControl || buffer.hasRoom(for: StreamField.maximumAudio)
    }

    /// The bot has sent a frame, maybe before its socket was lost.
    ///
    /// - Parameter isOfFormerSocket: another socket has been opened since. One that cannot be read counts all the same,
    ///   and is no fault of the last socket: it does not end the stream.
    package mutating func received(_ frame: StreamFrame, isOfFormerSocket: Bool = false) -> [Action] {
        guard !isOver else { return [] }
        do {
            var actions: [Action] = []
            for command in try dialect.read(frame) { actions += try carryOut(command) }
            if !isOfFormerSocket { faults = 0 }
            return actions
        } catch {
            let actions = [.count(error.code)] + tell(.refused(error))
            return isOfFormerSocket ? actions : actions + addFault()
        }
    }

    private mutating func addFault() -> [Action] {
        faults += 1
        return faults < configuration.maximumFaults ? [] : ended(.faults)
    }

    private mutating func carryOut(_ command: StreamCommand) throws(StreamFault) -> [Action] {
        guard !configuration.isListener || command == .status else {
            throw StreamFault(.unsupported, "a listener hears, and says nothing")
        }
        switch command {
        case .audio(let bytes): return tell(try buffer.append(bytes))
        case .mark(let name): return tell(try buffer.mark(name))
        case .finish: buffer.finish()
        case .clear:
            bargeIn?.decided()
            return tell(buffer.clear())
        case .pause:
            bargeIn?.decided()
            buffer.pause()
        case .resume:
            bargeIn?.decided()
            buffer.resume()
        case .drain: buffer.askWhenDrained()
        case .status: return tell(.status(buffer.status))
        case .keys(let digits): return [.press(digits)]
        case .answer: return [.answer]
        case .end: return [.hangUp]
        }
        return []
    }

    // MARK: The leg

    /// The caller was heard: samples of the format's rate, best 20 ms of them. Not for Opus.
    package mutating func heard(_ samples: [Int16]) -> [Action] {
        heard(format.encode(samples), milliseconds: samples.count * 1_000 / format.rate, samples)
    }

    /// The caller was heard: one Opus packet, and the samples of 48,000 Hz that it decodes to, in one channel. Without
    /// samples no speech is looked for in it. A packet that is none is left out.
    package mutating func heard(packet: [UInt8], _ samples: [Int16] = []) -> [Action] {
        guard let count = PacketQueue.samples(of: packet) else { return [] }
        return heard(packet, milliseconds: count / 48, samples)
    }

    private mutating func heard(_ bytes: [UInt8], milliseconds: Int, _ samples: [Int16]) -> [Action] {
        guard !isOver else { return [] }
        let time = startOfPiece()
        heardUntil = time + milliseconds
        if detectorStart == nil { detectorStart = time }
        let found = samples.isEmpty ? nil : detector?.hear(samples)
        let piece = PreRoll.Piece(bytes: bytes, time: time, milliseconds: milliseconds)
        switch found {
        case .started(let offset): return speechStarted(at: (detectorStart ?? 0) + offset, with: piece)
        case .stopped(let offset):
            return media(piece) + tell(.speechStopped(at: (detectorStart ?? 0) + offset))
        case nil: return media(piece)
        }
    }

    /// A piece continues the one before it unless it comes more than 60 ms early or late: packets have jitter.
    private func startOfPiece() -> Int { abs(mediaTime - heardUntil) <= 60 ? heardUntil : mediaTime }

    /// Sends or keeps a piece of the caller's audio.
    private mutating func media(_ piece: PreRoll.Piece) -> [Action] {
        let isSent =
            switch configuration.media {
            case .always: true
            case .speech: detector?.isSpeech ?? true
            case .none: false
            }
        guard isSent else {
            preRoll.append(piece)
            return []
        }
        return tell(.media(piece.bytes, at: piece.time, milliseconds: piece.milliseconds))
    }

    private mutating func speechStarted(at time: Int, with piece: PreRoll.Piece) -> [Action] {
        let action = bargeIn?.speechStarted(isPlaying: buffer.isPlaying && isConnected)
        if action == .pause { buffer.pause() }
        let decision = action == .pause ? configuration.bargeIn?.decision : nil
        var actions = tell(.speechStarted(at: time, decision: decision))
        if configuration.media == .speech {
            for piece in preRoll.takeAll() {
                actions += tell(.media(piece.bytes, at: piece.time, milliseconds: piece.milliseconds))
            }
        }
        return actions + media(piece)
    }

    /// The caller pressed a DTMF digit. `milliseconds`: how long; `nil`: not known.
    package mutating func pressed(_ digit: Character, for milliseconds: Int? = nil) -> [Action] {
        tell(.keys(digit, milliseconds: milliseconds))
    }

    /// 20 ms have passed: what the leg says now, and what else is to be done.
    package mutating func tick() -> (playout: Playout, actions: [Action]) {
        guard !isOver else { return (.silence, []) }
        mediaTime += StreamFormat.frameMilliseconds
        var actions: [Action] = []
        if bargeIn?.tick() == .resume {
            buffer.resume()
            actions += tell(.resumed(heard: buffer.heard))
        }
        let (playout, events) = buffer.tick()
        for event in events {
            if case .refused(let fault) = event { actions.append(.count(fault.code)) }
            actions += tell(event)
        }
        switch playout {
        case .frame(let bytes): return (.samples(format.decode(bytes)), actions)
        case .packets(let packets): return (.packets(packets), actions)
        case .silence: return (.silence, actions)
        }
    }

    /// The stream ends, because of the leg or by command.
    package mutating func ended(_ reason: StreamEnd) -> [Action] {
        guard !isOver else { return [] }
        let actions = tell(.end(reason))
        isOver = true
        return actions + [.close(reason)]
    }

    // MARK: Telling

    private mutating func tell(_ events: [StreamEvent]) -> [Action] { events.flatMap { tell($0) } }

    /// Says an event on the socket. Without a socket it is kept if the next one needs it.
    private mutating func tell(_ event: StreamEvent) -> [Action] {
        guard !isOver else { return [] }
        guard isConnected else {
            if isKept(event) { missed.append(event) }
            return []
        }
        return dialect.write(event).map { .send($0) }
    }

    /// What was sent to nobody, and still matters later. Marks are bounded by the buffer, keys by a limit here.
    private func isKept(_ event: StreamEvent) -> Bool {
        switch event {
        case .marked, .cleared: true
        case .keys: missed.count < 1_000
        // `start` and the buffer's next event tell how things stand.
        case .pause, .resume, .drained: false
        case .start, .media, .speechStarted, .speechStopped, .resumed, .status, .refused, .end: false
        }
    }
}
