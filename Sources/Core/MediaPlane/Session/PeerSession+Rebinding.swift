import ICE
package import Primitives

/// Peers that change their address and send no checks.
extension PeerSession {
    /// Whether a packet from an address that nobody has checked may be this peer's; asked before any cipher.
    ///
    /// - Parameter lastArrival: when something came over a checked path of the session.
    package func mayHaveMoved(to path: Path, lastArrival: MonotonicTime, at now: MonotonicTime) -> Bool {
        isEstablished && Rebinding.isWorthATry(lastArrival: lastArrival, at: now) && ice.mayRebind(to: path, at: now)
    }

    /// A packet of this session's peer came from an address that nobody has checked, and had not come before. The path
    /// becomes the session's once that is to be believed.
    ///
    /// No more than `PathProofs.amplificationFactor` times what came from there goes there until a check comes over the
    /// path, or a report that answers one of ours.
    package mutating func heardElsewhere(
        _ bytes: Int, over path: Path, lastArrival: MonotonicTime, at now: MonotonicTime
    ) -> [SessionAction] {
        guard let received = rebinding.heard(bytes, over: path, lastArrival: lastArrival, at: now) else { return [] }
        let actions = ice.rebind(to: path, at: now)
        guard ice.accepts(path) else { return [] }
        proofs.rebind(to: path, received: received)
        reboundAt = now
        return translate(actions, at: now)
    }

    /// Something came over a path of the session, new or repeated; to be asked while media is on trial.
    ///
    /// If media goes where packets alone have led it, and this is where the peer was, it goes back.
    package mutating func arrived(over path: Path, at now: MonotonicTime) -> [SessionAction] {
        guard awaitsAnswer, path != destination, proofs.isProven(path), destination == ice.selectedPath else {
            return []
        }
        return translate(ice.undoRebind(to: path), at: now)
    }

    /// A report of the peer came over `path` and names one of ours, which was sent at this time: what went to where the
    /// peer seems to be has arrived there.
    package mutating func reportAnswered(sentAt moment: MonotonicTime, over path: Path) {
        guard proofs.isUnanswered(path), moment > reboundAt else { return }
        proofs.prove(path)
        proofs.follow(ice.selectedPath)
    }

    /// Whether media goes to an address that is known from packets alone.
    package var awaitsAnswer: Bool { destination.map { proofs.isUnanswered($0) } ?? false }
}
