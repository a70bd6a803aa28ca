package import Primitives

/// A leg on its way from one bridge to another, with its streams and whatever is known of its peer's.
package struct MovingLeg: Sendable {
    var leg: BridgeLeg
}

/// Legs that change from call to call. Their numbers and timestamps go on, so that their peers notice nothing.
extension Bridge {
    /// The leg leaves without a word to its peer; whoever heard it hears nothing. `nil` if it is not there.
    package mutating func takeLeg(_ index: LegIndex, at now: MonotonicTime) -> MovingLeg? {
        guard self[index].isPresent else { return nil }
        var leg = self[index]
        leg.standAlone()
        vacate(index, at: now)
        return MovingLeg(leg: leg)
    }

    /// Takes in a leg, which hears nothing yet; `nil` if there are as many as there may be.
    package mutating func insertLeg(_ moving: MovingLeg, at now: MonotonicTime) -> LegIndex? {
        guard let index = place(moving.leg) else { return nil }
        refreshFlows(at: now)
        return index
    }
}

extension BridgeLeg {
    /// Forgets the other legs of the call it was part of.
    fileprivate mutating func standAlone() {
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
