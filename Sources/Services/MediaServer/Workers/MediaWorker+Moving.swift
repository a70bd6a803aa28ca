internal import CallControl
internal import CallRuntime
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import Sockets

/// A leg that a call waits for. Requests to the call wait meanwhile, because they may be about that leg.
struct AwaitedLeg {
    enum Request {
        case command(MediaCommand)
        case surrender(Leg, to: CallID, as: Leg)
    }

    let name: Leg
    var requests: [Request] = []
}

/// The result of a surrender that arrived before the call's `adopt` and has to wait: no leg, or a leg for which there
/// is no room yet.
struct EarlyLeg {
    let call: CallID
    let name: Leg
    let leg: TravellingLeg?
}

/// Moves legs between calls, on one worker or between two workers.
///
///     taker's worker                                    giver's worker
///       adopt: what the call is asked next waits           surrender: packets go to the taker's worker from now on
///       arrival ◀──────────── the leg, in a parcel ────────── │
///       forward: it is here ─────────────────────────────▶ this and every other worker that had it
///
/// The leg is in the tables of one worker or in one mailbox, and never in two of them.
extension MediaWorker {
    /// Carries out the requests to a call in their order, also while a leg is on its way.
    func carryOutInTurn(
        _ request: AwaitedLeg.Request, for id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        guard awaited[id] == nil else {
            awaited[id]?.requests.append(request)
            return
        }
        switch request {
        case .command(let command): carryOut(command, for: id, &transport, at: now)
        case .surrender(let leg, let taker, let name): surrender(leg, of: id, to: taker, as: name, &transport, at: now)
        }
    }

    // MARK: Giving

    private func surrender(
        _ name: Leg, of former: CallID, to id: CallID, as newName: Leg, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        let host = environment.layout.worker(ofCall: id.rawValue)
        guard let giver = calls[former], let leg = giver.leg(name),
            let streams = giver.bridge.takeLeg(leg.index, at: now)
        else {
            return hand(nil, to: host, as: newName, in: id, &transport, at: now)
        }
        giver.remove(leg)
        let transports = ([leg] + leg.further).map { uproot($0, to: host, &transport, at: now) }
        let travelling = TravellingLeg(
            streams: streams, quality: leg.quality, principal: leg.principal, transports: transports)
        hand(travelling, to: host, as: newName, in: id, &transport, at: now)
        refreshAudio(of: giver, at: now)
        sendControl(of: giver, &transport)
        rearm(giver)
    }

    /// Removes one transport of a leg from all tables.
    private func uproot(
        _ leg: MediaLeg, to host: WorkerIndex, _ transport: inout PacketTransport, at now: MonotonicTime
    ) -> TravellingTransport {
        forgetSources(of: leg)
        if bequeathHandshake(of: leg), let role = leg.session.handshakeRole {
            startHandshake(of: leg, as: role, &transport, at: now)
        }
        let validated = leg.session.validatedPaths
        let fragments = leg.session.localFragments.filter { legsByFragment[$0] === leg }
        for fragment in fragments { legsByFragment[fragment] = nil }
        var workers = leg.formerWorkers
        if host == endpoint.index {
            for path in validated { paths.withdraw(path, by: leg.number) }
        } else {
            forward(.moved(leg.number, fragments: fragments, paths: validated), by: host, &transport)
            forward(.heard(leg.number, leg.sources.all), by: host, &transport)
            workers = workers.filter { $0 != host } + [endpoint.index]
        }
        return TravellingTransport(leg, paths: validated, formerWorkers: workers)
    }

    /// Hands a leg over to the worker of its new call. Nothing of the leg stays here but the route to that worker.
    private func hand(
        _ leg: TravellingLeg?, to host: WorkerIndex, as name: Leg, in id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        if host == endpoint.index {
            arrive(leg, as: name, in: id, &transport, at: now)
        } else {
            endpoints[Int(host.rawValue)].send(.arrival(leg.map { Parcel($0) }, as: name, in: id))
        }
    }

    // MARK: Taking

    /// A leg of another call becomes this call's. Its peer notices nothing but what it hears from now on.
    func adopt(_ name: Leg, in id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        if calls[id]?.leg(name) != nil { return }
        guard let index = early.firstIndex(where: { $0.call == id && $0.name == name }) else {
            awaited[id] = AwaitedLeg(name: name)
            return
        }
        take(early.remove(at: index).leg, as: name, in: id, &transport, at: now)
    }

    /// Takes a leg that has arrived, or the news that it did not exist, and carries out the requests that waited for
    /// it.
    func arrive(
        _ leg: TravellingLeg?, as name: Leg, in id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        guard let waiting = awaited[id], waiting.name == name else {
            // Before its turn; but its packets are here. Its name is its own, so that nothing that is asked before can be about it.
            if leg.map({ settle($0, as: name, in: id, &transport, at: now) }) != true {
                early.append(EarlyLeg(call: id, name: name, leg: leg))
            }
            return
        }
        awaited[id] = nil
        take(leg, as: name, in: id, &transport, at: now)
        for request in waiting.requests { carryOutInTurn(request, for: id, &transport, at: now) }
    }

    private func take(
        _ arrived: TravellingLeg?, as name: Leg, in id: CallID, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        guard let arrived, !settle(arrived, as: name, in: id, &transport, at: now) else { return }
        environment.logger.error("no room for another leg", metadata: [LogKey.call: "\(id)"])
        abandon(arrived, &transport)
    }

    /// Adds a leg to a call; `false` if the call has no room for it.
    private func settle(
        _ arrived: TravellingLeg, as name: Leg, in id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime
    ) -> Bool {
        let call = calls[id] ?? MediaCall(id: id, bridge: Bridge(cname: id.canonicalName, wallClock: wallClock))
        guard let index = call.bridge.insertLeg(arrived.streams, at: now) else { return false }
        calls[id] = call
        endpoint.setCallCount(calls.count)
        let transports = arrived.transports.map { transport in
            let leg = MediaLeg(transport, in: call, as: name, at: index)
            root(leg, paths: transport.paths, at: now)
            return leg
        }
        let leg = transports[0]
        leg.further = Array(transports.dropFirst())
        (leg.quality, leg.principal) = (arrived.quality, arrived.principal)
        call.install(leg)
        if leg.outbound != nil, call.nextMeasurement == nil { call.nextMeasurement = now + QualityWatch.interval }
        refreshAudio(of: call, at: now)
        sendControl(of: call, &transport)
        rearm(call)
        return true
    }

    /// Adds one transport of a leg to all tables.
    private func root(_ leg: MediaLeg, paths validated: [Path], at now: MonotonicTime) {
        let fragments = leg.session.localFragments
        for fragment in fragments { legsByFragment[fragment] = leg }
        for source in leg.sources.all { noteSource(source, of: leg) }
        leg.lastArrival = now
        for path in validated {
            paths.claim(path, by: leg.number, at: .here(leg), isProven: leg.session.isProven(path))
        }
        forwarding.remove(leg.number, fragments: fragments, sources: leg.sources.all)
        tellFormerWorkers(of: leg, .moved(leg.number, fragments: fragments, paths: validated))
        tellFormerWorkers(of: leg, .heard(leg.number, leg.sources.all))
    }

    /// There is no call for it to be in.
    func abandon(_ leg: TravellingLeg, _ transport: inout PacketTransport) {
        for lost in leg.transports { abandon(lost, &transport) }
    }

    private func abandon(_ leg: TravellingTransport, _ transport: inout PacketTransport) {
        let fragments = leg.session.localFragments
        tell(leg.formerWorkers, .withdrawn(leg.number, fragments: fragments, paths: leg.paths))
        tell(leg.formerWorkers, .forgotten(leg.number, leg.sources.all))
        // The leg may have been on this worker before.
        forwarding.remove(leg.number, fragments: fragments, sources: leg.sources.all)
        for path in leg.paths {
            paths.withdraw(path, by: leg.number)
            if paths.holding(of: path) == nil { transport.release(path) }
        }
        environment.metrics.mediaSessionsActive.decrement()
    }
}
