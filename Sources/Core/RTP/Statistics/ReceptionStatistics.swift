package import Primitives

/// What arrived from one source: sequence numbers, loss and jitter (RFC 3550 §A.1, §A.3, §A.8).
///
/// Deviation: no probation (MIN_SEQUENTIAL). Packets arrive authenticated by SRTP, so a single one proves its source,
/// and waiting for a second would cut off the beginning of every stream.
package struct ReceptionStatistics: Equatable, Sendable {
    /// What a packet's sequence number means for the stream.
    package enum Position: Equatable, Sendable {
        /// The newest so far, with or without a gap before it.
        case newest
        /// Reordered, retransmitted or a duplicate.
        case late
        /// So far off that it counts only if the next one follows on it.
        case astray
        /// The second in a row after a jump: counting has begun anew from here.
        case restarted
    }

    /// A larger step ahead is a jump (MAX_DROPOUT).
    package static let maximumDropout: UInt16 = 3000
    /// A larger step back is a jump (MAX_MISORDER). The RFC's 100 would refuse retransmissions of fast video.
    package static let maximumMisorder: UInt16 = 1000

    package private(set) var packets: UInt64 = 0
    /// Payload octets, without headers and padding.
    package private(set) var octets: UInt64 = 0
    /// Stretches of numbers that were passed over, each a loss of one packet or more in a row; what came late made one, too.
    package private(set) var lossRuns: UInt64 = 0

    private var highest = SequenceNumber(0)
    /// Multiples of 65,536.
    private var cycles: Int64 = 0
    private var first: Int64 = 0
    /// Packets since `first`, as opposed to since ever.
    private var received: Int64 = 0
    /// Where the stream would go on if it has jumped; out of range if it has not.
    private var afterJump: UInt32 = .max

    private var expectedBefore: Int64 = 0
    private var receivedBefore: Int64 = 0
    /// Packets lost in stretches that a jump has ended.
    private var lostBeforeRestart: Int64 = 0

    private var clockRate: UInt32 = 0
    private var transit: UInt32 = 0
    /// Sixteen times the jitter, which keeps the fraction (RFC 3550 §A.8).
    private var scaledJitter: UInt32 = 0

    package init() {}

    // MARK: Inputs

    package mutating func packetReceived(
        _ number: SequenceNumber, timestamp: RTPTimestamp, clockRate: UInt32, octets count: Int, at now: MonotonicTime
    ) -> Position {
        let position = place(number)
        guard position != .astray else { return position }
        packets &+= 1
        received &+= 1
        octets &+= UInt64(count)
        updateJitter(timestamp, clockRate: clockRate, at: now)
        return position
    }

    /// The next report about this source; begins a new interval for the fraction lost (RFC 3550 §A.3).
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

    /// Whether a packet came since the last report.
    package var hasNews: Bool { received != receivedBefore }

    package var extendedHighestSequence: UInt32 { UInt32(truncatingIfNeeded: extendedHighest) }

    /// Packets expected but not received; negative when duplicates outnumber losses.
    package var lost: Int64 { lostBeforeRestart + expected - received }

    /// Interarrival jitter in timestamp units.
    package var jitter: UInt32 { scaledJitter >> 4 }

    package var jitterDuration: Duration {
        clockRate == 0 ? .zero : .nanoseconds(Int64(jitter) * 1_000_000_000 / Int64(clockRate))
    }

    // MARK: Sequence numbers (RFC 3550 §A.1)

    private var extendedHighest: Int64 { cycles + Int64(highest.rawValue) }

    private var expected: Int64 { packets == 0 ? 0 : extendedHighest - first + 1 }

    private mutating func place(_ number: SequenceNumber) -> Position {
        guard packets > 0 else {
            begin(at: number)
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
            begin(at: number)
            return .restarted
        }
        afterJump = UInt32((number + 1).rawValue)
        return .astray
    }

    private mutating func begin(at number: SequenceNumber) {
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
        // Another clock rate is another timeline: its first packet has nothing to be compared with.
        guard rate == clockRate else {
            (clockRate, transit) = (rate, transitNow)
            return
        }
        let difference = Int32(bitPattern: transitNow &- transit).magnitude
        transit = transitNow
        scaledJitter = scaledJitter &+ difference &- ((scaledJitter &+ 8) >> 4)
    }
}
