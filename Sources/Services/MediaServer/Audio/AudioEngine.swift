package import Audio
package import MediaPlane
package import Primitives
internal import RTP
package import SDP
internal import SRTP

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
    /// When the next cycle is due; `nil` while there is no audio to process.
    package private(set) var nextCycle: MonotonicTime?
    /// The active speaker of the mix has changed in this cycle, and the bridge does not know it yet.
    private var speakerHasChanged = false
    /// DTMF digits dropped because the queue was full, since the last `takeDroppedKeys`.
    private var droppedKeys = 0

    private let detectsInbandKeys: Bool

    /// Makes an engine that has nothing to do until `update`.
    ///
    /// - Parameter detectsInbandKeys: Whether DTMF digits are detected in the G.711 audio of peers that have not
    ///   negotiated telephone events; not unless given.
    package init(detectsInbandKeys: Bool = false) { self.detectsInbandKeys = detectsInbandKeys }

    // MARK: Following the bridge

    /// Follows a change of legs, sources or codecs in the bridge. Legs in the mix are shown its active speaker.
    package func update(to bridge: inout Bridge, at now: MonotonicTime) {
        var isMixed = false
        for place in 0..<Bridge.maximumLegs {
            let state = bridge.audio(of: LegIndex(place))
            let wasMixed = listeners[place]?.isMixed ?? false
            listeners[place] = state.flatMap {
                Listener(keeping: listeners[place], for: $0, detectsInbandKeys: detectsInbandKeys)
            }
            speakers[place] = state.flatMap { Speaker(keeping: speakers[place], for: $0) }
            isMixed = isMixed || state?.source == .mix
            if wasMixed, listeners[place]?.isMixed != true { mixer?.remove(place) }
        }
        if isMixed, mixer == nil { mixer = AudioMixer() }
        if !isMixed { mixer = nil }
        let isIdle = listeners.allSatisfy { $0 == nil } && speakers.allSatisfy { $0 == nil }
        nextCycle = isIdle ? nil : nextCycle ?? now
        bridge.showSpeaker(activeSpeaker, at: now)
    }

    /// Who speaks in the mix, or spoke last.
    private var activeSpeaker: LegIndex? { mixer?.activeSpeaker.map(LegIndex.init) }

    /// Sets the player of a number, to which the sources in the bridge refer; `nil` removes it.
    package func setPlayer(_ player: (any AudioPlayer)?, number: UInt32) {
        players[number] = player
    }

    // MARK: In

    // MARK: Input

    /// Takes an RTP packet of a leg: audio, comfort noise or a telephone event. Packets of legs that are not decoded
    /// are ignored.
    package func receive(_ arrival: Arrival, payload: Span<UInt8>, at now: MonotonicTime) {
        guard let change = listeners[arrival.leg.rawValue]?.receive(arrival, payload, at: now) else { return }
        for case let speaker? in speakers where speaker.follows(arrival.leg) && !speaker.follow(change) {
            droppedKeys += 1
        }
    }

    /// Passes on a DTMF digit that was detected in the audio of a leg.
    private func passOn(_ digit: Character, of leg: LegIndex) {
        let key = DigitQueue(String(digit), duration: Self.keyDuration, gap: Self.keyGap)
        for case let speaker? in speakers where speaker.follows(leg) && !speaker.press(key) { droppedKeys += 1 }
    }

    /// Of keys that were heard in the audio, in milliseconds: it tells that they were pressed, not for how long.
    private static let keyDuration = 100
    private static let keyGap = 60

    // MARK: A cycle

    /// Listens to everybody and lets players play. A cycle that runs late is about the same 20 ms as if it were in time. Returns the players that have come to their end.
    package func beginCycle(at now: MonotonicTime) -> [UInt32] {
        // A worker that was held up does not make up for all of it at once.
        var due = nextCycle ?? now
        if now - due > Self.interval * 5 { due = now }
        nextCycle = due + Self.interval
        turn = 0
        hasTaken = false
        for place in listeners.indices {
            guard let listener = listeners[place] else { continue }
            let speaks = listener.receiver?.advance(at: due) ?? false
            while let digit = listener.receiver?.nextKey() { passOn(digit, of: LegIndex(place)) }
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

    /// Makes the next packet of this cycle; `nil` if there is no more. After the last packet, all legs in the mix are
    /// shown its active speaker if it has changed.
    package func nextPacket(_ bridge: inout Bridge, at now: MonotonicTime) -> Output? {
        while turn < speakers.count {
            let leg = LegIndex(turn)
            if let speaker = speakers[turn] {
                if !hasTaken { letTake(speaker, leg, &bridge) }
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

    private func letTake(_ speaker: Speaker, _ leg: LegIndex, _ bridge: inout Bridge) {
        let channels = channels(for: speaker, at: Int(leg.rawValue))
        if frames[channels - 1].isEmpty {
            frames[channels - 1] = [Int16](repeating: 0, count: channels * AudioMixer.frame)
        }
        var frame: [Int16] = []
        swap(&frame, &frames[channels - 1])
        defer { swap(&frame, &frames[channels - 1]) }
        let hears = fill(&frame, for: speaker, at: Int(leg.rawValue))
        var span = frame.mutableSpan
        speaker.take(&span, channels: channels, isSilence: !hears, for: leg, on: &bridge)
    }

    /// In how many channels a leg's source is handed to its speaker, who knows what its peer takes. A mix is made in what the peer takes.
    private func channels(for speaker: Speaker, at place: Int) -> Int {
        switch speaker.feed {
        case .transcoded(let sender, _): listeners[sender.rawValue]?.receiver?.channels ?? 1
        case .generated:
            switch speaker.source {
            case .mix: min(speaker.channels, mixer?.channels(for: place) ?? 1)
            case .player(let number): players[number]?.channels ?? 1
            case .silence, .leg: 1
            }
        case .nothing, .relayed: 1
        }
    }

    private static func nextPacket(
        of speaker: Speaker, in packet: inout [UInt8], _ leg: LegIndex, _ bridge: inout Bridge, at now: MonotonicTime
    ) -> Int? {
        var room = packet.mutableSpan
        return speaker.nextPacket(in: &room, for: leg, on: &bridge, at: now)
    }

    /// Puts into `frame`, of as many channels as the leg hears, what it hears; `false` if that is nothing.
    private func fill(_ frame: inout [Int16], for speaker: Speaker, at place: Int) -> Bool {
        switch speaker.feed {
        case .transcoded(let sender, _):
            guard let receiver = listeners[sender.rawValue]?.receiver else { return false }
            let heard = receiver.frame
            for index in frame.indices { frame[index] = heard[index] }
            return true
        case .generated:
            switch speaker.source {
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
        guard let speaker = speakers[leg.rawValue] else { return false }
        if !speaker.press(digits) { droppedKeys += digits.count }
        return true
    }

    /// How many DTMF digits have been dropped since the last call, because the queue was full.
    package func takeDroppedKeys() -> Int {
        defer { droppedKeys = 0 }
        return droppedKeys
    }

    /// Whether DTMF digits, or pauses between them, wait for the leg.
    package func isPressing(_ leg: LegIndex) -> Bool { speakers[leg.rawValue]?.isPressing ?? false }

    // MARK: Statistics

    /// The playout counts of the audio that the leg sends; `nil` if it is not decoded.
    package func played(from leg: LegIndex) -> AudioPlayout.Statistics? { receiver(of: leg)?.statistics }
    /// Milliseconds of the leg's audio that are held back now, and that should be; `nil` if it is not decoded.
    package func waiting(from leg: LegIndex) -> (depth: Double, target: Double)? {
        receiver(of: leg).map { ($0.depth, $0.target) }
    }
    func receiver(of leg: LegIndex) -> (any AudioReceiver)? { listeners[leg.rawValue]?.receiver }
    /// The level of the audio that the leg sends; `nil` if it is not decoded.
    package func level(of leg: LegIndex) -> AudioLevel? { receiver(of: leg).map { AudioLevel(of: $0.frame.span) } }
    /// The level of the audio that the gateway sends to the leg; `nil` if the gateway makes none for it.
    package func spokenLevel(to leg: LegIndex) -> AudioLevel? { speakers[leg.rawValue]?.level }
}

extension Array {
    fileprivate subscript(place: UInt8) -> Element {
        get { self[Int(place)] }
        set { self[Int(place)] = newValue }
    }
}
