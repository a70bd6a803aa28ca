package import Audio
package import MediaPlane
package import Primitives
internal import RTP
package import SDP
internal import SRTP

/// What the gateway itself hears and says in one call: decoders, players, the mix and encoders, every 20 ms.
///
/// It exists only while something has to be decoded or made here. The bridge decides what that is; `update` follows it.
/// After `beginCycle`, `nextPacket` until it returns `nil`.
package final class AudioEngine {
    package static let interval = Duration.milliseconds(20)

    /// A packet that lies in `packet`, without protection.
    package struct Output {
        package let leg: LegIndex
        /// Of the leg's transports, that of its audio.
        package let transport: TransportNumber
        package let count: Int
    }

    /// By place in the bridge.
    private var listeners = [Listener?](repeating: nil, count: Bridge.maximumLegs)
    private var speakers = [Speaker?](repeating: nil, count: Bridge.maximumLegs)
    private var players: [UInt32: any AudioPlayer] = [:]
    private var ended: [UInt32] = []
    private var mixer: AudioMixer?
    /// The next speaker to make its packet in this cycle.
    private var turn = Bridge.maximumLegs
    /// It has its samples of this cycle.
    private var hasTaken = false
    /// What a leg hears in this cycle: in one channel, and in two once anybody is to hear any.
    private var frames = [[Int16](repeating: 0, count: AudioMixer.frame), []]
    /// Of the packet made last: header and payload, with room for protection behind it.
    package private(set) var packet = [UInt8](repeating: 0, count: 1_500)
    /// When the next cycle is due; `nil` while there is nothing to do.
    package private(set) var nextCycle: MonotonicTime?
    /// Another leg of the mix speaks since this cycle, and is yet to be shown.
    private var speakerHasChanged = false
    /// Keys that came when as many waited as may wait, since the last `takeDroppedKeys`.
    private var droppedKeys = 0

    private let detectsInbandKeys: Bool

    /// - Parameter detectsInbandKeys: whether keys are listened for in the G.711 audio of peers that did not negotiate events.
    package init(detectsInbandKeys: Bool = false) { self.detectsInbandKeys = detectsInbandKeys }

    // MARK: Following the bridge

    /// Something about legs, sources or codecs has changed. Whoever is in the mix now sees who speaks in it.
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

    package func setPlayer(_ player: (any AudioPlayer)?, number: UInt32) {
        players[number] = player
    }

    // MARK: In

    package func receive(_ arrival: Arrival, payload: Span<UInt8>, at now: MonotonicTime) {
        guard let change = listeners[arrival.leg.rawValue]?.receive(arrival, payload, at: now) else { return }
        for case let speaker? in speakers where speaker.follows(arrival.leg) && !speaker.follow(change) {
            droppedKeys += 1
        }
    }

    /// Passes on a key that has sounded in the audio of a leg.
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

    /// Makes the next packet of this cycle, if there is one more; after the last one everybody in the mix sees who speaks.
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
        // Out of the object and back: nobody else touches it meanwhile, and nothing is copied.
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

    /// Protects the packet made last, in place; returns its new size.
    func protect(_ count: Int, with session: SRTPSession) throws(SRTPError) -> Int {
        var buffer: [UInt8] = []
        swap(&buffer, &packet)
        defer { swap(&buffer, &packet) }
        var span = buffer.mutableSpan
        return try session.protect(&span, count: count)
    }

    // MARK: Keys

    /// Presses keys behind those that wait already, or drops them if there is no room for all of them; `false` if this leg is sent
    /// nothing of ours.
    package func press(_ digits: DigitQueue, for leg: LegIndex) -> Bool {
        guard let speaker = speakers[leg.rawValue] else { return false }
        if !speaker.press(digits) { droppedKeys += digits.count }
        return true
    }

    /// How many keys have found no room since this was asked last.
    package func takeDroppedKeys() -> Int {
        defer { droppedKeys = 0 }
        return droppedKeys
    }

    package func isPressing(_ leg: LegIndex) -> Bool { speakers[leg.rawValue]?.isPressing ?? false }

    // MARK: Statistics

    /// What has become of the audio that the leg sends; `nil` if it is not decoded.
    package func played(from leg: LegIndex) -> AudioPlayout.Statistics? { receiver(of: leg)?.statistics }
    /// Milliseconds of the leg's audio that are held back now, and that should be; `nil` if it is not decoded.
    package func waiting(from leg: LegIndex) -> (depth: Double, target: Double)? {
        receiver(of: leg).map { ($0.depth, $0.target) }
    }
    func receiver(of leg: LegIndex) -> (any AudioReceiver)? { listeners[leg.rawValue]?.receiver }
    /// How loud what the leg sends is; `nil` if it is not decoded.
    package func level(of leg: LegIndex) -> AudioLevel? { receiver(of: leg).map { AudioLevel(of: $0.frame.span) } }
    /// How loud what is said to the leg is; `nil` if nothing is made here for it.
    package func spokenLevel(to leg: LegIndex) -> AudioLevel? { speakers[leg.rawValue]?.level }
}

extension Array {
    fileprivate subscript(place: UInt8) -> Element {
        get { self[Int(place)] }
        set { self[Int(place)] = newValue }
    }
}
