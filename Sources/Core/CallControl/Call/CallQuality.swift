/// The quality of the audio that a leg sends and hears, by the E-model (ITU-T G.107, G.107.1 for wideband).
package struct CallQuality: Hashable, Sendable {
    /// A rating in one word. The raw value is the word in the log of events.
    package enum Band: String, Hashable, Sendable, Codable, CaseIterable {
        /// From best to worst (docs/protocols/quality.md).
        case excellent, good, fair, poor, bad
    }

    /// The quality of one direction.
    package struct Direction: Hashable, Sendable {
        /// The conversational mean opinion score, 1…4.5.
        package var mos: Double
        /// The transmission rating, 0…100 (ITU-T G.107), 0…129 for wideband (G.107.1).
        package var rating: Double
        /// The rating in one word.
        package var band: Band
        /// The share of packets that did not arrive, 0…1.
        package var loss: Double
        /// The share of the played audio that forward error correction restored, 0…1; `nil` where the gateway does not
        /// play the audio.
        package var recovered: Double?
        /// The mean length of loss bursts relative to that of random losses, 1 or more (ITU-T G.107 §7.5).
        package var burstRatio: Double
        /// The interarrival jitter.
        package var jitter: Duration

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(
            mos: Double, rating: Double, band: Band, loss: Double, recovered: Double? = nil, burstRatio: Double = 1,
            jitter: Duration
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
    /// The round-trip time between the gateway and this leg; `nil`: not known.
    package var roundTrip: Duration?

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(sent: Direction? = nil, heard: Direction? = nil, roundTrip: Duration? = nil) {
        self.sent = sent
        self.heard = heard
        self.roundTrip = roundTrip
    }
}
