import Primitives

/// What is known about one direction of one leg at one moment; all counts run since the stream began.
package struct StreamQuality: Equatable, Sendable {
    /// What only audio has that is decoded here.
    package struct Playout: Equatable, Sendable {
        package var depth: Duration
        /// Samples, of which some were restored by forward error correction.
        package var played: UInt64
        package var recovered: UInt64

        package init(depth: Duration, played: UInt64, recovered: UInt64) {
            self.depth = depth
            self.played = played
            self.recovered = recovered
        }
    }

    /// The encoding name (RFC 4855).
    package var encoding: String?
    /// What the encoder aims at, if that is known.
    package var bitsPerSecond: Int?
    package var packets: UInt64 = 0
    /// Negative when duplicates outnumber losses.
    package var lost: Int64 = 0
    /// How many stretches of losses in a row there were; `nil` where only their sum is known.
    package var lossRuns: UInt64?
    /// The share that a receiver reported last, 0…1: of what is sent, the gateway knows no other.
    package var reportedLoss: Double?
    package var jitter: Duration?
    package var roundTrip: Duration?
    package var packetTime = Duration.milliseconds(20)
    package var playout: Playout?
    /// What lay between mouth and ear since the measurement before, and the E-model's opinion of it; both or none.
    package private(set) var path: PathConditions?
    package private(set) var rating: EModel?

    package init() {}

    // MARK: Rating

    /// The same with a rating of the time since `earlier`, or since the beginning without it.
    ///
    /// There is no rating without a packet in that time, nor for codecs that nobody has rated.
    package func rated(since earlier: StreamQuality?) -> StreamQuality {
        var rated = self
        // Counts that went back are those of another stream.
        let start = earlier.flatMap { $0.packets <= packets ? $0 : nil } ?? StreamQuality()
        (rated.path, rated.rating) = (nil, nil)
        guard let encoding, packets > start.packets,
            let codec = EModel.Codec(
                named: encoding, bitsPerSecond: bitsPerSecond, hasUncountedRecovery: playout == nil)
        else { return rated }
        let path = path(since: start)
        rated.path = path
        rated.rating = EModel(codec, over: path)
        return rated
    }

    private func path(since start: StreamQuality) -> PathConditions {
        var path = PathConditions()
        path.roundTrip = roundTrip
        path.playoutDepth = playout?.depth
        path.packetTime = packetTime
        let lostSince = max(0, lost - start.lost)
        path.loss = reportedLoss ?? Self.share(lostSince, of: packets - start.packets)
        if let playout {
            let before = start.playout ?? Playout(depth: .zero, played: 0, recovered: 0)
            let (played, recovered) = (playout.played &- before.played, playout.recovered &- before.recovered)
            // A decoder that began anew counts from zero.
            path.recovered = playout.played <= before.played ? 0 : min(1, Double(recovered) / Double(played))
        }
        if let lossRuns, lostSince > 0 {
            let runs = max(1, lossRuns &- (start.lossRuns ?? 0))
            path.burstRatio = max(1, Double(lostSince) / Double(runs) * (1 - path.loss))
        }
        return path
    }

    private static func share(_ lost: Int64, of received: UInt64) -> Double {
        let lost = Double(max(0, lost))
        return lost == 0 ? 0 : lost / (lost + Double(received))
    }
}
