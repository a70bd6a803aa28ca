internal import Audio
internal import AudioStreams
internal import CallRuntime
internal import SpeexDSP

/// A program that hears a leg and says nothing: the other legs, or the leg as well. `StreamSession` decides what it is
/// told.
///
/// Within a cycle of 20 ms it takes what the leg says and hears, in any order; the next cycle sends what has come.
/// Confined to the thread of the leg's worker.
final class ListeningStream {
    private let terms: StreamTerms
    private let link: StreamLink
    private var session: StreamSession
    private var downward: Resampler
    /// The encoder, if the listener wants Opus: a sum has no packets of its own.
    private let coder: OpusStreamCoder?
    /// The sum of what has come in this cycle, at 48,000 samples per second, in one channel.
    private var wide = [Int16](repeating: 0, count: AudioMixer.frame)
    private var narrow: [Int16]
    /// Something has come in this cycle.
    private var hasHeard = false
    /// Messages of the program that were refused, since the last `takeRefusals`.
    private var refusals = 0

    /// Makes a listener whose socket is open.
    init(_ stream: MediaStream) {
        terms = stream.terms
        link = stream.link
        session = StreamSession(terms.dialect, start: stream.start, terms.configuration)
        downward = Resampler(from: 48_000, to: terms.format.rate)
        narrow = [Int16](repeating: 0, count: terms.format.samplesPerFrame)
        coder = OpusStreamCoder.make(for: terms.format)
        carryOut(session.socketOpened())
    }

    /// The program is gone, or its stream is over.
    var isOver: Bool { session.isOver || !session.isConnected }

    /// Takes what the program has sent, and the keys that it is told of.
    func receive() {
        guard !isOver else { return }
        let isGone = link.isGone
        for frame in isGone ? link.takeAllInward() : link.takeInward() { carryOut(session.received(frame)) }
        link.judged(waitsForRoom: false)
        for (key, milliseconds) in link.takeKeys() { carryOut(session.pressed(key, for: milliseconds)) }
        if isGone { session.socketClosed() }
    }

    /// 20 ms have passed: what came in them is sent.
    func advance() {
        if hasHeard {
            send()
            for index in wide.indices { wide[index] = 0 }
            hasHeard = false
        }
        carryOut(session.tick().actions)
    }

    private func send() {
        guard terms.format.encoding == .opus else {
            resample(wide.span, with: &downward, into: &narrow)
            return carryOut(session.heard(narrow))
        }
        if let packet = coder?.encode(wide.span) { carryOut(session.heard(packet: packet, wide)) }
    }

    /// The leg says this.
    func said(_ samples: Span<Int16>, channels: Int) {
        if terms.listens == .call { add(samples, channels) }
    }

    /// The leg hears this.
    func heard(_ samples: Span<Int16>, channels: Int) { add(samples, channels) }

    private func add(_ samples: Span<Int16>, _ channels: Int) {
        hasHeard = true
        addMiddle(of: samples, channels: channels, to: &wide)
    }

    /// Ends the stream, and closes its socket.
    func end(_ reason: StreamEnd) { carryOut(session.ended(reason)) }

    /// How many messages of the program were refused since the last call.
    func takeRefusals() -> Int {
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
            case .count: refusals += 1
            case .close(let reason): end = reason
            case .press, .answer, .hangUp: preconditionFailure("the session of a listener refuses what it says")
            }
        }
        link.send(frames)
        if let end { link.end(end) }
    }
}
