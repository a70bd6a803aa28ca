package import Primitives

/// How often, and how long, a receiver of video could show nothing new, as far as it tells: from its request for a key
/// frame until the next key frame is sent to it.
///
///     receiver ──PLI──▶ … ──PLI──▶
///              ◀──────────────────── key frame
///              │       frozen       │
///
/// A gateway that does not decode knows no better. A decoder asks when it has given up waiting for what it misses.
package struct PictureWaits: Equatable, Sendable {
    /// Less is no freeze that anybody would notice (W3C webrtc-stats, `freezeCount`).
    private static let noticeable = Duration.milliseconds(150)
    /// Who waits asks again within this time: who does not has got what it needs.
    private static let silence = Duration.seconds(3)

    /// How many waits were long enough to be seen.
    package private(set) var freezes: UInt64 = 0
    /// How long all freezes were.
    package private(set) var frozen = Duration.zero

    /// Something was shown that the receiver can miss.
    private var hasBegun = false
    private var firstRequest: MonotonicTime?
    private var lastRequest = MonotonicTime.zero

    package init() {}

    /// The receiver has asked for a key frame (PLI, RFC 4585 §6.3.1, or FIR, RFC 5104 §4.3.1).
    package mutating func keyFrameRequested(at now: MonotonicTime) {
        guard hasBegun else { return }
        if now - lastRequest > Self.silence { end(at: lastRequest) }
        firstRequest = firstRequest ?? now
        lastRequest = now
    }

    /// A key frame begins that is sent to the receiver.
    package mutating func keyFrameSent(at now: MonotonicTime) {
        hasBegun = true
        end(at: now - lastRequest > Self.silence ? lastRequest : now)
    }

    /// Nothing is sent until further notice: who sees nothing then misses nothing.
    package mutating func pause() {
        hasBegun = false
        firstRequest = nil
    }

    private mutating func end(at moment: MonotonicTime) {
        guard let first = firstRequest else { return }
        firstRequest = nil
        let length = moment - first
        guard length >= Self.noticeable else { return }
        freezes &+= 1
        frozen += length
    }
}
