internal import AudioStreams
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
        case giveLeg(LegID, to: CallID, as: LegID)
    }

    let name: LegID
    var requests: [Request] = []
}

/// The result of a `giveLeg` that arrived before the call's `adopt` and has to wait: no leg, or a leg for which there
/// is no room yet.
struct EarlyLeg {
    let call: CallID
    let name: LegID
    let leg: LegInTransit?
}

/// Moves legs between calls, on one worker or between two workers.
///
///     taker's worker                                    giver's worker
///       adopt: what the call is asked next waits           giveLeg: packets go to the taker's worker from now on
///       arrival ◀──────────── the leg, in a box ───────────── │
///       legChanged: it is here ──────────────────────────▶ this and every other worker that had it
///
/// The leg is in the tables of one worker or in one mailbox, and never in two of them.
extension MediaWorker {
    /// Carries out the requests to a call in their order, also while a leg is on its way.
    func carryOutInTurn(
        _ request: AwaitedLeg.Request, for id: CallID, _ context: inout WorkerContext
    ) {
        guard awaited[id] == nil else {
            awaited[id]?.requests.append(request)
            return
        }
        switch request {
        case .command(let command): carryOut(command, for: id, &context)
        case .giveLeg(let leg, let taker, let name): giveLeg(leg, of: id, to: taker, as: name, &context)
        }
    }

    // MARK: Giving

    private func giveLeg(
        _ name: LegID, of former: CallID, to id: CallID, as newName: LegID, _ context: inout WorkerContext
    ) {
        let host = environment.layout.worker(ofCall: id.rawValue)
        guard let giver = calls[former], let hearing = giver.hearingLeg(name),
            let streams = giver.bridge.takeLeg(hearing.index, at: context.now)
        else {
            return hand(nil, to: host, as: newName, in: id, &context)
        }
        var moving = LegInTransit(streams: streams)
        if let leg = giver.leg(name) {
            giver.remove(leg)
            (moving.quality, moving.principal) = (leg.quality, leg.principal)
            moving.transports = ([leg] + leg.further).map { removeFromTables($0, to: host, &context) }
        } else if let leg = giver.headlessLeg(name) {
            withdraw(leg, from: giver)
            moving.voice = leg.voice
        }
        hand(moving, to: host, as: newName, in: id, &context)
        refreshAudio(of: giver, at: context.now)
        sendControl(of: giver, &context)
        rearm(giver)
    }

    /// Removes one transport of a leg from all tables.
    private func removeFromTables(
        _ leg: MediaLeg, to host: WorkerIndex, _ context: inout WorkerContext
    ) -> TransportInTransit {
        forgetSources(of: leg)
        if reassignHandshake(of: leg), let role = leg.session.handshakeRole {
            startHandshake(of: leg, as: role, &context)
        }
        let validated = leg.session.validatedPaths
        let fragments = leg.session.localFragments.filter { legsByFragment[$0] === leg }
        for fragment in fragments { legsByFragment[fragment] = nil }
        var workers = leg.formerWorkers
        if host == endpoint.index {
            for path in validated { paths.withdraw(path, by: leg.number) }
        } else {
            follow(.moved(leg.number, fragments: fragments, paths: validated), by: host, &context)
            follow(.heard(leg.number, leg.sources.all), by: host, &context)
            workers = workers.filter { $0 != host } + [endpoint.index]
        }
        return TransportInTransit(leg, paths: validated, formerWorkers: workers)
    }

    /// Hands a leg over to the worker of its new call. Nothing of the leg stays here but the route to that worker.
    private func hand(
        _ leg: LegInTransit?, to host: WorkerIndex, as name: LegID, in id: CallID, _ context: inout WorkerContext
    ) {
        if host == endpoint.index {
            arrive(leg, as: name, in: id, &context)
        } else {
            endpoints[Int(host.rawValue)].send(.arrival(leg.map { SendableBox($0) }, as: name, in: id))
        }
    }

    // MARK: Taking

    /// Takes a leg of another call into this call. The peer notices no change but in what it hears.
    func adopt(_ name: LegID, in id: CallID, _ context: inout WorkerContext) {
        if calls[id]?.hearingLeg(name) != nil { return }
        guard let index = early.firstIndex(where: { $0.call == id && $0.name == name }) else {
            awaited[id] = AwaitedLeg(name: name)
            return
        }
        take(early.remove(at: index).leg, as: name, in: id, &context)
    }

    /// Takes a leg that has arrived, or the news that it did not exist, and carries out the requests that waited for
    /// it.
    func arrive(
        _ leg: LegInTransit?, as name: LegID, in id: CallID, _ context: inout WorkerContext
    ) {
        guard let waiting = awaited[id], waiting.name == name else {
            // It arrives before the `adopt`, but its packets are here already. Its name belongs to it alone, so no
            // earlier request can be about it.
            if leg.map({ settle($0, as: name, in: id, &context) }) != true {
                early.append(EarlyLeg(call: id, name: name, leg: leg))
            }
            return
        }
        awaited[id] = nil
        take(leg, as: name, in: id, &context)
        for request in waiting.requests { carryOutInTurn(request, for: id, &context) }
    }

    private func take(
        _ arrived: LegInTransit?, as name: LegID, in id: CallID, _ context: inout WorkerContext
    ) {
        guard let arrived, !settle(arrived, as: name, in: id, &context) else { return }
        environment.logger.error("no room for another leg", metadata: [LogKey.call: "\(id)"])
        abandon(arrived, as: name, in: id, &context)
    }

    /// Adds a leg to a call; `false` if the call has no room for it.
    private func settle(
        _ arrived: LegInTransit, as name: LegID, in id: CallID, _ context: inout WorkerContext
    ) -> Bool {
        let call = openCall(id)
        guard let index = call.bridge.insertLeg(arrived.streams, at: context.now) else { return false }
        if let voice = arrived.voice { install(HeadlessLeg(name: name, index: index, voice: voice), in: call) }
        let transports = arrived.transports.map { transport in
            let leg = MediaLeg(transport, in: call, as: name, at: index)
            addToTables(leg, paths: transport.paths, at: context.now)
            return leg
        }
        if let leg = transports.first {
            leg.further = Array(transports.dropFirst())
            (leg.quality, leg.principal) = (arrived.quality, arrived.principal)
            call.install(leg)
            if leg.outbound != nil, call.nextMeasurement == nil {
                call.nextMeasurement = context.now + QualityWatch.interval
            }
        }
        refreshAudio(of: call, at: context.now)
        followStreams(of: call, at: context.now)
        sendControl(of: call, &context)
        rearm(call)
        return true
    }

    /// Adds one transport of a leg to all tables.
    private func addToTables(_ leg: MediaLeg, paths validated: [Path], at now: MonotonicTime) {
        let fragments = leg.session.localFragments
        for fragment in fragments { legsByFragment[fragment] = leg }
        for source in leg.sources.all { noteSource(source, of: leg) }
        leg.lastArrival = now
        for path in validated {
            paths.claim(path, by: leg.number, at: .here(leg), isProven: leg.session.isProven(path))
        }
        movedLegs.remove(leg.number, fragments: fragments, sources: leg.sources.all)
        tellFormerWorkers(of: leg, .moved(leg.number, fragments: fragments, paths: validated))
        tellFormerWorkers(of: leg, .heard(leg.number, leg.sources.all))
    }

    /// Ends a leg for which there is no call. `name` and `id`: the leg and the call that it was to become.
    func abandon(_ leg: LegInTransit, as name: LegID, in id: CallID, _ context: inout WorkerContext) {
        for lost in leg.transports { abandon(lost, &context) }
        if let voice = leg.voice { end(voice, of: name, in: id, .callEnded) }
    }

    private func abandon(_ leg: TransportInTransit, _ context: inout WorkerContext) {
        let fragments = leg.session.localFragments
        tell(leg.formerWorkers, .withdrawn(leg.number, fragments: fragments, paths: leg.paths))
        tell(leg.formerWorkers, .forgotten(leg.number, leg.sources.all))
        // The leg may have been on this worker before.
        movedLegs.remove(leg.number, fragments: fragments, sources: leg.sources.all)
        for path in leg.paths {
            paths.withdraw(path, by: leg.number)
            if paths.holding(of: path) == nil { context.transport.release(path) }
        }
        environment.metrics.mediaSessionsActive.decrement()
    }
}
