/// How good the audio is that an end hears and that it sends, by the E-model (ITU-T G.107, G.107.1 for wideband).
package struct CallQuality: Hashable, Sendable {
    /// One direction.
    package struct Direction: Hashable, Sendable {
        /// 1…4.5, conversational.
        package var mos: Double
        /// The transmission rating, 0…100 (ITU-T G.107), 0…129 for wideband (G.107.1).
        package var rating: Double
        /// `excellent`, `good`, `fair`, `poor` or `bad`.
        package var band: String
        /// Share of packets that did not come, 0…1.
        package var loss: Double
        /// Share of what was played that forward error correction restored, 0…1; `nil` where somebody else plays it.
        package var recovered: Double?
        /// How many packets are lost in a row, next to random losses: 1 and more (G.107 §7.5).
        package var burstRatio: Double
        /// Milliseconds.
        package var jitter: Double

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

    /// What the gateway gets from this end.
    package var sent: Direction?
    /// What this end says that it gets.
    package var heard: Direction?
    /// Between the gateway and this end, milliseconds.
    package var roundTrip: Double?

    package init(sent: Direction? = nil, heard: Direction? = nil, roundTrip: Double? = nil) {
        self.sent = sent
        self.heard = heard
        self.roundTrip = roundTrip
    }
}
