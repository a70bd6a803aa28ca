internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// Packets of legs that are on another worker than the socket to which their peer sends.
extension MediaWorker {
    // MARK: Where the socket is

    /// Passes a packet on to another worker. If that worker does not keep up, packets are lost, as at a socket.
    func passOn(_ slot: Int, over path: Path, to host: WorkerIndex, _ context: borrowing WorkerContext) {
        if !endpoints[Int(host.rawValue)].send(context.transport.datagram(slot), over: path, .inbound) {
            tally.drop(.overload)
        }
    }

    /// Follows a change of a leg that was on this worker.
    func follow(_ change: MovedLegs.Change, by host: WorkerIndex, _ context: inout WorkerContext) {
        movedLegs.apply(change, by: host)
        LegPlace.apply(change, by: host, to: &paths)
        if case .validated(_, let path) = change { context.transport.prove(path) }
    }

    // MARK: Where the leg is

    /// Tells a leg's former workers of a change, because its packets may arrive there. Most legs have no former
    /// workers.
    func tellFormerWorkers(of leg: MediaLeg, _ change: @autoclosure () -> MovedLegs.Change) {
        if !leg.formerWorkers.isEmpty { tell(leg.formerWorkers, change()) }
    }

    func tell(_ workers: [WorkerIndex], _ change: MovedLegs.Change) {
        // When the process ends, no worker listens any more.
        guard !isStopping else { return }
        for worker in workers { endpoints[Int(worker.rawValue)].send(.legChanged(change, by: endpoint.index)) }
    }

    /// Handles the packets that other workers have passed on.
    func receivePassedOn(_ count: Int, _ context: inout WorkerContext) {
        guard count > 0 else { return }
        context.readClock()
        context.transport.emptySlots()
        for _ in 0..<count {
            guard let next = next(&context) else { return }
            switch next.direction {
            case .inbound: take(next.slot, over: next.path, &context)
            case .outbound: sendOutbound(next.slot, over: next.path, &context)
            }
        }
    }

    private func next(_ context: inout WorkerContext) -> (
        slot: Int, path: Path, direction: PacketMailbox.Direction
    )? {
        if let next = context.transport.receivePassedOn() { return next }
        // All slots are in use.
        context.transport.emptySlots()
        return context.transport.receivePassedOn()
    }

    /// Sends a packet of a leg on another worker over a connection of this one. An empty packet closes the connection.
    private func sendOutbound(_ slot: Int, over path: Path, _ context: inout WorkerContext) {
        let count = context.transport.count(slot)
        guard count > 0 else { return context.transport.release(path) }
        context.transport.queue(slot: slot, count: count, over: path)
    }
}
