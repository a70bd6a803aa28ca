internal import Audio
package import AudioStreams
internal import CallControl
package import CallRuntime
package import Primitives
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
    /// See ``MediaStream/order``.
    private let order: UInt64?
    private var session: StreamSession
    private var link: StreamLink
    /// Whether the socket is open, as far as the session knows.
    private var isOpen = true
    private var playout = StreamSession.Playout.silence
    /// Converts what the program says to 48,000 samples per second, and what it hears from there.
    private var upward: Resampler
    private var downward: Resampler
    /// The coder of a stream of Opus; `nil`: the stream has another format, or there was no memory.
    private let coder: OpusStreamCoder?
    /// Packets of what the leg hears come as well.
    private var isGivenPackets = false
    /// Those that have come since the last cycle.
    private var packets: [[UInt8]] = []
    /// The timestamp of the last one; `nil`: the next one is the first of its order.
    private var lastTimestamp: RTPTimestamp?
    /// What the leg has heard since the last packet, at 48,000 samples per second.
    private var heardSamples: [Int16] = []
    /// 20 ms of what the leg hears: at 48,000 samples per second, and at the rate of the stream.
    private var wide = [Int16](repeating: 0, count: AudioMixer.frame)
    private var narrow: [Int16]
    /// Messages that were taken from the queue, and wait until the session has room for what they may say.
    private var held = WaitingFrames()
    /// How many of them, from the first one on, came on sockets before the last one.
    private var formerHeld = 0
    /// What others hear while there is no socket.
    private let music = MusicPlayer()
    private var wishes: [StreamWish] = []
    /// Messages of the program that were refused, since the last `takeRefusals`.
    private var refusals = 0

    /// Makes a voice of a stream whose socket is open.
    package init(_ stream: MediaStream) {
        terms = stream.terms
        order = stream.order
        link = stream.link
        session = StreamSession(terms.dialect, start: stream.start, terms.configuration)
        upward = Resampler(from: terms.format.rate, to: 48_000)
        downward = Resampler(from: 48_000, to: terms.format.rate)
        narrow = [Int16](repeating: 0, count: terms.format.samplesPerFrame)
        coder = OpusStreamCoder.make(for: terms.format)
        carryOut(session.socketOpened())
    }

    /// Whether the program has a socket.
    package var isConnected: Bool { isOpen && !session.isOver }

    /// Whether `receive` has something to do: there is a socket, or what the last one has brought is not judged yet.
    package var needsCycles: Bool { isConnected || !session.isOver && !held.isEmpty && session.takesFrames }

    /// Goes on with another socket.
    ///
    /// - Returns: whether it does: the order, the dialect and the format have to be the same, and neither the program
    ///   nor the gateway has ended the stream.
    package func reopen(_ stream: MediaStream) -> Bool {
        guard !session.isOver, stream.order == order, stream.terms.dialect == terms.dialect,
            stream.terms.format == terms.format
        else {
            return false
        }
        let isEnded = link.loss == .ended
        if isConnected {
            link.end(.replaced)
            session.socketClosed()
        }
        takeRest()
        guard !session.isOver, !isEnded else { return false }
        formerHeld = held.count
        (terms, link, isOpen) = (stream.terms, stream.link, true)
        (packets, heardSamples) = ([], [])
        carryOut(session.socketOpened())
        return true
    }

    /// Passes on what the program of a stream, which this one takes the place of, has asked for, and what is to be
    /// counted of it. What it has said is heard no more.
    package func follow(_ former: StreamVoice) {
        wishes = former.takeWishes() + wishes
        refusals += former.takeRefusals()
    }

    /// Whether the application wants the stream no more.
    package var isStopped: Bool { link.isStopped }

    /// Ends the stream, and closes its socket.
    package func end(_ reason: StreamEnd) { carryOut(session.ended(reason)) }

    // MARK: A cycle

    /// Takes what the program has sent, and the keys that it is told of.
    package func receive() {
        guard !session.isOver else { return }
        let wasOpen = isOpen
        if isOpen, link.isGone {
            isOpen = false
            session.socketClosed()
        }
        // What came before the socket was gone still counts.
        takeMessages()
        if held.isEmpty || !session.takesFrames { link.judged(waitsForRoom: !session.takesFrames) }
        for (key, milliseconds) in link.takeKeys() { carryOut(session.pressed(key, for: milliseconds)) }
        if wasOpen, link.isStopped { carryOut(session.ended(.stopped)) }
    }

    /// Hands messages to the session as long as it takes them. Meanwhile the queue fills, and the socket is not read.
    /// The last ones of a socket are taken together: what they mean is waited for.
    private func takeMessages() {
        if held.isEmpty, session.takesFrames { hold(isOpen ? link.takeInward() : link.takeAllInward()) }
        takeHeld()
    }

    /// Hands over what the last socket has brought, before there is another one. What has no room yet waits in front of
    /// what the next socket brings.
    private func takeRest() {
        hold(link.takeAllInward())
        takeHeld()
        link.judged(waitsForRoom: true)
    }

    private func hold(_ frames: [StreamFrame]) { refusals += held.append(frames) }

    /// In one cycle no more than one socket can bring: what many sockets have brought may be tens of thousands of
    /// messages, and others wait for the worker.
    private func takeHeld() {
        var rest = StreamLink.inwardLimit
        while rest > 0, session.takesFrames, let frame = held.popFirst() {
            rest -= frame.cost
            let isOfFormerSocket = formerHeld > 0
            if isOfFormerSocket { formerHeld -= 1 }
            carryOut(session.received(frame, isOfFormerSocket: isOfFormerSocket))
        }
    }

    /// 20 ms pass: the next `speak` is about what the program says in them.
    package func advance() {
        let (playout, actions) = session.tick()
        self.playout = playout
        switch playout {
        case .packets(let packets): coder?.advance(packets)
        case .silence: coder?.forget()
        case .samples: break
        }
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
        case .packets:
            coder?.take(into: &samples)
            return coder != nil
        case .silence: return isAbsentWithMusic && music.next(into: &samples)
        }
    }

    /// The Opus packets of this cycle, as the program sent them.
    package var saidPackets: [[UInt8]]? { if case .packets(let packets) = playout { packets } else { nil } }

    /// Whether the packets of what the leg hears come as well.
    package func expectPackets(_ isExpected: Bool) {
        guard isExpected != isGivenPackets else { return }
        isGivenPackets = isExpected
        lastTimestamp = nil
    }

    /// Takes an Opus packet of what the leg hears, which the program is sent with the next cycle as it is; not one that
    /// comes late or twice.
    package func receive(_ packet: Span<UInt8>, timestamp: RTPTimestamp, isRestart: Bool) {
        guard coder != nil, isConnected, packets.count < Self.maximumPackets else { return }
        guard isRestart || lastTimestamp.map({ timestamp.isNewer(than: $0) }) ?? true else { return }
        lastTimestamp = timestamp
        packets.append([UInt8](copying: packet))
    }

    /// More packets in 20 ms than any peer sends: the shortest have 2.5 ms.
    private static let maximumPackets = 64
    /// The longest packet has 120 ms.
    private static let longestPacket = 5_760

    /// Sends packets as they came, or what the leg hears as a packet if none has come to be sent.
    private func hearOpus(_ coder: OpusStreamCoder) {
        guard isGivenPackets else {
            (packets, heardSamples) = ([], [])
            if let packet = coder.encode(wide.span) { carryOut(session.heard(packet: packet, wide)) }
            return
        }
        heardSamples += wide
        guard !packets.isEmpty else {
            // The peer pauses. The detector of speech need not know for how long.
            if heardSamples.count > Self.longestPacket { heardSamples = [] }
            return
        }
        let (came, samples) = (packets, heardSamples)
        (packets, heardSamples) = ([], [])
        for (index, packet) in came.enumerated() {
            carryOut(session.heard(packet: packet, index == 0 ? samples : []))
        }
    }

    /// Sends the program what the leg hears.
    package func hear(_ samples: Span<Int16>, channels: Int) {
        guard isConnected else { return }
        takeMiddle(of: samples, channels: channels, into: &wide)
        if let coder { return hearOpus(coder) }
        guard terms.format.encoding != .opus else { return }
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
    /// Whether there is a stream that needs cycles, or a listener.
    package var hasStream: Bool { stream?.needsCycles == true || !listeners.isEmpty }

    /// Lets a stream speak while no list plays, and sends it what the leg hears. A stream whose socket is lost goes on
    /// with this one. One that its program has ended does not: this one takes its place, and nothing more of it is
    /// heard. A listener is added to those that there are.
    package func attach(_ opened: MediaStream) {
        if opened.terms.listens != nil { return listeners.append(ListeningStream(opened)) }
        let former = stream
        if former?.reopen(opened) == true { return }
        let next = StreamVoice(opened)
        if let former {
            endSpeakingStream(former.isStopped ? .stopped : .replaced)
            next.follow(former)
        }
        stream = next
    }

    /// Ends the stream, and not the listeners.
    func endSpeakingStream(_ reason: StreamEnd) {
        stream?.end(reason)
        stream = nil
    }

    /// Takes what listeners have sent.
    ///
    /// - Parameter isCycle: 20 ms have passed, in which they may have heard something.
    /// - Returns: how many of their messages were refused.
    package func serveListeners(isCycle: Bool) -> Int {
        guard !listeners.isEmpty else { return 0 }
        var refusals = 0
        for listener in listeners {
            listener.receive()
            if isCycle { listener.advance() }
            refusals += listener.takeRefusals()
        }
        listeners.removeAll { $0.isOver }
        return refusals
    }

    /// Ends the stream, and listeners.
    package func endStream(_ reason: StreamEnd) {
        endSpeakingStream(reason)
        for listener in listeners { listener.end(reason) }
        listeners = []
    }
}
