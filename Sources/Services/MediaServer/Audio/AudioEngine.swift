package import Audio
package import MediaPlane
package import Primitives
internal import RTP
package import SDP
internal import SRTP
internal import Sockets

/// Processes audio for one call, every 20 ms: decoders, players, the mix and encoders.
///
/// It exists only while audio has to be decoded or made by the gateway. The bridge decides what that is, and `update`
/// follows it. A cycle is one `startCycle`, then `nextPacket` until it returns `nil`.
///
/// Confined to the thread that made it, which is its worker's; a debug build asserts it.
package final class AudioEngine {
    /// The length of a cycle.
    package static let interval = Duration.milliseconds(20)

    /// An RTP packet in `AudioEngine.packet`, not yet protected.
    package struct Output {
        /// The leg that the packet is for.
        package let leg: LegIndex
        /// The transport of the leg that carries its audio.
        package let transport: TransportNumber
        /// The size of the packet in bytes, header included.
        package let count: Int
    }

    /// By the index of the leg in the bridge.
    private var listeners = [Listener?](repeating: nil, count: Bridge.maximumLegs)
    private var speakers = [Speaker?](repeating: nil, count: Bridge.maximumLegs)
    private var ports = [HeadlessPort?](repeating: nil, count: Bridge.maximumLegs)
    /// The voices of the headless legs, by the index of the leg.
    private var voices: [Int: any HeadlessVoice] = [:]
    private var players: [UInt32: any AudioPlayer] = [:]
    private var ended: [UInt32] = []
    private var mixer: AudioMixer?
    /// The next speaker to make a packet in this cycle.
    private var turn = Bridge.maximumLegs
    /// Whether that speaker has its samples of this cycle.
    private var hasTaken = false
    /// What a leg hears in this cycle: first for one channel, then for two, which is empty until a leg hears stereo.
    private var frames = [[Int16](repeating: 0, count: AudioMixer.frame), []]
    /// The packet made last, header and payload, with room for its protection behind it.
    package private(set) var packet = [UInt8](repeating: 0, count: 1_500)
    private var cycles = CycleSchedule()
    /// The active speaker of the mix has changed in this cycle, and the bridge does not know it yet.
    private var speakerHasChanged = false
    /// DTMF digits dropped because the queue was full, since the last `takeDroppedDigits`.
    private var droppedDigits = 0

    /// The DTMF digits found in the audio of legs since the last `takeDetectedDigits`.
    private var detectedDigits: [(leg: LegIndex, digit: Character)] = []
    private let detectsInbandDTMF: Bool
    private let owner = OwnerThread()

    /// Makes an engine that has nothing to do until `update`.
    ///
    /// - Parameter detectsInbandDTMF: Whether DTMF digits are detected in the G.711 audio of peers that have not
    ///   negotiated telephone events; not unless given.
    package init(detectsInbandDTMF: Bool = false) { self.detectsInbandDTMF = detectsInbandDTMF }

    private func assertOwner() { assert(owner.isCurrent, "an engine is used on its worker's thread") }

    // MARK: Following the bridge

    /// Follows a change of legs, sources or codecs in the bridge. Legs in the mix are shown its active speaker.
    package func update(to bridge: inout Bridge, at now: MonotonicTime) {
        assertOwner()
        var isMixed = false
        for place in 0..<Bridge.maximumLegs {
            let state = bridge.audio(of: LegIndex(place))
            let wasMixed = isMixedIn(place)
            if let state, state.isHeadless {
                (listeners[place], speakers[place]) = (nil, nil)
                let former = ports[place]?.sender
                ports[place] = voices[place].flatMap { HeadlessPort($0, for: state) }
                // Timestamps of two senders have nothing to do with each other.
                if ports[place]?.sender != former { ports[place]?.voice.expectPackets(false) }
            } else {
                ports[place] = nil
                listeners[place] = state.flatMap {
                    Listener(
                        keeping: listeners[place], for: $0, detectsInbandDTMF: detectsInbandDTMF || !voices.isEmpty)
                }
                speakers[place] = state.flatMap { Speaker(keeping: speakers[place], for: $0) }
            }
            isMixed = isMixed || state?.source == .mix
            if wasMixed, !isMixedIn(place) { mixer?.remove(place) }
        }
        if isMixed, mixer == nil { mixer = AudioMixer() }
        if !isMixed { mixer = nil }
        let isIdle =
            listeners.allSatisfy { $0 == nil } && speakers.allSatisfy { $0 == nil } && ports.allSatisfy { $0 == nil }
        cycles.setNeeded(!isIdle, at: now)
        bridge.showSpeaker(activeSpeaker, at: now)
    }

    /// Whether the audio of a leg is in the mix.
    private func isMixedIn(_ place: Int) -> Bool { listeners[place]?.isMixed ?? ports[place]?.isMixed ?? false }

    /// The active speaker of the mix, or the last one.
    private var activeSpeaker: LegIndex? { mixer?.activeSpeaker.map(LegIndex.init) }

    /// Sets the player of a number, to which the sources in the bridge refer; `nil` removes it.
    package func setPlayer(_ player: (any AudioPlayer)?, number: UInt32) {
        assertOwner()
        players[number] = player
    }

    /// Sets the voice of a headless leg; `nil` removes it. It speaks and hears after the next `update`.
    package func setVoice(_ voice: (any HeadlessVoice)?, of leg: LegIndex) {
        assertOwner()
        voices[Int(leg.rawValue)] = voice
    }

    // MARK: Input

    /// Takes an RTP packet of a leg: audio, comfort noise or a telephone event. Packets of legs that are not decoded
    /// are ignored.
    package func receive(_ arrival: Arrival, payload: Span<UInt8>, at now: MonotonicTime) {
        assertOwner()
        passOn(arrival, payload)
        let change = listeners[arrival.leg.rawValue]?.receive(arrival, payload, at: now)
        followStart(of: arrival.leg, at: now)
        guard let change else { return }
        for case let speaker? in speakers where speaker.follows(arrival.leg) && !speaker.follow(change) {
            droppedDigits += 1
        }
    }

    /// How much later than at the earliest time a peer is heard that cycles follow. Its packets may be late by as much
    /// as those of a peer that cycles do not follow, on average.
    private static let reserve = Duration.milliseconds(8)

    /// Moves the cycles to the packets of a peer that starts to send, if a headless leg hears it and nobody else is
    /// decoded. All its packets then wait for equally long, and not for up to one cycle more, until the two clocks have
    /// drifted apart.
    private func followStart(of leg: LegIndex, at now: MonotonicTime) {
        guard let start = receiver(of: leg)?.earliestStart(at: now), ports.contains(where: { $0?.sender == leg }),
            listeners.count(where: { $0 != nil }) == 1
        else { return }
        cycles.move(to: start + Self.reserve, at: now)
    }

    /// Lets the voices of headless legs that hear the sender alone have its packet of Opus.
    private func passOn(_ arrival: Arrival, _ payload: Span<UInt8>) {
        let header = arrival.header
        guard hasPorts, listeners[arrival.leg.rawValue]?.isOpus(header.payloadType) == true else { return }
        for case let port? in ports where port.sender == arrival.leg {
            port.voice.receive(payload, timestamp: header.timestamp, isRestart: arrival.isRestart)
        }
    }

    /// Whether a headless leg hears something, or is heard.
    private var hasPorts: Bool { ports.contains { $0 != nil } }

    /// The DTMF digits that were found in the audio of legs since the last call, in their order.
    package func takeDetectedDigits() -> [(leg: LegIndex, digit: Character)] {
        guard !detectedDigits.isEmpty else { return [] }
        defer { detectedDigits = [] }
        return detectedDigits
    }

    /// Passes on a DTMF digit that was detected in the audio of a leg.
    private func passOn(_ digit: Character, of leg: LegIndex) {
        detectedDigits.append((leg, digit))
        let digits = DigitQueue(String(digit), duration: Self.digitDuration, gap: Self.digitGap)
        for case let speaker? in speakers where speaker.follows(leg) && !speaker.press(digits) { droppedDigits += 1 }
    }

    /// Length and gap of DTMF digits detected in audio: the detector reports that a digit was pressed, and not for how
    /// long.
    private static let digitDuration = Duration.milliseconds(100)
    private static let digitGap = Duration.milliseconds(60)

    // MARK: A cycle

    /// When the next cycle is due; `nil` while there is no audio to process.
    package var nextCycle: MonotonicTime? { cycles.next }

    /// Starts a cycle: decodes 20 ms of each leg, mixes them, and returns the numbers of the players that have ended. A
    /// late cycle is about the same 20 ms as a punctual one.
    package func startCycle(at now: MonotonicTime) -> [UInt32] {
        assertOwner()
        let (due, skipped) = cycles.start(at: now)
        if skipped > 0 {
            for case let port? in ports { port.voice.skip(skipped) }
        }
        turn = 0
        hasTaken = false
        for place in listeners.indices {
            if let port = ports[place] {
                port.advance()
                guard port.isSpeaking, port.isMixed else { continue }
                mixer?.setInput(port.frame.span, channels: port.voice.channels, of: place)
            }
            guard let listener = listeners[place] else { continue }
            listener.setNeeded(needsSamples(of: listener, at: place))
            let speaks = listener.receiver?.advance(at: due) ?? false
            while let digit = listener.receiver?.nextDigit() { passOn(digit, of: LegIndex(place)) }
            guard speaks, listener.isMixed, let receiver = listener.receiver else { continue }
            let frame = receiver.frame
            mixer?.setInput(frame.span, channels: receiver.channels, of: place)
        }
        speakerHasChanged = mixer?.mix() != nil
        // An array that is returned and emptied at once would be copied.
        guard !ended.isEmpty else { return [] }
        defer { ended = [] }
        return ended
    }

    /// Whether anybody needs the samples of a leg. A headless leg may do without, or with the packets of Opus.
    private func needsSamples(of listener: Listener, at place: Int) -> Bool {
        guard listener.usesOpus, !listener.isMixed else { return true }
        let leg = LegIndex(place)
        if speakers.contains(where: { $0?.follows(leg) == true }) { return true }
        return ports.contains { port in port.map { $0.sender == leg && $0.voice.needsSamples } ?? false }
    }

    /// Makes the next packet of this cycle; `nil` if there is no more. After the last packet, all legs in the mix are
    /// shown its active speaker if it has changed.
    package func nextPacket(_ bridge: inout Bridge, at now: MonotonicTime) -> Output? {
        assertOwner()
        while turn < speakers.count {
            let leg = LegIndex(turn)
            if let port = ports[turn] { feedPort(port, at: turn) }
            if let speaker = speakers[turn] {
                if !hasTaken { feedSpeaker(speaker, leg, &bridge) }
                hasTaken = true
                if let count = Self.nextPacket(of: speaker, in: &packet, leg, &bridge, at: now) {
                    return Output(leg: leg, transport: bridge.transport(of: leg, line: speaker.line), count: count)
                }
            }
            turn += 1
            hasTaken = false
        }
        mixer?.finishCycle()
        if speakerHasChanged { bridge.showSpeaker(activeSpeaker, at: now) }
        speakerHasChanged = false
        return nil
    }

    private func feedSpeaker(_ speaker: Speaker, _ leg: LegIndex, _ bridge: inout Bridge) {
        let place = Int(leg.rawValue)
        if relayPackets(to: speaker, leg, &bridge) { return }
        let channels = channels(of: speaker.feed, speaker.source, accepted: speaker.channels, at: place)
        withFrame(channels: channels) { frame in
            let hears = fill(&frame, speaker.feed, speaker.source, at: place)
            var span = frame.mutableSpan
            speaker.take(&span, channels: channels, isSilence: !hears, for: leg, on: &bridge)
        }
    }

    /// Lets a peer hear the Opus packets of a headless leg as they are, if it hears that leg alone.
    private func relayPackets(to speaker: Speaker, _ leg: LegIndex, _ bridge: inout Bridge) -> Bool {
        guard case .transcoded(let sender, _) = speaker.feed, let port = ports[Int(sender.rawValue)], port.isSpeaking,
            let packets = port.voice.saidPackets
        else { return false }
        return speaker.relay(packets, level: AudioLevel(of: port.frame.span), for: leg, on: &bridge)
    }

    private func feedPort(_ port: HeadlessPort, at place: Int) {
        let channels = channels(of: port.feed, port.source, accepted: 2, at: place)
        withFrame(channels: channels) { frame in
            if !fill(&frame, port.feed, port.source, at: place) {
                for index in frame.indices { frame[index] = 0 }
            }
            port.voice.expectPackets(port.sender.flatMap { listeners[$0.rawValue]?.usesOpus } ?? false)
            port.voice.hear(frame.span, channels: channels)
        }
    }

    /// Lends the frame for what a leg hears. It is moved out of the object and back, so that it is not copied; only
    /// `use` has it meanwhile.
    private func withFrame(channels: Int, _ use: (inout [Int16]) -> Void) {
        if frames[channels - 1].isEmpty {
            frames[channels - 1] = [Int16](repeating: 0, count: channels * AudioMixer.frame)
        }
        var frame: [Int16] = []
        swap(&frame, &frames[channels - 1])
        defer { swap(&frame, &frames[channels - 1]) }
        use(&frame)
    }

    /// The number of channels in which the source of a leg is handed to it. A mix is made in the number of channels
    /// that the leg accepts.
    private func channels(of feed: LineFeed, _ source: MediaSource, accepted: Int, at place: Int) -> Int {
        switch feed {
        case .transcoded(let sender, _): said(by: sender)?.channels ?? 1
        case .generated:
            switch source {
            case .mix: min(accepted, mixer?.channels(for: place) ?? 1)
            case .player(let number): players[number]?.channels ?? 1
            case .silence, .leg: 1
            }
        case .nothing, .relayed: 1
        }
    }

    /// The 20 ms that a leg has said in this cycle; `nil` if it has said nothing.
    private func said(by leg: LegIndex) -> (frame: [Int16], channels: Int)? {
        if let port = ports[Int(leg.rawValue)] {
            return port.isSpeaking ? (port.frame, port.voice.channels) : nil
        }
        return listeners[leg.rawValue]?.receiver.map { ($0.frame, $0.channels) }
    }

    private static func nextPacket(
        of speaker: Speaker, in packet: inout [UInt8], _ leg: LegIndex, _ bridge: inout Bridge, at now: MonotonicTime
    ) -> Int? {
        var room = packet.mutableSpan
        return speaker.nextPacket(in: &room, for: leg, on: &bridge, at: now)
    }

    /// Fills `frame`, which has the source's number of channels, with what the leg hears; `false` if its source is
    /// silent.
    private func fill(_ frame: inout [Int16], _ feed: LineFeed, _ source: MediaSource, at place: Int) -> Bool {
        switch feed {
        case .transcoded(let sender, _):
            guard let heard = said(by: sender)?.frame else { return false }
            for index in frame.indices { frame[index] = heard[index] }
            return true
        case .generated:
            switch source {
            case .mix:
                mixer?.output(for: place, into: &frame)
                return mixer != nil
            case .player(let number):
                guard let player = players[number] else { return false }
                play(player, number, into: &frame)
                return true
            case .silence, .leg: return false
            }
        case .nothing, .relayed: return false
        }
    }

    private func play(_ player: any AudioPlayer, _ number: UInt32, into frame: inout [Int16]) {
        var span = frame.mutableSpan
        guard !player.next(into: &span) else { return }
        ended.append(number)
        players[number] = nil
    }

    /// Protects the packet made last, in place. Returns its new size; throws what libsrtp reports.
    func protect(_ count: Int, with session: SRTPSession) throws(SRTPError) -> Int {
        var buffer: [UInt8] = []
        swap(&buffer, &packet)
        defer { swap(&buffer, &packet) }
        var span = buffer.mutableSpan
        return try session.protect(&span, count: count)
    }

    // MARK: DTMF digits

    /// Appends DTMF digits to those that wait for a leg. They are dropped, and counted, if there is no room for all of
    /// them. Returns `false` if the gateway makes no audio for this leg.
    package func press(_ digits: DigitQueue, for leg: LegIndex) -> Bool {
        assertOwner()
        guard let speaker = speakers[leg.rawValue] else { return false }
        if !speaker.press(digits) { droppedDigits += digits.count }
        return true
    }

    /// How many DTMF digits have been dropped since the last call, because the queue was full.
    package func takeDroppedDigits() -> Int {
        defer { droppedDigits = 0 }
        return droppedDigits
    }

    /// Whether DTMF digits, or pauses between them, wait for the leg.
    package func isPressing(_ leg: LegIndex) -> Bool { speakers[leg.rawValue]?.isPressing ?? false }

    // MARK: Statistics

    func receiver(of leg: LegIndex) -> (any AudioReceiver)? { listeners[leg.rawValue]?.receiver }
    /// The level of the audio that the gateway sends to the leg; `nil` if the gateway makes none for it.
    package func spokenLevel(to leg: LegIndex) -> AudioLevel? { speakers[leg.rawValue]?.level }
}

extension Array {
    fileprivate subscript(place: UInt8) -> Element {
        get { self[Int(place)] }
        set { self[Int(place)] = newValue }
    }
}
