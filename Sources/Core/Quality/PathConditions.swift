import Primitives

/// What lies between a mouth and an ear, as far as a gateway can tell.
package struct PathConditions: Equatable, Sendable {
    /// Assumed where nobody has measured it: two packets of 20 ms.
    package static let usualPlayoutDepth = Duration.milliseconds(40)

    /// Of the network; half of it is one way. `nil` before it is known, and then counted as none.
    package var roundTrip: Duration?
    /// What waits in the receiver's jitter buffer; `nil` if that is the peer's secret.
    package var playoutDepth: Duration?
    /// A packet leaves when its last sample has been spoken.
    package var packetTime = Duration.milliseconds(20)
    /// Sound devices and the look-ahead of the codec (6.5 ms of Opus, RFC 6716 §2).
    package var fixedDelay = Duration.milliseconds(10)
    /// Share of packets that did not come, 0…1.
    package var loss = 0.0
    /// Share of packets that did not come and were restored by forward error correction, 0…1.
    package var recovered = 0.0
    /// BurstR (G.107 §7.5).
    package var burstRatio = 1.0

    package init() {}

    /// Ta, milliseconds.
    package var delay: Double {
        let network = (roundTrip ?? .zero) / 2
        return 1_000 * (network + (playoutDepth ?? Self.usualPlayoutDepth) + packetTime + fixedDelay).inSeconds
    }

    /// Ppl as a share: what was restored was not lost to the ear.
    package var unrestoredLoss: Double { max(0, loss - recovered) }
}

extension EModel {
    package init(_ codec: Codec, over path: PathConditions) {
        self.init(codec, delay: path.delay, loss: path.unrestoredLoss, burstRatio: path.burstRatio)
    }
}
