import ICE
package import Primitives

/// Peers that change their address without sending checks.
extension PeerSession {
    /// Whether a packet from an unchecked address may be this peer's. It is asked before the packet is decrypted.
    ///
    /// - Parameters:
    ///   - path: The path of the packet.
    ///   - lastArrival: The time at which the last packet came over a checked path of the session.
    ///   - now: The time of arrival.
    package func mayHaveMoved(to path: Path, lastArrival: MonotonicTime, at now: MonotonicTime) -> Bool {
        isEstablished && Rebinding.isWorthATry(lastArrival: lastArrival, at: now) && ice.mayRebind(to: path, at: now)
    }

    /// Takes note of a packet of this peer that came from an unchecked address and is no repetition. After enough such
    /// packets, the path becomes the session's.
    ///
    /// Until a check comes over the path, or a report that answers one of the gateway's, at most
    /// `PathProofs.amplificationFactor` times the bytes that came over it are sent there.
    package mutating func heardElsewhere(
        _ bytes: Int, over path: Path, lastArrival: MonotonicTime, at now: MonotonicTime
    ) -> [SessionAction] {
        guard let received = rebinding.heard(bytes, over: path, lastArrival: lastArrival, at: now) else { return [] }
        let actions = ice.rebind(to: path, at: now)
        guard ice.accepts(path) else { return [] }
        proofs.rebind(to: path, received: received)
        reboundAt = now
        return translate(actions)
    }

    /// Takes note of a datagram, new or repeated, over a path of the session. It is called while media is on trial.
    ///
    /// If media goes to an address known from packets alone, and this path is the peer's former one, media returns to
    /// it.
    package mutating func arrived(over path: Path) -> [SessionAction] {
        guard awaitsAnswer, path != destination, proofs.isProven(path), destination == ice.selectedPath else {
            return []
        }
        return translate(ice.undoRebind(to: path))
    }

    /// Takes note of a report of the peer over `path` that names a report which the gateway sent at `moment`. It proves
    /// that packets reach the peer at its new address.
    package mutating func reportAnswered(sentAt moment: MonotonicTime, over path: Path) {
        guard proofs.isUnanswered(path), moment > reboundAt else { return }
        proofs.prove(path)
        proofs.follow(ice.selectedPath)
    }

    /// Whether media goes to an address that is known from packets alone.
    package var awaitsAnswer: Bool { destination.map { proofs.isUnanswered($0) } ?? false }
}
