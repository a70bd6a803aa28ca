internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Handles TCP connections (RFC 6544): each frame is a packet, like a datagram.
extension MediaWorker {
    func receive(from ready: Poller.ReadyConnection, _ context: inout WorkerContext) {
        if ready.isWritable { context.transport.resume(ready.id) }
        guard ready.isReadable, let path = context.transport.path(of: ready.id) else { return }
        switch context.transport.read(from: ready.id) {
        case .wouldBlock: return
        case .closed: return close(ready.id, .byPeer, &context)
        case .bytes: break
        }
        do {
            while case let count = try context.transport.nextPackets(of: ready.id), count > 0 {
                for slot in 0..<count {
                    // An earlier packet may have closed the connection.
                    guard let isProven = context.transport.isProven(ready.id) else { return }
                    guard isProven || isCheck(slot, over: path, &context) else {
                        return close(ready.id, .unauthenticated, &context)
                    }
                    if isProven { take(slot, over: path, &context) }
                }
            }
        } catch {
            close(ready.id, .malformed, &context)
        }
    }

    /// Handles a packet of an unproven connection. Returns whether it was a check by a sender that knows a password. A
    /// check that is refused nevertheless, for its role or an attribute, may be followed by an acceptable one.
    private func isCheck(_ slot: Int, over path: Path, _ context: inout WorkerContext)
        -> Bool
    {
        guard case .stun = DatagramKind(of: context.transport.datagram(slot)) else {
            tally.drop(.unknownAddress)
            return false
        }
        return receiveCheck(slot, over: path, &context)
    }

    /// Closes a connection. If it carried a path, the session of the path chooses another one.
    private func close(
        _ id: ConnectionID, _ reason: MediaConnectionClosure, _ context: inout WorkerContext
    ) {
        guard let path = context.transport.close(id, reason) else { return }
        pathClosed(path, &context)
    }

    /// Tells all legs with a path that its connection has been closed.
    func pathClosed(_ path: Path, _ context: inout WorkerContext) {
        let claims = paths.claims(on: path)
        let legs = legsHere(of: claims)
        for leg in legs {
            perform(leg.session.pathClosed(path, at: context.now), for: leg, &context)
            rearm(leg.call)
        }
        guard context.transport.isHere(path) || legs.isEmpty else { return }
        for host in hosts(of: claims) { endpoints[Int(host.rawValue)].send(.pathClosed(path)) }
    }
}
