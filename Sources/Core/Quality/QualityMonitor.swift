package import Primitives

/// Decides when the quality of one leg's audio is reported: at regular intervals, and at once when the quality band of
/// a direction has changed.
///
///     measured(…) ──▶ nextDeadline ──▶ report(at:)
package struct QualityMonitor: Equatable, Sendable {
    /// How often quality is reported.
    package struct Configuration: Equatable, Sendable {
        /// The time between two reports if no band has changed.
        package var interval = Duration.seconds(5)

        /// Makes the default: a report every five seconds.
        package init() {}
    }

    /// Why a report is due.
    package enum Occasion: Hashable, Sendable {
        /// The interval has passed.
        case interval
        /// A direction is in another band than in the last report, or there has been no report yet.
        case bandChange
    }

    /// The quality of both directions at a time.
    package struct Report: Equatable, Sendable {
        /// Why the report is made.
        package var occasion: Occasion
        /// The audio that the gateway receives from this peer; `nil` if it has not been measured.
        package var inbound: StreamQuality?
        /// The audio that this peer receives, according to its reports; `nil` without reports.
        package var outbound: StreamQuality?
    }

    private struct Bands: Equatable {
        var inbound: QualityBand?
        var outbound: QualityBand?
    }

    /// How often quality is reported.
    package let configuration: Configuration
    /// The last measurement of the audio that the gateway receives from this peer; `nil` before the first one.
    package private(set) var inbound: StreamQuality?
    /// The last measurement of the audio that this peer receives; `nil` before the first one.
    package private(set) var outbound: StreamQuality?
    private var bands = Bands()
    private var bandsTold = Bands()
    private var lastMeasured = MonotonicTime.zero
    private var lastTold: MonotonicTime?

    /// Starts without a measurement; nothing is reported before the first rating.
    package init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Takes a measurement of both directions. The rating is about the time since the measurement before, usually a
    /// second.
    package mutating func measured(inbound: StreamQuality?, outbound: StreamQuality?, at now: MonotonicTime) {
        self.inbound = inbound?.rated(since: self.inbound)
        self.outbound = outbound?.rated(since: self.outbound)
        // A direction that is silent for a while stays in its band.
        if let band = self.inbound?.rating?.band { bands.inbound = band }
        if let band = self.outbound?.rating?.band { bands.outbound = band }
        lastMeasured = now
    }

    /// The report that is due; `nil` if none is. The next interval starts with a report.
    package mutating func report(at now: MonotonicTime) -> Report? {
        guard let deadline = nextDeadline, deadline.time <= now else { return nil }
        bandsTold = bands
        lastTold = now
        return Report(occasion: deadline.reason, inbound: inbound, outbound: outbound)
    }

    /// When the next report is due, and why; `nil` while neither direction is rated.
    package var nextDeadline: Deadline<Occasion>? {
        guard inbound?.rating != nil || outbound?.rating != nil else { return nil }
        guard let lastTold, bands == bandsTold else { return Deadline(lastMeasured, .bandChange) }
        return Deadline(lastTold + configuration.interval, .interval)
    }
}
