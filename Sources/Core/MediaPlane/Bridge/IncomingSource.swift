import Primitives
import RTP

/// One SSRC of a peer.
struct IncomingSource: Sendable {
    /// The last sender report, with its time converted to the call's clock.
    struct ReceivedReport: Equatable, Sendable {
        /// The middle 32 bits of the NTP timestamp as the source wrote it, for the LSR field of report blocks.
        var compact: UInt32
        /// The NTP timestamp; `nil` if the source has no wall clock and wrote 0 (RFC 3550 §6.4.1).
        var ntp: NTPTimestamp?
        var timestamp: RTPTimestamp
        var moment: MonotonicTime
    }

    let ssrc: SSRC
    /// The index of its m-line.
    var line: Int
    var isRetransmission: Bool
    /// Whether `a=ssrc` names it; if so, it is never forgotten to make room.
    var isAnnounced: Bool
    /// For a retransmission stream: the stream that it repairs, if `a=ssrc-group:FID` says so.
    var repairs: SSRC?
    /// The format of its last packet. It is looked up again only when the payload type changes.
    var format: PayloadFormat?
    private(set) var statistics = ReceptionStatistics()
    private(set) var lastHeard = MonotonicTime.zero
    var report: ReceivedReport?
    /// Whether another source has taken its place in the outgoing stream.
    var isSuperseded = false

    init(ssrc: SSRC, line: Int, isRetransmission: Bool, isAnnounced: Bool) {
        self.ssrc = ssrc
        self.line = line
        self.isRetransmission = isRetransmission
        self.isAnnounced = isAnnounced
    }

    mutating func packetReceived(
        _ header: RTPHeader, clockRate: UInt32, octets: Int, at now: MonotonicTime
    ) -> ReceptionStatistics.Position {
        lastHeard = now
        return statistics.packetReceived(
            header.sequenceNumber, timestamp: header.timestamp, clockRate: clockRate, octets: octets, at: now)
    }

    var clockMapping: ClockMapping? {
        guard let report, let ntp = report.ntp else { return nil }
        return ClockMapping(ntp: ntp, timestamp: report.timestamp, moment: report.moment)
    }

    /// The block about this source for the next report to its peer.
    mutating func reportBlock(at now: MonotonicTime) -> ReportBlock {
        let delay = report.map { (now - $0.moment).in65536ths } ?? 0
        return statistics.report(about: ssrc, lastSenderReport: report?.compact ?? 0, delay: delay)
    }
}

/// The sources of one leg, found by SSRC.
///
/// A call has only a few, so a scan over packed keys is faster than hashing. The number of learnt sources is limited;
/// the one that was silent longest makes room for a new one.
struct SourceTable: Sendable {
    private var keys: [UInt32] = []
    var entries: [IncomingSource] = []

    func index(of ssrc: SSRC) -> Int? {
        for index in keys.indices where keys[index] == ssrc.rawValue { return index }
        return nil
    }

    /// Adds a source that is not in the table yet; returns its index.
    mutating func insert(_ source: IncomingSource, maximumLearned: Int) -> Int {
        let learned = entries.indices.filter { !entries[$0].isAnnounced }
        if !source.isAnnounced, learned.count >= maximumLearned,
            let oldest = learned.min(by: { entries[$0].lastHeard < entries[$1].lastHeard })
        {
            entries[oldest] = source
            keys[oldest] = source.ssrc.rawValue
            return oldest
        }
        entries.append(source)
        keys.append(source.ssrc.rawValue)
        return entries.count - 1
    }

    /// Forgets the learnt sources that were silent longest, down to `maximumLearned`.
    mutating func forgetSurplus(maximumLearned: Int) {
        let learned = entries.filter { !$0.isAnnounced }.sorted { $0.lastHeard > $1.lastHeard }
        replaceAll(entries.filter(\.isAnnounced) + learned.prefix(maximumLearned))
    }

    mutating func replaceAll(_ sources: [IncomingSource]) {
        entries = sources
        keys = sources.map(\.ssrc.rawValue)
    }
}
