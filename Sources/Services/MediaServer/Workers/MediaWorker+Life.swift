internal import MediaPlane
internal import Observability
internal import Primitives
internal import RTP
internal import SRTP

/// Signs of life of a peer besides its checks, and over which path they come.
extension MediaWorker {
    /// The interval in which a session is told of its peer's packets. Half a second is little compared with the 7 s
    /// that matter, and most packets cost a comparison only.
    private static let signInterval = Duration.milliseconds(500)

    /// Handles an authenticated packet over a path of the leg that has not been received before.
    func noteLife(of leg: MediaLeg, over path: Path, _ context: inout WorkerContext) {
        noteArrival(of: leg, over: path, &context)
        guard context.now >= leg.nextSign else { return }
        leg.nextSign = context.now + Self.signInterval
        let actions = leg.session.heard(over: path, at: context.now)
        // The packet postpones deadlines, which are checked when they are due. Only after silence can there be an
        // earlier deadline.
        guard !actions.isEmpty else { return }
        perform(actions, for: leg, &context)
        rearm(leg.call)
    }

    /// Handles a replayed packet: it is no sign of life, but shows that packets come over this path.
    func noteRepetition(
        _ refusal: PacketRefusal, of leg: MediaLeg, over path: Path, _ context: inout WorkerContext
    ) {
        if case .protection(.replayed) = refusal { noteArrival(of: leg, over: path, &context) }
    }

    private func noteArrival(
        of leg: MediaLeg, over path: Path, _ context: inout WorkerContext
    ) {
        leg.lastArrival = context.now
        if leg.isOnTrial { perform(leg.session.arrived(over: path), for: leg, &context) }
    }

    // MARK: Packets from unchecked addresses

    /// Records that the leg's peer sends with an SSRC, after its packet has been authenticated.
    func noteSource(_ source: SSRC, of leg: MediaLeg) {
        var legs = legsBySource[source] ?? []
        guard legs.count < MovedLegs.maximumHolders, !legs.contains(where: { $0 === leg }) else { return }
        legs.append(leg)
        legsBySource[source] = legs
    }

    func forgetSource(_ source: SSRC, of leg: MediaLeg) {
        guard var legs = legsBySource[source] else { return }
        legs.removeAll { $0 === leg }
        legsBySource[source] = legs.isEmpty ? nil : legs
    }

    func forgetSources(of leg: MediaLeg) {
        for source in leg.sources.all { forgetSource(source, of: leg) }
    }

    /// Handles a packet over a path that no leg claims. It may be from a peer that sends no checks and has a new
    /// address. If its leg has moved to another worker, the packet is passed on to that worker.
    ///
    /// An authenticated packet is accepted at once, because it is from the peer, whatever its address is. If it were
    /// dropped, an attacker that is faster than the peer could silence it. The destination of packets to the peer
    /// changes later, see `Rebinding`.
    func receiveStray(
        _ slot: Int, _ kind: ProtectedKind, over path: Path, _ context: inout WorkerContext
    ) {
        guard let source = kind.source(of: context.transport.datagram(slot)) else {
            return dropStray(slot, kind, context)
        }
        let legs = legsBySource[source] ?? []
        // As with a contested path, no packet circulates.
        let known = movedLegs.hosts(of: source)
        let hosts = context.transport.isHere(path) ? known[...] : legs.isEmpty ? known.prefix(1) : []
        for host in hosts { passOn(slot, over: path, to: host, context) }
        guard !legs.isEmpty else {
            if hosts.isEmpty { dropStray(slot, kind, context) }
            return
        }
        countReceived(kind, bytes: context.transport.count(slot))
        let sealed = [UInt8](copying: context.transport.datagram(slot))
        for leg in legs where leg.session.mayHaveMoved(to: path, lastArrival: leg.lastArrival, at: context.now) {
            // A packet that is not authenticated is not from this leg's peer, and is not counted yet.
            guard let plain = try? open(slot, kind, of: leg, &context) else {
                restore(sealed, in: slot, &context)
                continue
            }
            let actions = leg.session.heardElsewhere(
                sealed.count, over: path, lastArrival: leg.lastArrival, at: context.now)
            if actions.contains(.pathValidated(path)) { admit(path, of: leg, isNew: true, &context) }
            perform(actions, for: leg, &context)
            rearm(leg.call)
            return heard(kind, slot, count: plain, over: path, of: leg, &context)
        }
        if hosts.isEmpty { tally.drop(.unknownAddress) }
    }

    private func dropStray(_ slot: Int, _ kind: ProtectedKind, _ context: borrowing WorkerContext) {
        countReceived(kind, bytes: context.transport.count(slot))
        tally.drop(.unknownAddress)
    }

    private func heard(
        _ kind: ProtectedKind, _ slot: Int, count: Int, over path: Path, of leg: MediaLeg,
        _ context: inout WorkerContext
    ) {
        switch kind {
        case .media: mediaReceived(slot, count: count, of: leg, &context)
        case .control: controlReceived(slot, count: count, over: path, of: leg, &context)
        }
    }
}
