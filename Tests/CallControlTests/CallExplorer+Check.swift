import CallControl
import Primitives
import TestSupport

// MARK: What always holds

extension CallExplorer {
    func check() throws {
        for (id, call) in world.calls where !world.ended.contains(id) {
            if case .answered(let answered) = call.state, let operation = answered.operation, !operation.isHandover,
                call.nextDeadline == nil
            {
                throw ExplorationFault("an operation of call \(id) would never end", path)
            }
        }
        if let (call, leg) = world.reusedLeg {
            throw ExplorationFault("\(leg) of call \(call) is somebody else than before", path)
        }
        try checkRoutes()
        guard isQuiet else { return }
        for (id, call) in world.calls where !world.ended.contains(id) {
            for leg in call.legs where leg.isTalkingNow && clients[leg.party.session] == nil {
                throw ExplorationFault("\(leg.party.session) has left, and is in call \(id)", path)
            }
        }
        for (session, client) in clients where client.farewells == 0 {
            guard let place = place(of: session) else {
                throw ExplorationFault("\(session) was not told that it is over", path)
            }
            guard let call = world.calls[place.call] else { continue }
            try checkHearing(session, place.leg, call)
            guard place.leg.isTalkingNow else { continue }
            if !client.isAstray, client.isHeld != isHeld(session) {
                throw ExplorationFault(
                    "\(session) believes it is \(client.isHeld ? "held" : "not held"), and its call says otherwise",
                    path)
            }
            guard client.isAstray || place.leg.holds == client.isHolding else {
                throw ExplorationFault(
                    "\(session) \(client.isHolding ? "holds" : "does not hold"), and its call says otherwise", path)
            }
        }
        try checkStates()
    }

    /// A client that audits and then stops is missed, whatever its call is doing; while ends change hands, by whoever
    /// gets them.
    func checkSilence() throws {
        let now = world.clock.now
        for (id, call) in world.calls where !world.ended.contains(id) {
            guard case .answered(let answered) = call.state, answered.operation?.isHandover != true else { continue }
            for leg in call.legs where leg.isTalkingNow {
                let silent = try Self.audited(call, by: leg.id, at: now)
                guard let deadline = silent.nextDeadline, deadline.time <= now + .seconds(91) else {
                    throw ExplorationFault("nobody would miss \(leg.party.session) in call \(id)", path)
                }
            }
        }
    }

    /// Nobody hears a call that they have left or that is over, and nobody who has left is heard.
    private func checkRoutes() throws {
        for (id, routes) in world.routes {
            let talking = world.ended.contains(id) ? [] : world.calls[id]?.legs.filter(\.isTalkingNow).map(\.id) ?? []
            for (leg, route) in routes {
                guard talking.contains(leg) else {
                    throw ExplorationFault("\(leg) of call \(id) does not talk, and its route is: \(route.trace)", path)
                }
                switch route {
                case .silence: break
                case .leg(let other):
                    guard talking.contains(other) else {
                        throw ExplorationFault("\(leg) of call \(id) hears who has left", path)
                    }
                case .mix:
                    guard talking.allSatisfy({ routes[$0] == .mix || world.calls[id]?[$0]?.holds == true }) else {
                        throw ExplorationFault("call \(id) mixes some of its ends", path)
                    }
                    guard world.calls[id]?[leg]?.holds == false else {
                        throw ExplorationFault("\(leg) of call \(id) holds, and is heard", path)
                    }
                }
            }
        }
    }

    /// Everybody who talks hears somebody who is there.
    private func checkHearing(_ session: SessionID, _ leg: CallLeg, _ call: Call) throws {
        guard leg.isTalkingNow else { return }
        let others = call.legs.filter { $0.id != leg.id && $0.isTalkingNow }
        guard !others.isEmpty else { throw ExplorationFault("\(session) talks to nobody", path) }
        switch world.routes[call.id]?[leg.id] {
        case nil: throw ExplorationFault("\(session) hears nothing", path)
        // Who is in the mix was looked at before.
        case .mix?: break
        case .leg(let other)?:
            guard others.contains(where: { $0.id == other }) else {
                throw ExplorationFault("\(session) hears who has left", path)
            }
        // Who holds in a conference is out of the mix.
        case .silence? where call.id == Self.conference && leg.holds: break
        case .silence?: throw ExplorationFault("\(session) hears silence", path)
        }
    }

    /// Everyone resumed means in call, in every call.
    private func checkStates() throws {
        for (id, call) in world.calls where !world.ended.contains(id) {
            let talking = call.legs.filter(\.isTalkingNow)
            if talking.contains(where: { clients[$0.party.session]?.isAstray == true }) { continue }
            for leg in talking {
                let own = clients[leg.party.session]?.isHolding ?? false
                let others =
                    id != Self.conference
                    && talking.contains { $0.id != leg.id && clients[$0.party.session]?.isHolding == true }
                let wanted: LegState =
                    switch (own, others) {
                    case (false, false): .inCall
                    case (true, false): .onHold
                    case (false, true): .remotelyHeld
                    case (true, true): .onDoubleHold
                    }
                guard call.legState(leg.id) == wanted else {
                    throw ExplorationFault(
                        "\(leg.party.session) sees \(call.legState(leg.id)), should see \(wanted)", path)
                }
            }
        }
    }
}
