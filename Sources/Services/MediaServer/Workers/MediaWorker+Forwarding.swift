internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Packets of legs that are on another worker than the socket to which their peer sends.
extension MediaWorker {
    // MARK: Where the socket is

    /// A worker that does not keep up loses packets as a socket does.
    func passOn(_ slot: Int, over path: Path, to host: WorkerIndex, _ transport: borrowing PacketTransport) {
        if !endpoints[Int(host.rawValue)].send(transport.datagram(slot), over: path, .inbound) { tally.drop(.overload) }
    }

    /// Something has become of a leg that was here.
    func forward(_ change: ForwardingTable.Change, by host: WorkerIndex, _ transport: inout PacketTransport) {
        forwarding.apply(change, by: host)
        LegPlace.apply(change, by: host, to: &paths)
        if case .validated(_, let path) = change { transport.prove(path) }
    }

    // MARK: Where the leg is

    /// Tells a leg's former workers of a change, because its packets may arrive there. Most legs have no former
    /// workers.
    func tellFormerWorkers(of leg: MediaLeg, _ change: @autoclosure () -> ForwardingTable.Change) {
        if !leg.formerWorkers.isEmpty { tell(leg.formerWorkers, change()) }
    }

    func tell(_ workers: [WorkerIndex], _ change: ForwardingTable.Change) {
        // When the process ends, no worker listens any more.
        guard !isStopping else { return }
        for worker in workers { endpoints[Int(worker.rawValue)].send(.forward(change, by: endpoint.index)) }
    }

    /// Takes what other workers have passed on.
    func receivePassedOn(_ count: Int, _ transport: inout PacketTransport) {
        guard count > 0 else { return }
        let now = MonotonicClock.now
        transport.emptySlots()
        for _ in 0..<count {
            guard let next = next(&transport) else { return }
            switch next.direction {
            case .inbound: take(next.slot, over: next.path, &transport, at: now)
            case .outbound: say(next.slot, over: next.path, &transport)
            }
        }
    }

    private func next(_ transport: inout PacketTransport) -> (
        slot: Int, path: Path, direction: PacketMailbox.Direction
    )? {
        if let next = transport.receivePassedOn() { return next }
        // All slots are taken.
        transport.emptySlots()
        return transport.receivePassedOn()
    }

    /// Puts a packet of a leg that is elsewhere on its connection, or ends the connection.
    private func say(_ slot: Int, over path: Path, _ transport: inout PacketTransport) {
        let count = transport.count(slot)
        guard count > 0 else { return transport.release(path) }
        transport.queue(slot: slot, count: count, over: path)
    }
}
