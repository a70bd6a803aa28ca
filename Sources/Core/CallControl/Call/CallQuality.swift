/// How good the audio is that an end hears and that it sends, by the E-model (ITU-T G.107).
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
        /// Milliseconds.
        package var jitter: Double

        package init(mos: Double, rating: Double, band: String, loss: Double, jitter: Double) {
            self.mos = mos
            self.rating = rating
            self.band = band
            self.loss = loss
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
