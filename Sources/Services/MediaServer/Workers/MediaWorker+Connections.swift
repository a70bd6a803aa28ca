internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Handles TCP connections (RFC 6544): each frame is a packet, like a datagram.
extension MediaWorker {
    func receive(from ready: Poller.ReadyConnection, _ transport: inout PacketTransport, at now: MonotonicTime) {
        if ready.isWritable { transport.resume(ready.id) }
        guard ready.isReadable, let path = transport.path(of: ready.id) else { return }
        switch transport.read(from: ready.id) {
        case .wouldBlock: return
        case .closed: return close(ready.id, .byPeer, &transport, at: now)
        case .bytes: break
        }
        do {
            while case let count = try transport.nextPackets(of: ready.id), count > 0 {
                for slot in 0..<count {
                    // A packet before may have ended the connection.
                    guard let isProven = transport.isProven(ready.id) else { return }
                    guard isProven || isCheck(slot, over: path, &transport, at: now) else {
                        return close(ready.id, .unauthenticated, &transport, at: now)
                    }
                    if isProven { take(slot, over: path, &transport, at: now) }
                }
            }
        } catch {
            close(ready.id, .malformed, &transport, at: now)
        }
    }

    /// Takes a packet of an unproven connection; whether it was a check by somebody who knows a password. One that is refused
    /// all the same, for its role or an attribute, may be followed by a better one.
    private func isCheck(_ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime)
        -> Bool
    {
        guard case .stun = DatagramKind(of: transport.datagram(slot)) else {
            tally.drop(.unknownAddress)
            return false
        }
        return receiveCheck(slot, over: path, &transport, at: now)
    }

    /// Closes a connection. If it carried a path, the session of the path chooses another one.
    private func close(
        _ id: ConnectionID, _ reason: MediaConnectionClosure, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        guard let path = transport.close(id, reason) else { return }
        pathClosed(path, &transport, at: now)
    }

    /// What carried a path is gone.
    func pathClosed(_ path: Path, _ transport: inout PacketTransport, at now: MonotonicTime) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        for leg in legs {
            perform(leg.session.pathClosed(path, at: now), for: leg, &transport, at: now)
            rearm(leg.call)
        }
        guard transport.isHere(path) || legs.isEmpty else { return }
        for host in hosts(of: claims) { endpoints[Int(host.rawValue)].send(.pathClosed(path)) }
    }
}
