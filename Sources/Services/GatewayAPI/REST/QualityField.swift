package import CallControl

/// `quality` in a `callQuality` notification and in statistics (docs/client.md).
package struct QualityField: Decodable, Equatable, Sendable {
    package var sent: Direction?
    package var heard: Direction?
    /// Milliseconds.
    package var roundTrip: Double?

    package struct Direction: Decodable, Equatable, Sendable {
        package var mos: Double
        package var rating: Double
        package var band: String
        package var loss: Double
        package var recovered: Double?
        package var burstRatio: Double
        package var jitter: Double

        package init(_ direction: CallQuality.Direction) {
            mos = direction.mos
            rating = direction.rating
            band = direction.band
            loss = direction.loss
            recovered = direction.recovered
            burstRatio = direction.burstRatio
            jitter = direction.jitter
        }
    }

    package init(_ quality: CallQuality) {
        sent = quality.sent.map(Direction.init)
        heard = quality.heard.map(Direction.init)
        roundTrip = quality.roundTrip
    }
}

extension QualityField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            if let sent { object.member("sent", sent) }
            if let heard { object.member("heard", heard) }
            object.member("roundTrip", fraction: roundTrip)
        }
    }
}

extension QualityField.Direction: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("mos", fraction: mos)
            object.member("rating", fraction: rating)
            object.member("band", band)
            object.member("loss", fraction: loss)
            object.member("recovered", fraction: recovered)
            object.member("burstRatio", fraction: burstRatio)
            object.member("jitter", fraction: jitter)
        }
    }
}
