package import CallControl
package import MediaPlane
package import Primitives
package import Quality
internal import SDP

/// Rates the audio of one leg once a second, and decides when a rating is reported.
package struct QualityWatch {
    /// The time between two measurements.
    package static let interval = Duration.seconds(1)

    private var monitor = QualityMonitor()

    /// Starts without a measurement.
    package init() {}

    /// Rates the time since the last measurement.
    ///
    /// - Parameters:
    ///   - line: The statistics of the leg's m-line of audio.
    ///   - playout: The playout of the leg's audio; `nil` if the gateway does not decode it.
    ///   - now: The time of the measurement.
    /// - Returns: The rating to be reported; `nil` if it has not changed enough to be reported.
    package mutating func measure(_ line: LineStatistics, _ playout: StreamQuality.Playout?, at now: MonotonicTime)
        -> CallQuality?
    {
        monitor.measured(
            inbound: StreamQuality(receivedOn: line, playout), outbound: StreamQuality(sentOn: line), at: now)
        return monitor.report(at: now) == nil ? nil : latest
    }

    /// The ratings of the last measurement; a direction that could not be rated is missing.
    package var latest: CallQuality {
        CallQuality(
            sent: monitor.inbound.flatMap(CallQuality.Direction.init),
            heard: monitor.outbound.flatMap(CallQuality.Direction.init),
            roundTrip: monitor.inbound?.roundTrip)
    }
}

extension StreamQuality {
    fileprivate init(receivedOn line: LineStatistics, _ decoded: Playout?) {
        self.init()
        encoding = line.inboundCodec?.name
        packets = line.packetsReceived
        lost = line.packetsLost
        lossRuns = line.lossRuns
        jitter = line.jitter
        roundTrip = line.roundTrip
        playout = decoded
    }

    /// What only the receiver knows, from its RTCP reports; `nil` before the first one.
    fileprivate init?(sentOn line: LineStatistics) {
        guard let remote = line.remote else { return nil }
        self.init()
        encoding = line.outboundCodec?.name
        packets = line.packetsSent
        reportedLoss = remote.fractionLost
        jitter = remote.jitter
        roundTrip = line.roundTrip
    }
}

extension CallQuality.Direction {
    fileprivate init?(_ stream: StreamQuality) {
        guard let rating = stream.rating, let path = stream.path else { return nil }
        self.init(
            mos: rating.mos, rating: rating.rating, band: CallQuality.Band(rating.band), loss: path.loss,
            recovered: stream.playout == nil ? nil : path.recovered, burstRatio: path.burstRatio,
            jitter: stream.jitter ?? .zero)
    }
}

extension CallQuality.Band {
    fileprivate init(_ band: QualityBand) {
        self =
            switch band {
            case .excellent: .excellent
            case .good: .good
            case .fair: .fair
            case .poor: .poor
            case .bad: .bad
            }
    }
}
