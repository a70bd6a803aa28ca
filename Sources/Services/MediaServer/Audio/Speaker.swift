internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// Makes the audio stream that the gateway sends to one leg.
///
///     take ─▶ PressedDigits ─▶ SilenceSuppression ─▶ ChannelCoders ─▶ nextPacket ─▶ SpokenStream
///
/// A cycle is one `take` of 20 ms, then `nextPacket` until it returns `nil`. The cycle makes no packet, one or several,
/// depending on the packet length that the peer wants.
final class Speaker {
    /// Bytes of a payload that fit any path together with headers and protection (RFC 8200 §5: 1,280 in all). The
    /// encoder keeps to this limit.
    private static let maximumPayload = 1_200

    let feed: LineFeed
    let source: MediaSource
    let line: Int
    private let format: AudioFormat
    /// Of as many channels as what was said last, if the peer takes them.
    private var sender: any AudioSender
    /// The coder for the other number of channels, once both have been said: a source may go from one to the other and back.
    private var spare: (any AudioSender)?
    private let keys: KeyFormat?
    /// Payload type of comfort noise for this codec, where the peer knows it (RFC 3389).
    private let noise: PayloadType?
    private var suppression = SilenceSuppression()
    /// The level of the 20 ms taken last; silence during telephone events.
    private(set) var level = AudioLevel.silence
    private var isSpurt = true
    private var digits: DigitQueue?
    /// What this cycle says instead of audio.
    private var insertion: Insertion?
    /// Cycles since the key was pressed, and samples of them whose time the timestamps have passed already.
    private var keyCycles = 0
    private var keySegments = 0

    private enum Insertion {
        case event(DigitQueue.Step, KeyFormat)
        case noise(AudioLevel, PayloadType)
    }

    /// Keeps the encoder of `former` if the codec is the same; `nil` if the gateway makes no audio for the leg.
    init?(keeping former: Speaker?, for state: AudioState) {
        guard state.feed.isMadeHere,
            let format = state.codecs.lazy.compactMap({ AudioFormat($0, packetTime: state.packetTime) }).first
        else { return nil }
        feed = state.feed
        source = state.source
        line = state.line
        self.format = format
        keys = KeyFormat(among: state.codecs, beside: format)
        noise =
            state.codecs.first { format.kind.isG711 && $0.isNamed("CN") && $0.clockRate == format.clockRate }?
            .payloadType
        if let former, former.format == format {
            (sender, spare, isSpurt, suppression) = (former.sender, former.spare, former.isSpurt, former.suppression)
        } else {
            guard let sender = format.makeSender() else { return nil }
            self.sender = sender
        }
        // Keys that wait are pressed whatever changes.
        if let former {
            (digits, keyCycles, keySegments, level) = (
                former.digits, former.keyCycles, former.keySegments, former.level
            )
        }
    }

    /// Whether there was room for the keys.
    func press(_ more: DigitQueue) -> Bool {
        if digits == nil { digits = DigitQueue() }
        return digits?.append(more) ?? false
    }

    /// Whether the peer hears this leg coded anew, and thus its keys, too; in a mix nobody does.
    func follows(_ leg: LegIndex) -> Bool {
        if case .transcoded(leg, _) = feed { true } else { false }
    }

    /// A key of the leg that the peer hears: pressed for as long as it is pressed there. Whether there was room for it.
    func follow(_ change: KeyReception.Change) -> Bool {
        if digits == nil { digits = DigitQueue() }
        return digits?.follow(change) ?? false
    }

    var isPressing: Bool { digits != nil }

    // MARK: A cycle

    /// Takes the 20 ms that the leg hears next. The content of `samples` is undefined afterwards.
    ///
    /// - Parameters:
    ///   - channels: The channels of `samples`; two are interleaved.
    ///   - isSilence: The source is silent, whatever is in `samples`.
    func take(
        _ samples: inout MutableSpan<Int16>, channels: Int, isSilence: Bool, for leg: LegIndex, on bridge: inout Bridge
    ) {
        var (channels, isSilence) = (channels, isSilence)
        level = .silence
        // An event takes the place of audio, and begins where a packet of audio ends.
        if keys == nil || sender.isBetweenPackets || digits?.isPausing == true {
            switch digits?.next() {
            case .event(let step):
                guard keys == nil else { return insert(step) }
                channels = 1
                var sound = samples._mutatingExtracting(0..<AudioMixer.frame)
                step.sound(into: &sound)
                isSilence = false
            case .done: digits = nil
            case .pause, nil: break
            }
        }
        if isSilence {
            for index in samples.indices { samples[index] = 0 }
        } else {
            level = AudioLevel(of: samples.span.extracting(0..<(channels * AudioMixer.frame)))
        }
        if sender.isBetweenPackets, !isHeard(isSilence) {
            if insertion == nil { skip(AudioMixer.frame, for: leg, on: &bridge) }
            return
        }
        if channels != sender.channels, sender.isBetweenPackets { takeUp(channels) }
        sender.append(samples.span.extracting(0..<(channels * AudioMixer.frame)), channels: channels)
    }

    /// How many channels the peer takes.
    var channels: Int { format.channels }

    /// Goes on with as many channels, if the peer takes them: each packet says for itself how many it has (RFC 6716 §3.1).
    private func takeUp(_ channels: Int) {
        guard channels <= format.channels, let other = spare ?? format.makeSender(channels: channels) else { return }
        (sender, spare) = (other, sender)
        other.reset()
    }

    private func insert(_ step: DigitQueue.Step) {
        guard let keys else { preconditionFailure("only a peer who knows events is sent one") }
        insertion = .event(step, keys)
    }

    /// Whether a frame is worth a packet; where silence can be described, the description goes out instead.
    private func isHeard(_ isSilence: Bool) -> Bool {
        guard let noise, digits == nil else { return !isSilence }
        switch suppression.next(level) {
        case .audio: return !isSilence
        case .nothing: return false
        case .noise(let level):
            insertion = .noise(level, noise)
            return false
        }
    }

    /// Writes the next packet of the cycle. Returns its size; `nil` if there is no more.
    func nextPacket(
        in packet: inout MutableSpan<UInt8>, for leg: LegIndex, on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int? {
        if let insertion {
            self.insertion = nil
            switch insertion {
            case .event(let step, let keys): return makeEvent(step, keys, in: &packet, for: leg, on: &bridge, at: now)
            case .noise(let level, let payloadType):
                return makeNoise(level, payloadType, in: &packet, for: leg, on: &bridge, at: now)
            }
        }
        while true {
            var payload = packet._mutatingExtracting(
                RTPHeader.fixedLength..<(RTPHeader.fixedLength + Self.maximumPayload))
            guard let count = sender.nextPacket(into: &payload) else { return nil }
            if count > 0 {
                return write(
                    format.payloadType, sender.samplesPerPacket, count, isSpurt: isSpurt, in: &packet, for: leg,
                    on: &bridge, at: now)
            }
            // Discontinuous transmission: time goes on without a packet (RFC 7587 §3.1.3).
            skip(sender.samplesPerPacket, for: leg, on: &bridge)
        }
    }

    // MARK: Instead of audio

    /// Sends the background level once. The peer makes comfort noise of that level until audio comes again.
    private func makeNoise(
        _ level: AudioLevel, _ payloadType: PayloadType, in packet: inout MutableSpan<UInt8>, for leg: LegIndex,
        on bridge: inout Bridge,
        at now: MonotonicTime
    ) -> Int {
        var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        ComfortNoise(level: level).write(to: &payload)
        let size = write(
            payloadType, AudioMixer.frame, ComfortNoise.size, isSpurt: false, in: &packet, for: leg, on: &bridge,
            at: now)
        isSpurt = true
        return size
    }

    /// Sends a step of a DTMF digit (RFC 4733). The timestamp advances afterwards by the time that has passed.
    private func makeEvent(
        _ step: DigitQueue.Step, _ keys: KeyFormat, in packet: inout MutableSpan<UInt8>, for leg: LegIndex,
        on bridge: inout Bridge,
        at now: MonotonicTime
    ) -> Int {
        let length = step.length - keySegments
        // An event that 16 bits do not hold goes on in another of them, without a marker, where this one ends (§2.5.1.3).
        let isFull = length > Self.longestSegment(keys)
        let duration = isFull ? Int(UInt16.max) : length * keys.clockRate / 48_000
        var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        TelephoneEvent(digit: step.digit, isEnd: step.isEnd && !isFull, duration: UInt16(clamping: duration)).write(
            to: &payload)
        let size = write(
            keys.payloadType, 0, TelephoneEvent.size, isSpurt: step.isFirst, in: &packet, for: leg, on: &bridge, at: now
        )
        keyCycles += 1
        if step.isLast {
            skip(keyCycles * AudioMixer.frame - keySegments, for: leg, on: &bridge)
            (keyCycles, keySegments) = (0, 0)
        } else if isFull {
            bridge.skipOriginated(for: leg, line: line, ticks: Self.longestSegment(keys) * format.clockRate / 48_000)
            keySegments += Self.longestSegment(keys)
        }
        return size
    }

    /// Samples of 48 kHz that the duration of an event just holds.
    private static func longestSegment(_ keys: KeyFormat) -> Int { Int(UInt16.max) * 48_000 / keys.clockRate }

    /// - Parameter samples: of 48 kHz, until the next packet.
    private func write(
        _ payloadType: PayloadType, _ samples: Int, _ count: Int, isSpurt spurt: Bool,
        in packet: inout MutableSpan<UInt8>,
        for leg: LegIndex, on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int {
        let header = bridge.originate(
            for: leg, line: line, payloadType, clockRate: UInt32(format.clockRate), ticks: format.ticks(of: samples),
            octets: count,
            isSpurt: spurt, at: now)
        header.writeNew(to: &packet)
        isSpurt = false
        return RTPHeader.fixedLength + count
    }

    /// Nothing is sent for so many samples of 48 kHz; what comes then begins a talk spurt (RFC 3551 §4.1).
    private func skip(_ samples: Int, for leg: LegIndex, on bridge: inout Bridge) {
        bridge.skipOriginated(for: leg, line: line, ticks: format.ticks(of: samples))
        isSpurt = true
    }
}

/// How keys are told to a peer that knows telephone events; to others they sound in the audio.
struct KeyFormat {
    let payloadType: PayloadType
    /// Of durations. Timestamps count like the audio even where this is another rate, as browsers do it.
    let clockRate: Int

    /// The events that count like the audio, else any.
    init?(among codecs: [Codec], beside format: AudioFormat) {
        let events = codecs.filter { $0.isTelephoneEvent && $0.clockRate > 0 }
        guard let chosen = events.first(where: { $0.clockRate == format.clockRate }) ?? events.first else { return nil }
        payloadType = chosen.payloadType
        clockRate = chosen.clockRate
    }
}
