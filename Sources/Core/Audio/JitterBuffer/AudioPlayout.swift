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
        /// How far the playout may be behind where it should be before it is moved, in milliseconds; ahead, a third of it.
        package var tolerance = 15
        /// No more than so much audio ever waits beyond what is held back, in milliseconds: what is older is given up.
        package var cap = 400

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

    /// A jump of more than this begins anew, in samples: five seconds.
    private static let restartJump: Int64 = 240_000
    /// Noise is made 10 ms at a time.
    private static let noiseStep = 480
    /// The longest packet there is (RFC 6716 §3.2.5), in samples.
    private static let longestPacket = 5_760
    /// For so long after redundancy came too late for a loss the playout waits for that of the next one: ten seconds.
    private static let redundancyMemory: Int64 = 480_000

    private let configuration: Configuration
    private let tolerance: Int64
    private var packets = JitterBuffer()
    private var queue: SampleQueue
    private var estimator: DelayEstimator
    package private(set) var statistics = Statistics()

    /// The last timestamp, where it is in samples without wrapping, and when it came.
    private var origin: (timestamp: RTPTimestamp, position: Int64, ticksPerSecond: Int, time: MonotonicTime)?
    /// Where the next samples to be decoded lie.
    private var decoded: Int64?
    /// What is played until audio comes again, and where it began.
    private var noise: (sound: ComfortNoise, start: Int64)?
    private var lastNumber: SequenceNumber?
    /// Of the last packet that was decoded.
    private var packetLength = 960
    /// Samples that were concealed while nothing was there.
    private var owed: Int64 = 0
    /// Up to where a packet more is held back, so that the redundancy for a lost one has come when its time comes.
    private var redundancyEnd = Int64.min
    private var isPlaying = false
    private var origins = (time: MonotonicTime.zero, isSet: false)

    /// - Parameter channels: of the stream's decoder, 1 or 2.
    package init(_ configuration: Configuration = Configuration(), channels: Int = 1) {
        self.configuration = configuration
        queue = SampleQueue(channels: channels)
        tolerance = Int64(configuration.tolerance) * 48
        estimator = DelayEstimator(configuration.delay)
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
        estimator.packetReceived(delay: samples(at: now) - position)
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
        // These are not sent as evenly as audio: they say nothing about the path, unless there is nothing else to go by.
        if estimator.base == nil { estimator.packetReceived(delay: samples(at: now) - position) }
        insert(payload, number, position, Self.noiseStep, isNoise: true)
    }

    private mutating func insert(
        _ payload: Span<UInt8>, _ number: SequenceNumber, _ position: Int64, _ sampleCount: Int, isNoise: Bool
    ) {
        // Noise is in place of nothing: what comes while it plays is not late.
        let played = noise?.start ?? decoded ?? .min
        switch packets.insert(
            payload, number: number, position: position, sampleCount: sampleCount, isNoise: isNoise, played: played)
        {
        case .accepted: break
        case .duplicate: statistics.duplicate += 1
        case .late: statistics.late += 1
        case .refused: statistics.refused += 1
        }
    }

    /// Forgets the stream, because its source has changed or started again; the statistics go on.
    package mutating func restart() {
        packets.removeAll()
        queue.removeAll()
        estimator = DelayEstimator(configuration.delay)
        noise = nil
        origin = nil
        decoded = nil
        lastNumber = nil
        owed = 0
        redundancyEnd = .min
        isPlaying = false
    }

    // MARK: Out

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
        let count = frame.count / queue.channels
        guard begin(within: count, at: now) else {
            for index in frame.indices { frame[index] = 0 }
            return false
        }
        skipWhatIsTooOld(at: now)
        while queue.count < count { decodeNext(using: &decoder) }
        // What was concealed may have turned out not to be in place of anything.
        skipWhatIsTooOld(at: now)
        while queue.count < count { decodeNext(using: &decoder) }
        keepPace(at: now)
        while queue.count < count { decodeNext(using: &decoder) }
        queue.take(into: &frame)
        statistics.played += UInt64(count)
        return true
    }

    /// Audio that is held back now, and that should be, in milliseconds.
    package var depth: Double {
        Double(max(0, (packets.end ?? decoded ?? 0) - (decoded ?? 0)) + Int64(queue.count)) / 48
    }
    package var target: Double { Double(heldBack) / 48 }

    // MARK: Time

    private mutating func samples(at now: MonotonicTime) -> Int64 {
        if !origins.isSet { origins = (now, true) }
        return (now - origins.time).wholeNanoseconds / 1_000 * 48 / 1_000
    }

    private mutating func position(of timestamp: RTPTimestamp, clockRate: Int, at now: MonotonicTime) -> Int64 {
        let factor = Int64(48_000 / max(1, clockRate))
        guard let origin, origin.ticksPerSecond == clockRate else {
            let position = decoded.map { max($0, packets.end ?? $0) } ?? 0
            self.origin = (timestamp, position, clockRate, now)
            return position
        }
        let position = origin.position + Int64(timestamp - origin.timestamp) * factor
        // A pause moves the timestamps on by as much time as went by (RFC 3550 §5.1), however long it was.
        let elapsed = (now - origin.time).wholeNanoseconds / 1_000 * 48 / 1_000
        let jump = position - origin.position
        guard abs(jump) <= Self.restartJump || abs(jump - elapsed) <= Self.restartJump else {
            restart()
            self.origin = (timestamp, 0, clockRate, now)
            return 0
        }
        if position > origin.position { self.origin = (timestamp, position, clockRate, now) }
        return position
    }

    /// Waits at the beginning until as much has come as is to be held back, and begins at the right sample of a frame.
    private mutating func begin(within count: Int, at now: MonotonicTime) -> Bool {
        if isPlaying { return true }
        guard let first = packets.first else { return false }
        packetLength = first.sampleCount
        let early = first.position - wanted(at: now)
        guard early < count else { return false }
        queue.appendSilence(Int(max(0, early)))
        decoded = first.position
        isPlaying = true
        return true
    }

    /// The sample that should be played now.
    private mutating func wanted(at now: MonotonicTime) -> Int64 { samples(at: now) - (estimator.base ?? 0) - heldBack }

    /// What audio should wait beyond the path's own delay, in samples.
    private var heldBack: Int64 {
        estimator.target(packet: packetLength) + (decoded ?? .min < redundancyEnd ? Int64(packetLength) : 0)
    }

    /// How far the playout is behind where it should be, in samples; negative if it is ahead. What was concealed counts as in place of
    /// something until it turns out that it was not.
    private mutating func lag(at now: MonotonicTime) -> Int64 {
        wanted(at: now) - ((decoded ?? 0) + owed - Int64(queue.count))
    }

    /// A pause of our own, or of a path that then delivers everything at once: no stretching makes up for that.
    private mutating func skipWhatIsTooOld(at now: MonotonicTime) {
        if lag(at: now) > Int64(configuration.cap) * 48 { skip(to: wanted(at: now)) }
    }

    /// Moves the playout where it should be, a pitch period at a time.
    private mutating func keepPace(at now: MonotonicTime) {
        let lag = lag(at: now)
        if lag > tolerance {
            statistics.shortened += UInt64(queue.shorten())
        } else if lag < -tolerance / 3 {
            statistics.lengthened += UInt64(queue.lengthen())
        }
    }

    private mutating func skip(to position: Int64) {
        while let first = packets.first, first.position + Int64(first.sampleCount) <= position {
            _ = packets.removeFirst()
        }
        queue.removeAll()
        owed = 0
        decoded = max(position, packets.first?.position ?? position)
    }

    // MARK: Decoding

    /// Makes more samples, one packet's worth if possible.
    private mutating func decodeNext(using decoder: inout some AudioDecoder & ~Copyable) {
        guard let next = packets.first else {
            if noise != nil {
                makeNoise(Self.noiseStep, using: &decoder)
            } else {
                owed += conceal(packetLength, using: &decoder)
            }
            return
        }
        let position = decoded ?? 0
        if next.position <= position {
            // Late, not lost: the playout is that much later from now on.
            owed = 0
            let packet = packets.removeFirst()
            if packet.isNoise { beginNoise(packet, at: position) } else { decode(packet, using: &decoder) }
            return
        }
        if noise != nil { return makeNoise(Int(min(next.position - position, Int64(Self.noiseStep))), using: &decoder) }
        let missing = next.position - position
        let isPause = lastNumber.map { next.number == $0 + 1 } ?? false
        let isMissed = owed > 0 || position < redundancyEnd
        if isMissed, !isPause, decoder.carriesRedundancy(packets.payload(of: next)) {
            redundancyEnd = position + Self.redundancyMemory
        }
        if owed > 0 {
            let settled = min(owed, missing)
            owed -= settled
            decoded = position + settled
            return
        }
        let gap = Int(min(missing, Int64(Self.longestPacket)))
        if !isPause, gap <= packetLength, recover(gap, from: next, using: &decoder) { return }
        decoded = position + conceal(min(gap, packetLength), using: &decoder)
    }

    private mutating func decode(_ packet: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable) {
        lastNumber = packet.number
        noise = nil
        var written = 0
        do throws(AudioCodecError) {
            written = try Self.decode(packet, of: packets, into: &queue, using: &decoder)
        } catch {
            statistics.undecodable += 1
        }
        if written > 0 {
            packetLength = written
            decoded = packet.position + Int64(written)
        } else {
            decoded = packet.position + conceal(packetLength, using: &decoder)
        }
    }

    private mutating func beginNoise(_ packet: JitterBuffer.Packet, at position: Int64) {
        lastNumber = packet.number
        guard let sound = ComfortNoise(parsing: packets.payload(of: packet)) else {
            preconditionFailure("noise is looked at before it waits")
        }
        noise = (sound, noise?.start ?? position)
    }

    private mutating func makeNoise(_ count: Int, using decoder: inout some AudioDecoder & ~Copyable) {
        guard let noise else { preconditionFailure("there is noise to be made") }
        var room = queue.room(for: count)
        decoder.makeNoise(noise.sound, into: &room)
        queue.commit(count)
        decoded = (decoded ?? 0) + Int64(count)
        statistics.noise += UInt64(count)
    }

    private static func decode(
        _ packet: JitterBuffer.Packet, of packets: borrowing JitterBuffer, into queue: inout SampleQueue,
        using decoder: inout some AudioDecoder & ~Copyable
    ) throws(AudioCodecError) -> Int {
        let payload = packets.payload(of: packet)
        var room = queue.room(for: longestPacket)
        let written = try decoder.decode(payload, into: &room)
        queue.commit(written)
        return written
    }

    /// From the copy in the packet after the lost one, if it has one.
    private mutating func recover(
        _ count: Int, from packet: JitterBuffer.Packet, using decoder: inout some AudioDecoder & ~Copyable
    ) -> Bool {
        guard !packet.isNoise, Self.recover(count, from: packet, of: packets, into: &queue, using: &decoder) else {
            return false
        }
        decoded = (decoded ?? 0) + Int64(count)
        statistics.recovered += UInt64(count)
        return true
    }

    private static func recover(
        _ count: Int, from packet: JitterBuffer.Packet, of packets: borrowing JitterBuffer,
        into queue: inout SampleQueue,
        using decoder: inout some AudioDecoder & ~Copyable
    ) -> Bool {
        let payload = packets.payload(of: packet)
        guard decoder.carriesRedundancy(payload) else { return false }
        var room = queue.room(for: count)
        do throws(AudioCodecError) {
            try decoder.recover(from: payload, into: &room)
        } catch {
            // The loss is concealed instead.
            return false
        }
        queue.commit(count)
        return true
    }

    /// Returns how much it made.
    private mutating func conceal(_ count: Int, using decoder: inout some AudioDecoder & ~Copyable) -> Int64 {
        // Codecs conceal whole blocks of 2.5 ms.
        let count = max(120, count / 120 * 120)
        Self.conceal(count, into: &queue, using: &decoder)
        statistics.concealed += UInt64(count)
        return Int64(count)
    }

    private static func conceal(
        _ count: Int, into queue: inout SampleQueue, using decoder: inout some AudioDecoder & ~Copyable
    ) {
        var room = queue.room(for: count)
        decoder.conceal(into: &room)
        queue.commit(count)
    }
}
