package import Primitives

/// Says when the quality of one leg's audio is worth telling: regularly, and at once when a direction has come into another band.
///
///     measured(…) ──▶ nextDeadline ──▶ report(at:)
package struct QualityMonitor: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Told this often even if nothing has changed.
        package var interval = Duration.seconds(5)

        package init() {}
    }

    package enum Occasion: Hashable, Sendable {
        case interval
        case bandChange
    }

    package struct Report: Equatable, Sendable {
        package var occasion: Occasion
        /// What the gateway gets from this end.
        package var inbound: StreamQuality?
        /// What this end says that it gets.
        package var outbound: StreamQuality?
    }

    private struct Bands: Equatable {
        var inbound: QualityBand?
        var outbound: QualityBand?
    }

    package let configuration: Configuration
    /// As measured last.
    package private(set) var inbound: StreamQuality?
    package private(set) var outbound: StreamQuality?
    private var bands = Bands()
    private var bandsTold = Bands()
    private var lastMeasured = MonotonicTime.zero
    private var lastTold: MonotonicTime?

    package init(configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Takes what is known now; the time since the measurement before is what is rated, a second or so.
    package mutating func measured(inbound: StreamQuality?, outbound: StreamQuality?, at now: MonotonicTime) {
        self.inbound = inbound?.rated(since: self.inbound)
        self.outbound = outbound?.rated(since: self.outbound)
        // A direction that is silent for a while stays in its band.
        if let band = self.inbound?.rating?.band { bands.inbound = band }
        if let band = self.outbound?.rating?.band { bands.outbound = band }
        lastMeasured = now
    }

    /// What to tell, if its time has come.
    package mutating func report(at now: MonotonicTime) -> Report? {
        guard let deadline = nextDeadline, deadline.time <= now else { return nil }
        bandsTold = bands
        lastTold = now
        return Report(occasion: deadline.reason, inbound: inbound, outbound: outbound)
    }

    /// `nil` while nothing is rated: there is nothing to tell.
    package var nextDeadline: Deadline<Occasion>? {
        guard inbound?.rating != nil || outbound?.rating != nil else { return nil }
        guard let lastTold, bands == bandsTold else { return Deadline(lastMeasured, .bandChange) }
        return Deadline(lastTold + configuration.interval, .interval)
    }
}
