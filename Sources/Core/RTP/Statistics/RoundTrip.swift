package import Primitives

/// The round-trip time to a receiver, measured from its reports (RFC 3550 §6.4.1, figure 2).
///
///     sender   ──SR(ntp)──▶                    ──RR(LSR = ntp, DLSR)──▶   now
///                          ◀────── DLSR ──────▶
///
/// The time at which each report was sent is kept here and not taken from LSR, so that a receiver that invents an LSR
/// measures nothing.
package struct RoundTrip: Equatable, Sendable {
    private struct Sent: Equatable, Sendable {
        var compact: UInt32
        var moment: MonotonicTime
    }

    /// The number of sender reports that are kept; receivers do not refer to older ones.
    private static let memory = 4

    /// The last round-trip time; `nil` before the first report that allows a measurement.
    package private(set) var latest: Duration?
    /// The time at which the sender report was sent that the last receiver report refers to; `nil` before the first
    /// one.
    package private(set) var lastAnswered: MonotonicTime?
    private var sent: [Sent] = []

    /// Starts without a report.
    package init() {}

    /// Records that a sender report with this NTP timestamp is sent.
    package mutating func senderReportSent(_ ntp: NTPTimestamp, at now: MonotonicTime) {
        if sent.count == Self.memory { sent.removeFirst() }
        sent.append(Sent(compact: ntp.compact, moment: now))
    }

    /// Takes a report block about the sender's stream. A block without LSR, or with one that is not known, is ignored.
    package mutating func reportReceived(_ block: ReportBlock, at now: MonotonicTime) {
        guard block.lastSenderReport != 0, let report = sent.last(where: { $0.compact == block.lastSenderReport })
        else { return }
        lastAnswered = report.moment
        latest = max(.zero, now - report.moment - .in65536ths(block.delaySinceLastSenderReport))
    }
}
