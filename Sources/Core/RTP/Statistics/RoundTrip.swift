package import Primitives

/// The round trip to a receiver, out of its reports (RFC 3550 §6.4.1, figure 2).
///
///     sender   ──SR(ntp)──▶                    ──RR(LSR = ntp, DLSR)──▶   now
///                          ◀────── DLSR ──────▶
///
/// When each report was sent is kept here instead of being read from LSR: a receiver that makes one up measures nothing.
package struct RoundTrip: Equatable, Sendable {
    private struct Sent: Equatable, Sendable {
        var compact: UInt32
        var moment: MonotonicTime
    }

    /// Reports older than the last few are not referred to any more.
    private static let memory = 4

    package private(set) var latest: Duration?
    /// When the report was sent that a receiver's has named last.
    package private(set) var lastAnswered: MonotonicTime?
    private var sent: [Sent] = []

    package init() {}

    package mutating func senderReportSent(_ ntp: NTPTimestamp, at now: MonotonicTime) {
        if sent.count == Self.memory { sent.removeFirst() }
        sent.append(Sent(compact: ntp.compact, moment: now))
    }

    package mutating func reportReceived(_ block: ReportBlock, at now: MonotonicTime) {
        guard block.lastSenderReport != 0, let report = sent.last(where: { $0.compact == block.lastSenderReport })
        else { return }
        lastAnswered = report.moment
        latest = max(.zero, now - report.moment - .in65536ths(block.delaySinceLastSenderReport))
    }
}
