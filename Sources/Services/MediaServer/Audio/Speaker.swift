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
    /// How many cycles of silence are sent before the first telephone event after a gap: five, so that one arrives even
    /// if some are lost.
    private static let cyclesBeforeEvents = 5

    let feed: LineFeed
    let source: MediaSource
    private var stream: SpokenStream
    private var coders: ChannelCoders
    private var digits: PressedDigits
    /// How many cycles of audio are still sent before the digits that wait.
    private var lead: Int
    /// The payload type of comfort noise with the clock rate of the codec; `nil` unless the codec is G.711 and the peer
    /// accepts comfort noise (RFC 3389).
    private let noise: PayloadType?
    private var suppression = SilenceSuppression()
    /// The level of the 20 ms taken last; silence during telephone events.
    private(set) var level = AudioLevel.silence
    /// Packets of a program that are sent in this cycle as they are.
    private var relayed: ArraySlice<[UInt8]> = []
    /// For how long the packets that were sent as they are go on after this cycle, in samples of 48 kHz.
    private var ahead = 0
    /// What is sent in this cycle instead of audio.
    private var insertion: Insertion?

    private enum Insertion {
        case event(DigitQueue.Step)
        case noise(AudioLevel, PayloadType)
    }

    /// Keeps the encoder of `former` if the codec is the same; `nil` if the gateway makes no audio for the leg.
    init?(keeping former: Speaker?, for state: AudioState) {
        guard state.feed.isMadeHere,
            let format = state.codecs.lazy.compactMap({ AudioFormat($0, packetTime: state.packetTime) }).first
        else { return nil }
        let same = former.flatMap { $0.stream.format == format ? $0 : nil }
        guard let coders = same?.coders ?? ChannelCoders(format) else { return nil }
        self.coders = coders
        feed = state.feed
        source = state.source
        stream = SpokenStream(line: state.line, format: format, isSpurt: same?.stream.isSpurt ?? true)
        suppression = same?.suppression ?? SilenceSuppression()
        digits = PressedDigits(TelephoneEventFormat(among: state.codecs, beside: format), after: former?.digits)
        lead = former?.lead ?? 0
        noise =
            state.codecs.first { format.kind.isG711 && $0.isNamed("CN") && $0.clockRate == format.clockRate }?
            .payloadType
        level = former?.level ?? .silence
        ahead = same?.ahead ?? 0
    }

    /// The index of the leg's m-line of audio.
    var line: Int { stream.line }
    /// The number of channels that the peer accepts.
    var channels: Int { stream.format.channels }

    // MARK: DTMF digits

    /// Appends DTMF digits to those that wait; `false` if there was no room for all of them.
    ///
    /// A jitter buffer such as libwebrtc's plays a telephone event once the audio before the event has been played. So
    /// audio is sent before the first event after a gap, and between events, also where the source is silent.
    func press(_ more: DigitQueue) -> Bool {
        if stream.isSpurt, digits.format != nil, !digits.isPressing { lead = Self.cyclesBeforeEvents }
        return digits.append(more)
    }

    /// Whether the peer hears this leg transcoded, and therefore its DTMF digits, too. In a mix no digits are passed
    /// on.
    func follows(_ leg: LegIndex) -> Bool {
        if case .transcoded(leg, _) = feed { true } else { false }
    }

    /// Passes on a DTMF digit of the leg that the peer hears, for as long as it is pressed there; `false` if there was
    /// no room for it.
    func follow(_ change: DigitReception.Change) -> Bool { digits.follow(change) }

    var isPressing: Bool { digits.isPressing }

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
        // The peer still plays a packet that was sent as it came.
        guard ahead <= 0 else { return pass(sending: 0, for: leg, on: &bridge) }
        // A telephone event replaces audio, and starts where a packet of audio ends.
        let mayPress = digits.format == nil || coders.sender.isBetweenPackets || digits.isPausing
        if lead > 0 {
            lead -= 1
        } else if mayPress, let step = digits.next() {
            guard digits.format == nil else {
                insertion = .event(step)
                return
            }
            channels = 1
            var sound = samples._mutatingExtracting(0..<AudioMixer.frame)
            step.sound(into: &sound)
            isSilence = false
        }
        if isSilence {
            for index in samples.indices { samples[index] = 0 }
        } else {
            level = AudioLevel(of: samples.span.extracting(0..<(channels * AudioMixer.frame)))
        }
        if coders.sender.isBetweenPackets, !isHeard(isSilence) {
            if insertion == nil { stream.skip(AudioMixer.frame, for: leg, on: &bridge) }
            return
        }
        coders.takeUp(channels)
        coders.sender.append(samples.span.extracting(0..<(channels * AudioMixer.frame)), channels: channels)
    }

    /// Sends Opus packets of a program in this cycle as they are, in place of what it would `take`.
    ///
    /// - Parameters:
    ///   - packets: Those that start in this cycle; none while a longer one is heard.
    ///   - level: The level of what they decode to.
    /// - Returns: Whether it does. It does not if the peer has another codec, in the middle of a packet, while DTMF
    ///   digits are pressed, if a packet is too long for a path, and if the peer was not sent the one that is heard.
    func relay(_ packets: [[UInt8]], level: AudioLevel, for leg: LegIndex, on bridge: inout Bridge) -> Bool {
        guard stream.format.kind.isOpus, coders.sender.isBetweenPackets, insertion == nil, !digits.isPressing,
            !packets.isEmpty || ahead > 0, packets.allSatisfy({ $0.count <= Self.maximumPayload })
        else { return false }
        relayed = packets[...]
        self.level = level
        pass(sending: packets.reduce(0) { $0 + Self.length(of: $1) }, for: leg, on: &bridge)
        return true
    }

    /// 20 ms pass, in which packets with so many samples are sent. What is missing of them is a gap.
    private func pass(sending samples: Int, for leg: LegIndex, on bridge: inout Bridge) {
        ahead += samples - AudioMixer.frame
        guard ahead < 0 else { return }
        stream.pass(-ahead, for: leg, on: &bridge)
        ahead = 0
    }

    private static func length(of packet: [UInt8]) -> Int {
        OpusPacket.sampleCount(of: packet.span) ?? AudioMixer.frame
    }

    /// Whether a frame is sent as audio. Around DTMF digits every frame is. Where the peer accepts comfort noise, a
    /// packet with the level may be sent instead.
    private func isHeard(_ isSilence: Bool) -> Bool {
        guard !digits.isPressing else {
            // The peer hears audio: what it was told of the background is over.
            suppression = SilenceSuppression()
            return true
        }
        guard let noise else { return !isSilence }
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
            case .event(let step): return makeEvent(step, in: &packet, for: leg, on: &bridge, at: now)
            case .noise(let level, let payloadType):
                return makeNoise(level, payloadType, in: &packet, for: leg, on: &bridge, at: now)
            }
        }
        if let next = relayed.popFirst() {
            var payload = packet._mutatingExtracting(
                RTPHeader.fixedLength..<(RTPHeader.fixedLength + Self.maximumPayload))
            for index in next.indices { payload[index] = next[index] }
            return stream.write(
                stream.format.payloadType, Self.length(of: next), next.count, isMarked: stream.isSpurt, in: &packet,
                for: leg, on: &bridge, at: now)
        }
        let sender = coders.sender
        while true {
            var payload = packet._mutatingExtracting(
                RTPHeader.fixedLength..<(RTPHeader.fixedLength + Self.maximumPayload))
            guard let count = sender.nextPacket(into: &payload) else { return nil }
            if count > 0 {
                return stream.write(
                    stream.format.payloadType, sender.samplesPerPacket, count, isMarked: stream.isSpurt, in: &packet,
                    for: leg, on: &bridge, at: now)
            }
            // Discontinuous transmission: the timestamp advances without a packet (RFC 7587 §3.1.3).
            stream.skip(sender.samplesPerPacket, for: leg, on: &bridge)
        }
    }

    // MARK: Instead of audio

    /// Sends the background level once. The peer makes comfort noise of that level until audio comes again.
    private func makeNoise(
        _ level: AudioLevel, _ payloadType: PayloadType, in packet: inout MutableSpan<UInt8>, for leg: LegIndex,
        on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int {
        var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        ComfortNoise(level: level).write(to: &payload)
        let size = stream.write(
            payloadType, AudioMixer.frame, ComfortNoise.size, isMarked: false, in: &packet, for: leg, on: &bridge,
            at: now)
        stream.endSpurt()
        return size
    }

    /// Sends a step of a DTMF digit (RFC 4733). The timestamp advances afterwards by the time that has passed.
    private func makeEvent(
        _ step: DigitQueue.Step, in packet: inout MutableSpan<UInt8>, for leg: LegIndex, on bridge: inout Bridge,
        at now: MonotonicTime
    ) -> Int {
        let event = digits.event(step)
        var payload = packet._mutatingExtracting(RTPHeader.fixedLength..<packet.count)
        event.payload.write(to: &payload)
        let size = stream.write(
            event.payloadType, 0, TelephoneEvent.size, isMarked: event.isFirst, in: &packet, for: leg, on: &bridge,
            at: now)
        switch event.timestampStep {
        case .nothing: break
        case .segment(let samples): stream.pass(samples, for: leg, on: &bridge)
        case .all(let samples): stream.skip(samples, for: leg, on: &bridge)
        }
        return size
    }
}
