package import Primitives

/// How often, and how long, a receiver of video could show no new picture, as far as its feedback tells: while it waits
/// for a key frame or for a lost packet that it has requested.
///
///     receiver ──NACK──▶ … ──NACK──▶          receiver ──PLI──▶ … ──PLI──▶
///              ◀─────────── the packet                 ◀────────────────── key frame
///              │  frozen    │                          │      frozen       │
///
/// A gateway that does not decode has no better measure. A decoder requests a key frame when it has stopped waiting for
/// a lost packet. That may be seconds after its last NACK, and both are one freeze.
///
/// A freeze that goes on is counted up to the last request of the receiver, so that no count ever falls.
package struct PictureWaits: Equatable, Sendable {
    /// A shorter wait is no noticeable freeze (W3C webrtc-stats, `freezeCount`).
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

    // MARK: Key frames

    /// Records that the receiver has requested a key frame (PLI, RFC 4585 §6.3.1, or FIR, RFC 5104 §4.3.1).
    package mutating func keyFrameRequested(at now: MonotonicTime) {
        guard hasBegun else { return }
        if now - lastRequest > Self.silence { end(at: lastRequest) }
        firstRequest = firstRequest ?? now
        lastRequest = now
    }

    /// Records that the start of a key frame is sent to the receiver, which needs no earlier packet any more.
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
