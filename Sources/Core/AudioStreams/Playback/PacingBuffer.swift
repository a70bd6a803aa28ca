/// Audio of a bot that waits to be heard: pieces of any length come in, and 20 ms leave with each tick.
///
/// Positions are milliseconds of the bot's audio that was heard: frames that left, without the silence that fills
/// gaps and without what was cleared.
///
/// A rest that is shorter than a frame waits for more audio for `Configuration.patience`, and then leaves with silence
/// behind it. Until then, and when nothing waits, the caller hears silence.
package struct PacingBuffer: Equatable, Sendable {
    /// What can be tuned.
    package struct Configuration: Equatable, Sendable {
        /// The permitted capacities, in seconds.
        package static let capacities = 1...600
        /// The most audio that waits, in seconds.
        package var capacity: Int
        /// How long a rest that is shorter than a frame waits for more audio, in milliseconds; a multiple of 20 is
        /// counted.
        package var patience: Int
        /// The most marks that wait.
        package var maximumMarks: Int

        /// Makes a configuration; a capacity out of range is clamped.
        package init(capacity: Int = 60, patience: Int = 40, maximumMarks: Int = 1_000) {
            self.capacity = min(max(capacity, Self.capacities.lowerBound), Self.capacities.upperBound)
            self.patience = max(0, patience)
            self.maximumMarks = max(1, maximumMarks)
        }

        /// The bot is told to pause when so many milliseconds wait.
        package var high: Int { capacity * 750 }
        /// The bot is told to resume when no more than so many milliseconds wait.
        package var low: Int { capacity * 500 }
    }

    /// What leaves in 20 ms.
    package enum Playout: Equatable, Sendable {
        /// A frame of 20 ms in the format of the stream.
        case frame([UInt8])
        /// The Opus packets that start in these 20 ms. There may be none while a longer one is heard.
        case packets([[UInt8]])
        /// Nothing of the bot is heard.
        case silence
    }

    private struct Mark: Equatable, Sendable {
        let name: String
        /// The audio before it, in units since the start, with what was cleared.
        let position: Int
    }

    private let format: StreamFormat
    private let configuration: Configuration
    private var bytes = ByteQueue()
    private var packets = PacketQueue()
    private var marks: [Mark] = []
    /// The audio that came, was heard, and was cleared. The unit is a byte; with Opus a sample of 48,000 Hz.
    private var taken = 0
    private var played = 0
    private var dropped = 0
    /// What was refused since the last tick, in units.
    private var refused = 0
    /// How much longer a packet is heard than the ticks so far, in samples.
    private var ahead = 0
    private var waited = 0
    private var isFinished = false
    private var isAsked = false
    private var hadAudio = false
    /// Whether the bot was told to pause and not yet to resume.
    package private(set) var isFull = false
    /// Whether playback is paused.
    package private(set) var isPaused = false

    /// Makes an empty buffer.
    package init(_ format: StreamFormat, _ configuration: Configuration = Configuration()) {
        self.format = format
        self.configuration = configuration
    }

    // MARK: What the bot says

    /// Audio has come: bytes of any number, or one Opus packet. What does not fit is refused, and `tick` says how much.
    ///
    /// - Throws: `invalidValue` for an Opus packet that is none, `tooLong` for one that fits into no RTP packet.
    package mutating func append(_ audio: [UInt8]) throws(StreamFault) -> [StreamEvent] {
        let room = capacityUnits - waitingUnits
        if format.encoding == .opus {
            guard let samples = PacketQueue.samples(of: audio) else {
                throw StreamFault(.invalidValue, "a binary frame must be one Opus packet of at most 120 ms")
            }
            guard audio.count <= PacketQueue.maximumLength else {
                throw StreamFault(.tooLong, "an Opus packet has at most \(PacketQueue.maximumLength) bytes here")
            }
            if samples > room {
                refused += samples
            } else {
                packets.append(audio, samples)
                taken += samples
            }
        } else {
            // Half a sample that is refused would make noise of all that follows.
            let size = format.bytesPerSample ?? 1
            let fits = min(audio.count, max(0, room / size * size))
            bytes.append(audio[..<fits])
            taken += fits
            refused += audio.count - fits
        }
        (waited, isFinished) = (0, false)
        hadAudio = waitingUnits > 0
        guard !isFull, waiting >= configuration.high else { return [] }
        isFull = true
        return [.pause]
    }

    /// No more audio follows for now: a rest leaves with the next tick.
    package mutating func finish() { isFinished = true }

    /// Sets a mark behind the audio so far. It is answered at once if all of that was heard.
    ///
    /// - Throws: `tooLong` if too many marks wait.
    package mutating func mark(_ name: String) throws(StreamFault) -> [StreamEvent] {
        guard marks.count < configuration.maximumMarks else {
            throw StreamFault(.tooLong, "at most \(configuration.maximumMarks) marks wait")
        }
        marks.append(Mark(name: name, position: taken))
        return reachedMarks()
    }

    /// Drops what waits, and ends a pause. All marks are answered first, with what was heard.
    package mutating func clear() -> [StreamEvent] {
        dropped += waitingUnits
        (isPaused, isFinished, waited) = (false, false, 0)
        bytes.removeAll()
        packets.removeAll()
        hadAudio = false
        var events = marks.map { StreamEvent.marked($0.name, heard: heard, wasCleared: true) }
        marks = []
        events.append(.cleared(heard: heard))
        return events + room()
    }

    /// Playback stops for now.
    package mutating func pause() { isPaused = true }

    /// Playback goes on.
    package mutating func resume() { isPaused = false }

    /// The bot is told once, with the next tick at which nothing waits.
    package mutating func askWhenDrained() { isAsked = true }

    // MARK: Queries

    /// Whether so many bytes of audio, and a mark behind them, would be taken whole. Where nothing waits, there is no
    /// more room to come. Not for Opus.
    package func hasRoom(for bytes: Int) -> Bool {
        guard marks.count < configuration.maximumMarks else { return false }
        return waitingUnits == 0 || bytes <= capacityUnits - waitingUnits
    }

    /// Milliseconds of the bot's audio that were heard.
    package var heard: Int { played / unitsPerMillisecond }

    /// Milliseconds that wait.
    package var waiting: Int { waitingUnits / unitsPerMillisecond }

    /// Whether audio of the bot is heard or would be, but for a pause of the bot.
    package var isPlaying: Bool { waitingUnits > 0 && !isPaused }

    /// How much waits, and what follows from it.
    package var status: StreamStatus {
        StreamStatus(
            waiting: waiting, high: configuration.high, low: configuration.low, isFull: isFull, isPaused: isPaused)
    }

    // MARK: Time

    /// 20 ms have passed: what leaves, and what the bot is told.
    package mutating func tick() -> (playout: Playout, events: [StreamEvent]) {
        let playout: Playout =
            switch (isPaused, format.encoding == .opus) {
            case (true, _): .silence
            case (false, true): nextPackets()
            case (false, false): nextFrame()
            }
        var events = reachedMarks() + room()
        if refused > 0 {
            let lost = (refused + unitsPerMillisecond - 1) / unitsPerMillisecond
            refused = 0
            let sentence = "the buffer holds \(configuration.capacity) s: \(lost) ms of audio were not taken"
            events.append(.refused(StreamFault(.bufferFull, sentence)))
        }
        if waitingUnits == 0, hadAudio || isAsked {
            events.append(.drained(isAsked: isAsked))
            (hadAudio, isAsked) = (false, false)
        }
        return (playout, events)
    }

    private mutating func nextFrame() -> Playout {
        let size = frameUnits
        if bytes.count >= size {
            waited = 0
            played += size
            return .frame(bytes.removeFirst(size))
        }
        guard bytes.count > 0 else { return .silence }
        guard isFinished || waited >= configuration.patience else {
            waited += StreamFormat.frameMilliseconds
            return .silence
        }
        (waited, isFinished) = (0, false)
        played += bytes.count
        let rest = bytes.removeFirst(bytes.count)
        return .frame(rest + [UInt8](repeating: format.silence, count: size - rest.count))
    }

    private mutating func nextPackets() -> Playout {
        var due: [[UInt8]] = []
        let wasAhead = ahead
        while ahead < frameUnits, let (packet, samples) = packets.removeFirst() {
            due.append(packet)
            ahead += samples
            played += samples
        }
        // Time that no packet fills is silence, and is not made up for.
        ahead = max(0, ahead - frameUnits)
        return due.isEmpty && wasAhead == 0 ? .silence : .packets(due)
    }

    /// Marks whose audio was heard.
    private mutating func reachedMarks() -> [StreamEvent] {
        let end = played + dropped
        let count = marks.firstIndex { $0.position > end } ?? marks.count
        guard count > 0 else { return [] }
        let events = marks[..<count].map { mark in
            StreamEvent.marked(
                mark.name, heard: max(0, mark.position - dropped) / unitsPerMillisecond, wasCleared: false)
        }
        marks.removeFirst(count)
        return events
    }

    /// Tells the bot to resume when enough of what waited is gone.
    private mutating func room() -> [StreamEvent] {
        guard isFull, waiting <= configuration.low else { return [] }
        isFull = false
        return [.resume]
    }

    private var waitingUnits: Int { taken - played - dropped }

    private var capacityUnits: Int { configuration.capacity * 1_000 * unitsPerMillisecond }

    private var unitsPerMillisecond: Int { format.rate / 1_000 * (format.bytesPerSample ?? 1) }

    private var frameUnits: Int { unitsPerMillisecond * StreamFormat.frameMilliseconds }
}
