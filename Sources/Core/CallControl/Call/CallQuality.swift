/// The quality of the audio that a leg sends and hears, by the E-model (ITU-T G.107, G.107.1 for wideband).
package struct CallQuality: Hashable, Sendable, Codable {
    /// The quality of one direction.
    package struct Direction: Hashable, Sendable, Codable {
        /// The conversational mean opinion score, 1…4.5.
        package var mos: Double
        /// The transmission rating, 0…100 (ITU-T G.107), 0…129 for wideband (G.107.1).
        package var rating: Double
        /// The rating in one word: `excellent`, `good`, `fair`, `poor` or `bad`.
        package var band: String
        /// The share of packets that did not arrive, 0…1.
        package var loss: Double
        /// The share of the played audio that forward error correction restored, 0…1; `nil` where the gateway does not
        /// play the audio.
        package var recovered: Double?
        /// The mean length of loss bursts relative to that of random losses, 1 or more (ITU-T G.107 §7.5).
        package var burstRatio: Double
        /// Interarrival jitter, milliseconds.
        package var jitter: Double

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(
            mos: Double, rating: Double, band: String, loss: Double, recovered: Double? = nil, burstRatio: Double = 1,
            jitter: Double
        ) {
            self.mos = mos
            self.rating = rating
            self.band = band
            self.loss = loss
            self.recovered = recovered
            self.burstRatio = burstRatio
            self.jitter = jitter
        }
    }

    /// The quality of what the gateway receives from this leg; `nil`: not known.
    package var sent: Direction?
    /// The quality of what this leg receives, from its own reports; `nil`: not known.
    package var heard: Direction?
    /// The round-trip time between the gateway and this leg, milliseconds; `nil`: not known.
    package var roundTrip: Double?

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(sent: Direction? = nil, heard: Direction? = nil, roundTrip: Double? = nil) {
        self.sent = sent
        self.heard = heard
        self.roundTrip = roundTrip
    }
}
