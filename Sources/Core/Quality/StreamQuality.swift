import Primitives

/// What is known about the audio of one direction of one leg at a time. All counts are since the start of the stream.
package struct StreamQuality: Equatable, Sendable {
    /// The playout of audio that the gateway decodes.
    package struct Playout: Equatable, Sendable {
        /// The delay of the jitter buffer.
        package var depth: Duration
        /// Samples played.
        package var played: UInt64
        /// Samples among them that were restored by forward error correction.
        package var recovered: UInt64

        /// Makes a playout of its parts.
        package init(depth: Duration, played: UInt64, recovered: UInt64) {
            self.depth = depth
            self.played = played
            self.recovered = recovered
        }
    }

    /// The encoding name (RFC 4855); `nil` if no codec is known, and then there is no rating.
    package var encoding: String?
    /// The target bit rate of the encoder; `nil` if it is not known.
    package var bitsPerSecond: Int?
    /// Packets received, or sent in the outbound direction.
    package var packets: UInt64 = 0
    /// Packets lost; negative if duplicates outnumber losses.
    package var lost: Int64 = 0
    /// The number of runs of consecutive losses; `nil` where only the sum of losses is known.
    package var lossRuns: UInt64?
    /// The fraction of packets lost, 0…1, in the last report of the receiver. For audio that is sent, it is the only
    /// measure of loss; `nil` otherwise.
    package var reportedLoss: Double?
    /// The interarrival jitter; `nil` if it is not known.
    package var jitter: Duration?
    /// The round-trip time to the peer; `nil` if it is not known.
    package var roundTrip: Duration?
    /// The length of a packet.
    package var packetTime = Duration.milliseconds(20)
    /// The playout; `nil` if the gateway does not decode the audio.
    package var playout: Playout?
    /// The conditions of the path since the measurement before; `nil` without a rating.
    package private(set) var path: PathConditions?
    /// The rating of the time since the measurement before by the E-model; `nil` if there is none.
    package private(set) var rating: EModel?

    /// Makes an empty measurement without a codec.
    package init() {}

    // MARK: Rating

    /// The same measurement with a rating of the time since `earlier`, or since the start of the stream if `earlier` is
    /// `nil`.
    ///
    /// There is no rating if no packet was counted in that time, or if no values are known for the codec.
    package func rated(since earlier: StreamQuality?) -> StreamQuality {
        var rated = self
        // Counts that have decreased are those of another stream.
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
            // A decoder that was replaced counts from zero.
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
