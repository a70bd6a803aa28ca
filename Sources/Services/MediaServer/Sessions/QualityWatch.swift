internal import CallControl
internal import MediaPlane
internal import Primitives
internal import Quality
internal import SDP

/// Rates one leg's audio once a second, and says when that is worth telling.
struct QualityWatch {
    static let interval = Duration.seconds(1)
    /// Told this often even if nothing has changed.
    private static let reportInterval = 5
    /// Packets and buffers on the way from mouth to ear, besides the network; milliseconds.
    private static let ownDelay = 40.0

    private var packets: UInt64 = 0
    private var lost: Int64 = 0
    private var bands: [QualityBand?] = []
    private var secondsSinceReport = 0
    private(set) var latest = CallQuality()

    /// - Returns: what to tell, if anything.
    mutating func measure(_ line: LineStatistics) -> CallQuality? {
        let (newPackets, newLost) = (line.packetsReceived &- packets, line.packetsLost - lost)
        (packets, lost) = (line.packetsReceived, line.packetsLost)
        let roundTrip = line.roundTrip.map { $0.inSeconds * 1_000 }
        latest = CallQuality(roundTrip: roundTrip)
        let delay = (roundTrip ?? 0) / 2 + Self.ownDelay
        if newPackets > 0, let codec = line.inboundCodec {
            let expected = Double(newPackets) + Double(max(0, newLost))
            latest.sent = Self.rate(codec, delay, loss: Double(max(0, newLost)) / expected, jitter: line.jitter)
        }
        if let remote = line.remote, let codec = line.outboundCodec {
            latest.heard = Self.rate(codec, delay, loss: remote.fractionLost, jitter: remote.jitter)
        }
        let bands = [latest.sent, latest.heard].map { $0.flatMap { QualityBand(rawValue: $0.band) } }
        secondsSinceReport += 1
        guard latest.sent != nil || latest.heard != nil else { return nil }
        guard bands != self.bands || secondsSinceReport >= Self.reportInterval else { return nil }
        self.bands = bands
        secondsSinceReport = 0
        return latest
    }

    private static func rate(_ codec: Codec, _ delay: Double, loss: Double, jitter: Duration) -> CallQuality.Direction? {
        guard let known = EModel.Codec(named: codec.name) else { return nil }
        let model = EModel(known, delay: delay, loss: loss)
        return CallQuality.Direction(
            mos: model.mos, rating: model.rating, band: model.band.rawValue, loss: loss, jitter: jitter.inSeconds * 1_000)
    }
}
