package import Primitives

/// A leg on its way from one bridge to another, with its streams and everything known about those of its peer.
package struct MovingLeg: Sendable {
    var leg: BridgeLeg
}

/// Legs that move from call to call. Their sequence numbers and timestamps continue, so that their peers notice
/// nothing.
extension Bridge {
    /// Takes a leg out without RTCP BYE to its peer. Legs that heard it hear nothing. `nil` if the leg does not exist.
    package mutating func takeLeg(_ index: LegIndex, at now: MonotonicTime) -> MovingLeg? {
        guard self[index].isPresent else { return nil }
        var leg = self[index]
        leg.detachFromCall()
        vacate(index, at: now)
        return MovingLeg(leg: leg)
    }

    /// Adds a leg, which hears nothing yet. `nil` if the bridge is full (`maximumLegs`).
    package mutating func insertLeg(_ moving: MovingLeg, at now: MonotonicTime) -> LegIndex? {
        guard let index = place(moving.leg) else { return nil }
        refreshFlows(at: now)
        return index
    }
}

extension BridgeLeg {
    /// Removes all references to the other legs of its former call.
    fileprivate mutating func detachFromCall() {
        audioSource = .silence
        videoSource = .silence
        for line in lines.indices {
            lines[line].receivers = []
            lines[line].feed = .nothing
            lines[line].isDecoded = false
            lines[line].primary.detach()
            lines[line].retransmission?.detach()
        }
    }
}
