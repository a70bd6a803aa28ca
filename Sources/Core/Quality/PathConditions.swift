import Primitives

/// The conditions between mouth and ear, as far as a gateway knows them.
package struct PathConditions: Equatable, Sendable {
    /// The playout depth assumed where it has not been measured: two packets of 20 ms.
    package static let usualPlayoutDepth = Duration.milliseconds(40)

    /// The round-trip time of the network, of which half counts. `nil` if it is not known; it then counts as 0.
    package var roundTrip: Duration?
    /// The delay of the receiver's jitter buffer; `nil` if it is not known, and `usualPlayoutDepth` counts.
    package var playoutDepth: Duration?
    /// The length of a packet, which is sent when its last sample has been spoken.
    package var packetTime = Duration.milliseconds(20)
    /// The delay of sound devices and of the codec's look-ahead (6.5 ms for Opus, RFC 6716 §2).
    package var fixedDelay = Duration.milliseconds(10)
    /// The fraction of packets that did not arrive, 0…1.
    package var loss = 0.0
    /// The fraction of packets that did not arrive and were restored by forward error correction, 0…1.
    package var recovered = 0.0
    /// BurstR (G.107 §7.5): 1 for random losses, more for bursts.
    package var burstRatio = 1.0

    /// Makes the conditions of a path without loss whose delays are not known.
    package init() {}

    /// Ta: the one-way delay from mouth to ear.
    package var delay: Duration {
        (roundTrip ?? .zero) / 2 + (playoutDepth ?? Self.usualPlayoutDepth) + packetTime + fixedDelay
    }

    /// Ppl as a fraction: packets lost and not restored.
    package var unrestoredLoss: Double { max(0, loss - recovered) }
}

extension EModel {
    /// Rates a conversation under the conditions of a path, with the default transmission parameters.
    package init(_ codec: Codec, over path: PathConditions) {
        self.init(codec, delay: path.delay, loss: path.unrestoredLoss, burstRatio: path.burstRatio)
    }
}
