import Primitives
import RTP

/// A stream that the gateway sends, with its own SSRC, sequence numbers and timestamps, whichever sources feed it.
struct OutgoingStream: Sendable {
    let ssrc: SSRC
    /// The source that feeds it now; `nil` if none does.
    private(set) var source: SSRC?
    private(set) var packets: UInt64 = 0
    /// Payload octets, without headers and padding.
    private(set) var octets: UInt64 = 0
    private(set) var lastSent = MonotonicTime.zero
    /// The payload type of the packet sent last; `nil` before the first.
    private(set) var payloadType: PayloadType?
    /// The receiver's last report about this stream.
    private(set) var lastReport: ReportBlock?
    private(set) var roundTrip = RoundTrip()
    /// Sequence numbers that were skipped because their packets never reached the gateway, less those that were sent
    /// twice. The receiver reports the former as lost although they were not lost on its path, and does not report the
    /// latter.
    private var passedOver = 0
    private var passedOverAtReport = 0
    /// The sequence number of the peer's last FIR, by which a repetition is recognised (RFC 5104 §4.3.1.2).
    var lastCommandNumber: UInt8?

    private var sequence: SequenceMapping
    private var lastTimestamp: RTPTimestamp
    /// The timestamp of the next packet, while the gateway generates them; otherwise `nil`.
    private var nextTimestamp: RTPTimestamp?
    /// The number added to the source's timestamps, modulo 2³².
    private(set) var timestampOffset: UInt32 = 0
    private(set) var clockRate: UInt32 = 0
    /// The reports since the last packet. After two, the stream is not an active sender any more (RFC 3550 §6.4).
    private var silentReports = 2

    /// Makes a stream. The first sequence number and timestamp are random (RFC 3550 §5.1).
    init(ssrc: SSRC, random: inout some RandomSource) {
        self.ssrc = ssrc
        sequence = SequenceMapping(random: &random)
        lastTimestamp = RTPTimestamp(random.nextUInt32())
    }

    // MARK: Packets

    /// Lets the packet's source feed the stream from this packet on. The sequence number continues by one, the
    /// timestamp by the time that has passed.
    mutating func start(_ header: RTPHeader, clockRate rate: UInt32, at now: MonotonicTime) {
        source = header.ssrc
        nextTimestamp = nil
        sequence.start(at: header.sequenceNumber)
        let next =
            packets == 0 ? lastTimestamp : lastTimestamp + max(1, Self.ticks(of: now - lastSent, clockRate: rate))
        timestampOffset = next.rawValue &- header.timestamp.rawValue
        clockRate = rate
    }

    /// Makes the header of a generated packet, which follows all packets before. It detaches the source that has fed
    /// the stream.
    ///
    /// - Parameter ticks: The difference to the timestamp of the next packet.
    mutating func originate(
        _ payloadType: PayloadType, clockRate rate: UInt32, ticks: Int, octets count: Int, isSpurt: Bool,
        at now: MonotonicTime
    ) -> RTPHeader {
        let isFirst = nextTimestamp == nil
        let pause = max(1, Self.ticks(of: now - lastSent, clockRate: rate))
        let timestamp = nextTimestamp ?? (packets == 0 ? lastTimestamp : lastTimestamp + pause)
        source = nil
        clockRate = rate
        self.payloadType = payloadType
        lastTimestamp = timestamp
        nextTimestamp = timestamp + ticks
        lastSent = now
        notePacket(octets: count)
        return RTPHeader(
            marker: isSpurt || isFirst, payloadType: payloadType, sequenceNumber: sequence.next(), timestamp: timestamp,
            ssrc: ssrc)
    }

    /// Takes note that a packet of another stream is retransmitted in this one; returns its sequence number
    /// (RFC 4588 §4). The source's own retransmissions start anew behind it.
    mutating func repeatPacket(
        _ payloadType: PayloadType, timestamp: RTPTimestamp, clockRate rate: UInt32, octets count: Int,
        at now: MonotonicTime
    ) -> SequenceNumber {
        detach()
        clockRate = rate
        self.payloadType = payloadType
        lastTimestamp = timestamp
        lastSent = now
        notePacket(octets: count)
        return sequence.next()
    }

    /// Counts a packet that has been sent, or sent again; sender reports count both (RFC 3550 §6.4.1).
    mutating func notePacket(octets count: Int) {
        packets &+= 1
        octets &+= UInt64(count)
        silentReports = 0
    }

    /// Counts a packet that has been sent again under its own sequence number.
    mutating func noteRepetition(octets count: Int) {
        notePacket(octets: count)
        passedOver -= 1
    }

    /// Advances the timestamps of generated packets without a packet, because there was nothing to send.
    mutating func skip(ticks: Int) { nextTimestamp = nextTimestamp.map { $0 + ticks } }

    /// Detaches the source: nothing feeds the stream until the next `start`.
    mutating func detach() {
        source = nil
        nextTimestamp = nil
    }

    /// Converts a packet of the present source into one of this stream; `false` if it is too old.
    mutating func translate(
        _ header: inout RTPHeader, octets count: Int, timestampOffset: UInt32, at now: MonotonicTime
    ) -> Bool {
        let before = sequence.highest
        guard let number = sequence.translate(header.sequenceNumber) else { return false }
        passedOver += max(sequence.highest - before, 0) - 1
        header.sequenceNumber = number
        header.timestamp = RTPTimestamp(header.timestamp.rawValue &+ timestampOffset)
        header.ssrc = ssrc
        if sequence.highest != before || packets == 0 {
            lastTimestamp = header.timestamp
            lastSent = now
        }
        payloadType = header.payloadType
        notePacket(octets: count)
        return true
    }

    /// The outgoing sequence number of a packet that is retransmitted in another stream (RFC 4588 §4). The packet may
    /// have been lost before the gateway; its number is then the highest so far, within the bounds of a gap.
    mutating func translateOriginal(_ number: SequenceNumber) -> SequenceNumber? {
        guard numberOfOriginal(number) != nil else { return nil }
        let before = sequence.highest
        defer { passedOver += sequence.highest - before }
        return sequence.translate(number)
    }

    /// How far the present source's packet would be ahead of the highest number used; 0 or less if the stream has come
    /// as far, or further.
    func lead(of number: SequenceNumber) -> Int { sequence.lead(of: number) }

    /// The same without counting the number as used.
    func numberOfOriginal(_ number: SequenceNumber) -> SequenceNumber? {
        guard sequence.lead(of: number) < Int(ReceptionStatistics.maximumDropout) else { return nil }
        return sequence.outgoing(of: number)
    }

    /// The source's sequence number of a packet that the receiver names; `nil` if the packet is not of the present
    /// source.
    func sourceNumber(of number: SequenceNumber) -> SequenceNumber? { sequence.source(of: number) }

    // MARK: Reports

    var isActiveSender: Bool { silentReports < 2 }

    /// Makes a sender report of this stream; `nil` if the stream is not an active sender (RFC 3550 §6.4).
    ///
    /// If there is a report of the source, both clocks are extrapolated from it. Until then, the last packet stands for
    /// the source's clock.
    mutating func senderReport(
        from mapping: ClockMapping?, timestampOffset: UInt32, fallback: NTPTimestamp, at now: MonotonicTime
    ) -> SenderReport? {
        guard isActiveSender else { return nil }
        silentReports += 1
        let ntp: NTPTimestamp
        let timestamp: RTPTimestamp
        if let mapping {
            let elapsed = now - mapping.moment
            ntp = mapping.ntp + elapsed
            timestamp =
                RTPTimestamp(mapping.timestamp.rawValue &+ timestampOffset)
                + Self.ticks(of: elapsed, clockRate: clockRate)
        } else {
            ntp = fallback
            timestamp = lastTimestamp + Self.ticks(of: now - lastSent, clockRate: clockRate)
        }
        roundTrip.senderReportSent(ntp, at: now)
        return SenderReport(
            ssrc: ssrc, ntp: ntp, timestamp: timestamp, packetCount: UInt32(truncatingIfNeeded: packets),
            octetCount: UInt32(truncatingIfNeeded: octets))
    }

    /// Takes a report block; returns the packets lost and arrived since the block before, on the path from the gateway
    /// only.
    mutating func reportReceived(_ block: ReportBlock, at now: MonotonicTime) -> (lost: Int, arrived: Int) {
        let known = lastReport
        let passed = passedOver - passedOverAtReport
        lastReport = block
        passedOverAtReport = passedOver
        roundTrip.reportReceived(block, at: now)
        guard let known else { return (0, 0) }
        let sent =
            Int(Int32(truncatingIfNeeded: block.extendedHighestSequence &- known.extendedHighestSequence)) - passed
        let lost = Int(block.cumulativeLost) - Int(known.cumulativeLost) - passed
        guard sent > 0 else { return (0, 0) }
        return (min(max(lost, 0), sent), sent - min(max(lost, 0), sent))
    }

    private static func ticks(of duration: Duration, clockRate: UInt32) -> Int {
        let (seconds, rest) = duration.wholeNanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        // Only the low 32 bits are in the timestamp.
        return Int(truncatingIfNeeded: seconds &* Int64(clockRate) &+ rest * Int64(clockRate) / 1_000_000_000)
    }
}

/// One moment on three clocks: the call's wall clock, a source's RTP clock and the monotonic clock.
struct ClockMapping: Equatable, Sendable {
    var ntp: NTPTimestamp
    var timestamp: RTPTimestamp
    var moment: MonotonicTime
}
