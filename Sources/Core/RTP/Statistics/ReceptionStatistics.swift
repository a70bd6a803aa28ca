package import Primitives

/// Reception statistics of one source: sequence numbers, loss and jitter (RFC 3550 §A.1, §A.3, §A.8).
///
/// Deviation: no probation (MIN_SEQUENTIAL). Packets have been authenticated by SRTP, so a single packet proves its
/// source. Waiting for a second one would cut off the start of every stream.
package struct ReceptionStatistics: Equatable, Sendable {
    /// The meaning of a packet's sequence number for the stream.
    package enum Position: Equatable, Sendable {
        /// The newest packet so far, with or without a gap before it.
        case newest
        /// A reordered, retransmitted or duplicate packet.
        case late
        /// The packet is so far off that it counts only if the next one follows it.
        case sequenceJump
        /// The second consecutive packet after a jump: counting starts again at this packet.
        case restarted
    }

    /// A step ahead of at least this size is a jump (MAX_DROPOUT).
    package static let maximumDropout: UInt16 = 3000
    /// A step back of at least this size is a jump (MAX_MISORDER). The 100 of the RFC would exclude retransmissions of
    /// fast video.
    package static let maximumMisorder: UInt16 = 1000

    /// Packets received, late and duplicate ones included, but not those with a `sequenceJump`.
    package private(set) var packets: UInt64 = 0
    /// Payload bytes received, without headers and padding.
    package private(set) var octets: UInt64 = 0
    /// Gaps in the sequence numbers, each a loss of one or more consecutive packets; late packets have made gaps, too.
    package private(set) var lossRuns: UInt64 = 0

    private var highest = SequenceNumber(0)
    /// Wrap-arounds of the sequence number, as multiples of 65,536.
    private var cycles: Int64 = 0
    private var first: Int64 = 0
    /// Packets since `first`, unlike `packets`.
    private var received: Int64 = 0
    /// The number with which the stream continues if it has jumped; out of range if it has not.
    private var afterJump: UInt32 = .max

    private var expectedBefore: Int64 = 0
    private var receivedBefore: Int64 = 0
    /// Packets lost before the last jump.
    private var lostBeforeRestart: Int64 = 0

    private var clockRate: UInt32 = 0
    private var transit: UInt32 = 0
    /// Sixteen times the jitter, to keep its fraction (RFC 3550 §A.8).
    private var scaledJitter: UInt32 = 0

    /// Starts without a packet.
    package init() {}

    // MARK: Inputs

    /// Takes an authenticated packet.
    ///
    /// - Parameters:
    ///   - number: Its sequence number.
    ///   - timestamp: Its RTP timestamp.
    ///   - clockRate: Ticks per second of the timestamp.
    ///   - count: Its payload bytes.
    ///   - now: Its time of arrival.
    /// - Returns: What its number means. A `sequenceJump` does not count.
    package mutating func packetReceived(
        _ number: SequenceNumber, timestamp: RTPTimestamp, clockRate: UInt32, octets count: Int, at now: MonotonicTime
    ) -> Position {
        let position = place(number)
        guard position != .sequenceJump else { return position }
        packets &+= 1
        received &+= 1
        octets &+= UInt64(count)
        updateJitter(timestamp, clockRate: clockRate, at: now)
        return position
    }

    /// Makes the next report about this source, and starts a new interval for the fraction lost (RFC 3550 §A.3).
    /// `lastSenderReport` and `delay` are LSR and DLSR.
    package mutating func report(about ssrc: SSRC, lastSenderReport: UInt32, delay: UInt32) -> ReportBlock {
        let expectedNow = expected
        let (expectedSince, receivedSince) = (expectedNow - expectedBefore, received - receivedBefore)
        (expectedBefore, receivedBefore) = (expectedNow, received)
        let lostSince = expectedSince - receivedSince
        let fraction =
            expectedSince <= 0 || lostSince <= 0
            ? 0 : UInt8(truncatingIfNeeded: min(255, (lostSince << 8) / expectedSince))
        return ReportBlock(
            ssrc: ssrc, fractionLost: fraction, cumulativeLost: Int32(max(-0x80_0000, min(0x7F_FFFF, lost))),
            extendedHighestSequence: extendedHighestSequence, jitter: jitter, lastSenderReport: lastSenderReport,
            delaySinceLastSenderReport: delay)
    }

    // MARK: Queries

    /// Whether a packet has arrived since the last report.
    package var hasNews: Bool { received != receivedBefore }

    /// The highest sequence number received, with the number of its cycles in the upper 16 bits.
    package var extendedHighestSequence: UInt32 { UInt32(truncatingIfNeeded: extendedHighest) }

    /// Packets expected minus packets received; negative if duplicates outnumber losses.
    package var lost: Int64 { lostBeforeRestart + expected - received }

    /// The interarrival jitter, in ticks of the RTP clock.
    package var jitter: UInt32 { scaledJitter >> 4 }

    /// The interarrival jitter as a duration; zero before the first packet.
    package var jitterDuration: Duration {
        clockRate == 0 ? .zero : .nanoseconds(Int64(jitter) * 1_000_000_000 / Int64(clockRate))
    }

    // MARK: Sequence numbers (RFC 3550 §A.1)

    private var extendedHighest: Int64 { cycles + Int64(highest.rawValue) }

    private var expected: Int64 { packets == 0 ? 0 : extendedHighest - first + 1 }

    private mutating func place(_ number: SequenceNumber) -> Position {
        guard packets > 0 else {
            start(at: number)
            return .newest
        }
        let ahead = number.rawValue &- highest.rawValue
        if ahead == 0 { return .late }
        if ahead < Self.maximumDropout {
            if number.rawValue < highest.rawValue { cycles += 1 << 16 }
            if ahead > 1 { lossRuns &+= 1 }
            highest = number
            afterJump = .max
            return .newest
        }
        if ahead > 0 &- Self.maximumMisorder { return .late }
        if UInt32(number.rawValue) == afterJump {
            lostBeforeRestart = lost
            start(at: number)
            return .restarted
        }
        afterJump = UInt32((number + 1).rawValue)
        return .sequenceJump
    }

    private mutating func start(at number: SequenceNumber) {
        highest = number
        cycles = 0
        first = Int64(number.rawValue)
        received = 0
        afterJump = .max
        (expectedBefore, receivedBefore) = (0, 0)
        clockRate = 0
    }

    // MARK: Jitter (RFC 3550 §A.8)

    private mutating func updateJitter(_ timestamp: RTPTimestamp, clockRate rate: UInt32, at now: MonotonicTime) {
        let (seconds, rest) = now.nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        let arrival = UInt32(truncatingIfNeeded: seconds &* UInt64(rate) &+ rest &* UInt64(rate) / 1_000_000_000)
        let transitNow = arrival &- timestamp.rawValue
        // Another clock rate starts another timeline, whose first packet cannot be compared with an earlier one.
        guard rate == clockRate else {
            (clockRate, transit) = (rate, transitNow)
            return
        }
        let difference = Int32(bitPattern: transitNow &- transit).magnitude
        transit = transitNow
        scaledJitter = scaledJitter &+ difference &- ((scaledJitter &+ 8) >> 4)
    }
}
