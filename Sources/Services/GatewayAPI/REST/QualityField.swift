package import CallControl
import Primitives

/// `quality` in a `callQuality` notification: the audio of one end by the E-model (docs/client.md,
/// docs/protocols/quality.md).
package struct QualityField: Codable, Equatable, Sendable {
    /// The audio that the gateway receives from this end. `nil`: not measured.
    package var sent: Direction?
    /// The audio that this end receives, by its own reports. `nil`: not reported.
    package var heard: Direction?
    /// The round-trip time between the gateway and this end, in milliseconds. `nil`: not measured.
    package var roundTrip: Double?

    /// The quality of one direction; also part of statistics.
    package struct Direction: Codable, Equatable, Sendable {
        /// The mean opinion score of a conversation, 1 to 4.5.
        package var mos: Double
        /// The transmission rating R, 0 to 100 (ITU-T G.107), 0 to 129 for wideband (G.107.1).
        package var rating: Double
        /// ``rating`` in a word: `excellent`, `good`, `fair`, `poor` or `bad`.
        package var band: String
        /// The share of packets that did not arrive, 0 to 1.
        package var loss: Double
        /// The share of the played audio that in-band forward error correction restored, 0 to 1. `nil` where the
        /// gateway does not play it out.
        package var recovered: Double?
        /// BurstR of ITU-T G.107: 1 for random losses, more for bursts.
        package var burstRatio: Double
        /// The interarrival jitter, in milliseconds.
        package var jitter: Double

        /// Makes the field of a measured direction.
        package init(_ direction: CallQuality.Direction) {
            mos = direction.mos
            rating = direction.rating
            band = direction.band.word
            loss = direction.loss
            recovered = direction.recovered
            burstRatio = direction.burstRatio
            jitter = direction.jitter.inMilliseconds
        }
    }

    /// Makes the field of a measurement.
    package init(_ quality: CallQuality) {
        sent = quality.sent.map(Direction.init)
        heard = quality.heard.map(Direction.init)
        roundTrip = quality.roundTrip.map(\.inMilliseconds)
    }
}

extension CallQuality.Band {
    /// What `band` calls the rating.
    fileprivate var word: String {
        switch self {
        case .excellent: "excellent"
        case .good: "good"
        case .fair: "fair"
        case .poor: "poor"
        case .bad: "bad"
        }
    }
}
