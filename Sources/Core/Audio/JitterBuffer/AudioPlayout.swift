package import Primitives

/// Turns the packets of one stream, as they arrive, into an even flow of samples (48 kHz, one channel or two).
///
///     insert ─▶ JitterBuffer ─▶ decode, recover or conceal ─▶ SampleQueue ─▶ shorten or lengthen ─▶ pull
///                    └─▶ DelayEstimator: how much to hold back
///
/// While the delay of the path varies no more than the packets' own spacing, samples leave exactly as they were
/// decoded. Clock drift of the sender appears as a delay that grows or shrinks, and is compensated by whole pitch
/// periods.
///
/// Samples are counted per channel everywhere. Two channels are interleaved, left first. Every decision (what is lost,
/// what is concealed, where a period is left out) is made once for both channels.
package struct AudioPlayout: ~Copyable {
    /// How much audio is held back, and when the playout is moved.
    package struct Configuration: Equatable, Sendable {
        /// How the delay to hold back is estimated.
        package var delay = DelayEstimator.Configuration()
        /// How far the playout may lag behind its intended position before audio is shortened. It may lead by a third
        /// of this before audio is lengthened, and by up to a frame more where packets end with frames.
        package var tolerance = Duration.milliseconds(15)
        /// The most audio that waits beyond what is held back; older audio is discarded.
        package var cap = Duration.milliseconds(400)

        /// Makes the default: 15 ms of tolerance, a cap of 400 ms, and the default delay estimation.
        package init() {}
    }

    /// Counts since the start. Audio is counted in samples per channel at 48 kHz, the other counts in packets.
    package struct Statistics: Equatable, Sendable {
        /// Samples played, of whatever kind.
        package var played: UInt64 = 0
        /// Samples made by packet loss concealment.
        package var concealed: UInt64 = 0
        /// Samples recovered from redundancy in the next packet.
        package var recovered: UInt64 = 0
        /// Samples left out to reduce the delay.
        package var shortened: UInt64 = 0
        /// Samples added to increase the delay.
        package var lengthened: UInt64 = 0
        /// Packets discarded because their time to be played was over.
        package var late: UInt64 = 0
        /// Packets discarded because their audio was there already.
        package var duplicate: UInt64 = 0
        /// Packets discarded because the buffer was full, or because they were too large.
        package var refused: UInt64 = 0
        /// Packets that the decoder refused, and comfort noise packets that are not valid.
        package var undecodable: UInt64 = 0
        /// Samples of comfort noise (RFC 3389), made while the peer pauses.
        package var noise: UInt64 = 0
    }

    /// Comfort noise is made in steps of 10 ms, counted in samples.
    private static let noiseStep = 480

    private let configuration: Configuration
    private var estimator: DelayEstimator
    private var clock = SampleClock()
    private var progress = PlayoutProgress()
    private var buffers: PlayoutBuffers
    /// Counts since the start.
    package private(set) var statistics = Statistics()

    /// Makes an empty playout.
    ///
    /// - Parameters:
    ///   - configuration: The delays; see `Configuration` for the defaults.
    ///   - channels: The channels of the stream's decoder, 1 or 2.
    package init(_ configuration: Configuration = Configuration(), channels: Int = 1) {
        self.configuration = configuration
        estimator = DelayEstimator(configuration.delay)
        buffers = PlayoutBuffers(channels: channels)
    }

    // MARK: Input

    /// Takes a packet of audio.
    ///
    /// - Parameters:
    ///   - payload: The RTP payload, which is copied.
    ///   - number: The RTP sequence number.
    ///   - timestamp: The RTP timestamp.
    ///   - clockRate: Ticks per second of the timestamps, a divisor of 48,000.
    ///   - sampleCount: The samples per channel that the packet has, according to the decoder.
    ///   - now: The time of arrival.
    package mutating func insert(
        _ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, clockRate: Int, sampleCount: Int,
        at now: MonotonicTime
    ) {
        let position = position(of: timestamp, clockRate: clockRate, at: now)
        if estimator.packetReceived(delay: clock.samples(at: now) - position) { waitAgain() }
        insert(payload, number, position, sampleCount, isNoise: false)
    }

    /// Takes a comfort noise packet: the peer pauses from its timestamp on, until audio comes again. The parameters are
    /// those of `insert`.
    package mutating func insertNoise(
        _ payload: Span<UInt8>, number: SequenceNumber, timestamp: RTPTimestamp, clockRate: Int, at now: MonotonicTime
    ) {
        guard ComfortNoise(parsing: payload) != nil else {
            statistics.undecodable += 1
            return
        }
        let position = position(of: timestamp, clockRate: clockRate, at: now)
        // Comfort noise packets are not sent at regular times. They say nothing about the delay of the path, and are
        // used for it only while there is no other measurement.
        if estimator.base == nil { estimator.packetReceived(delay: clock.samples(at: now) - position) }
        insert(payload, number, position, Self.noiseStep, isNoise: true)
    }

    private mutating func insert(
        _ payload: Span<UInt8>, _ number: SequenceNumber, _ position: Int64, _ sampleCount: Int, isNoise: Bool
    ) {
        switch buffers.packets.insert(
            payload, number: number, position: position, sampleCount: sampleCount, isNoise: isNoise,
            played: progress.played)
        {
        case .accepted: break
        case .duplicate: statistics.duplicate += 1
        case .late: statistics.late += 1
        case .refused: statistics.refused += 1
        }
    }

    /// Forgets the stream, because its source has changed or started again; the statistics go on.
    package mutating func restart() {
        clock.forgetStream()
        startAnew()
    }

    private mutating func startAnew() {
        waitAgain()
        estimator = DelayEstimator(configuration.delay)
    }

    /// Discards what waits, and waits for the audio to be held back as at the start.
    private mutating func waitAgain() {
        buffers.removeAll()
        progress.restart()
    }

    // MARK: Output

    /// Fills `frame` with the audio that is due, or with silence before the stream has started.
    ///
    /// - Parameters:
    ///   - frame: A multiple of 120 samples per channel, 20 ms at most.
    ///   - decoder: The decoder of the stream, with as many channels as the playout.
    ///   - now: The time at which the frame is played.
    /// - Returns: Whether the stream has started, so that the frame is audio, concealment or comfort noise of it.
    package mutating func pull(
        into frame: inout MutableSpan<Int16>, using decoder: inout some AudioDecoder & ~Copyable, at now: MonotonicTime
    ) -> Bool {
        let count = frame.count / buffers.queue.channels
        guard start(within: count, at: now) else {
            for index in frame.indices { frame[index] = 0 }
            return false
        }
        skipWhatIsTooOld(at: now)
        while buffers.queue.count < count { decodeNext(using: &decoder) }
        // Concealed audio may have turned out to replace no packet.
        skipWhatIsTooOld(at: now)
        while buffers.queue.count < count { decodeNext(using: &decoder) }
        keepPace(of: count, at: now)
        while buffers.queue.count < count { decodeNext(using: &decoder) }
        buffers.queue.take(into: &frame)
        statistics.played += UInt64(count)
        return true
    }

    /// The earliest time for the first frame, of `count` samples per channel; `nil` once the stream has started, and
    /// before there is a packet.
    package mutating func earliestStart(of count: Int, at now: MonotonicTime) -> MonotonicTime? {
        guard progress.position == nil, let first = buffers.packets.first else { return nil }
        progress.expect(first)
        return now + .samples(first.position - wanted(at: now) - Int64(count) + 1)
    }

    /// The audio that is held back now: packets that wait, and decoded samples.
    package var depth: Duration {
        // Before the start nothing is decoded.
        let decoded = progress.position ?? buffers.packets.first?.position ?? 0
        return .samples(max(0, (buffers.packets.end ?? decoded) - decoded) + Int64(buffers.queue.count))
    }
    /// The audio that should be held back.
    package var target: Duration { .samples(heldBack) }

    // MARK: Time

    private mutating func position(of timestamp: RTPTimestamp, clockRate: Int, at now: MonotonicTime) -> Int64 {
        let end = progress.position.map { max($0, buffers.packets.end ?? $0) } ?? 0
        switch clock.place(timestamp, clockRate: clockRate, at: now, following: end) {
        case .at(let position): return position
        case .restart:
            startAnew()
            return 0
        }
    }

    /// Waits at the start until the audio to be held back has arrived. Starts with a frame where packets can end with
    /// frames, and otherwise at the right sample of a frame.
    private mutating func start(within count: Int, at now: MonotonicTime) -> Bool {
        if progress.position != nil { return true }
        guard let first = buffers.packets.first else { return false }
        progress.expect(first)
        let early = first.position - wanted(at: now)
        guard early < count else { return false }
        buffers.queue.appendSilence(Int(max(0, early - lead(of: count))))
        progress.jump(to: first.position)
        return true
    }

    /// The position of the sample that should be played now.
    private mutating func wanted(at now: MonotonicTime) -> Int64 {
        clock.samples(at: now) - (estimator.base ?? 0) - heldBack
    }

    /// How long audio should wait in addition to the path's own delay, in samples.
    private var heldBack: Int64 {
        let packet = progress.packetLength
        return estimator.target(packet: packet) + (progress.awaitsRedundancy ? Int64(packet) : 0)
    }

    /// How far a frame of `count` samples may lead in addition, where packets have a whole number of frames.
    ///
    /// At the intended position every sample of a packet waits for as long as the packet may take. A frame is made at
    /// once, though: the last packet that it needs has to be there, however much of it the frame needs. Where that
    /// packet ends with the frame, nothing of it waits for the next frame: the frame may lead by its own length and
    /// needs no packet sooner.
    private func lead(of count: Int) -> Int64 {
        guard progress.packetLength % count == 0 else { return 0 }
        return Int64(count - buffers.queue.count % count)
    }

    /// How far the playout lags behind its intended position, in samples; negative if it leads. Concealed audio counts
    /// as a replacement of lost audio until it turns out that nothing was lost.
    private mutating func lag(at now: MonotonicTime) -> Int64 {
        wanted(at: now) - ((progress.position ?? 0) + progress.owed - Int64(buffers.queue.count))
    }

    /// Discards audio after a stall of this process, or of a path that then delivers everything at once. Stretching
    /// cannot compensate for such a delay.
    private mutating func skipWhatIsTooOld(at now: MonotonicTime) {
        if lag(at: now) > configuration.cap.inSamples { skip(to: wanted(at: now)) }
    }

    /// Moves the playout towards its intended position, by one pitch period at most. The queue holds the frame that is
    /// played next, of `count` samples.
    private mutating func keepPace(of count: Int, at now: MonotonicTime) {
        let (lag, tolerance) = (lag(at: now), configuration.tolerance.inSamples)
        if lag > tolerance {
            statistics.shortened += UInt64(buffers.queue.shorten())
        } else if lag + lead(of: count) < -tolerance / 3 {
            statistics.lengthened += UInt64(buffers.queue.lengthen())
        }
    }

    private mutating func skip(to position: Int64) {
        while let first = buffers.packets.first, first.position + Int64(first.sampleCount) <= position {
            _ = buffers.packets.removeFirst()
        }
        buffers.queue.removeAll()
        progress.jump(to: max(position, buffers.packets.first?.position ?? position))
    }

    // MARK: Decoding

    /// Makes more samples, one packet's worth if possible.
    private mutating func decodeNext(using decoder: inout some AudioDecoder & ~Copyable) {
        guard let next = buffers.packets.first else {
            if let noise = progress.noise {
                makeNoise(noise.sound, Self.noiseStep, using: &decoder)
            } else {
                progress.addOwed(conceal(progress.packetLength, using: &decoder))
            }
            return
        }
        let position = progress.position ?? 0
        guard next.position > position else {
            progress.clearOwed()
            takeFirst(using: &decoder)
            return
        }
        let missing = next.position - position
        if let noise = progress.noise {
            return makeNoise(noise.sound, Int(min(missing, Int64(Self.noiseStep))), using: &decoder)
        }
        fill(missing, before: next, using: &decoder)
    }

    /// Fills the gap before a packet, or a part of it.
    private mutating func fill(
        _ missing: Int64, before next: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable
    ) {
        let isPause = progress.isPause(before: next)
        if progress.missesRedundancy, !isPause, decoder.carriesRedundancy(buffers.packets.payload(of: next)) {
            progress.redundancyMissed()
        }
        if progress.settle(missing: missing) { return }
        let (gap, length) = (Int(min(missing, Int64(PlayoutBuffers.longestPacket))), progress.packetLength)
        if !isPause, gap <= length, buffers.recover(gap, from: next, using: &decoder) {
            progress.advance(by: Int64(gap))
            statistics.recovered += UInt64(gap)
        } else {
            progress.advance(by: conceal(min(gap, length), using: &decoder))
        }
    }

    private mutating func takeFirst(using decoder: inout some AudioDecoder & ~Copyable) {
        let packet = buffers.packets.removeFirst()
        progress.took(packet)
        if packet.isNoise {
            guard let sound = ComfortNoise(parsing: buffers.packets.payload(of: packet)) else {
                preconditionFailure("noise is looked at before it waits")
            }
            progress.started(sound)
        } else {
            progress.endNoise()
            decode(packet, using: &decoder)
        }
    }

    private mutating func decode(_ packet: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable) {
        var written = 0
        do throws(AudioCodecError) {
            written = try buffers.decode(packet, using: &decoder)
        } catch {
            statistics.undecodable += 1
        }
        if written > 0 {
            progress.decoded(packet, to: written)
        } else {
            progress.replaced(packet, by: conceal(progress.packetLength, using: &decoder))
        }
    }

    private mutating func makeNoise(
        _ sound: ComfortNoise, _ count: Int, using decoder: inout some AudioDecoder & ~Copyable
    ) {
        buffers.makeNoise(sound, count, using: &decoder)
        progress.advance(by: Int64(count))
        statistics.noise += UInt64(count)
    }

    /// Conceals about `count` samples. Returns how many it made.
    private mutating func conceal(_ count: Int, using decoder: inout some AudioDecoder & ~Copyable) -> Int64 {
        let made = buffers.conceal(count, using: &decoder)
        statistics.concealed += UInt64(made)
        return Int64(made)
    }
}
