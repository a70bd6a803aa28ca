import CallControl
import CallSupport
import Primitives
import SDP
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
        if let (call, leg) = world.describedHeadless {
            throw ExplorationFault("something is described to \(leg) of call \(call), which is headless", path)
        }
        try checkRoutes()
        try checkApplications()
        try checkHolds()
        guard isQuiet else { return }
        for (id, call) in world.calls where !world.ended.contains(id) {
            let talking = call.legs.filter(\.isTalkingNow)
            for leg in talking {
                if leg.party.isApplication { try checkHeadless(leg, of: call) } else { try checkEnd(leg, of: call) }
            }
            if talking.count == 2, id != Self.conference { try checkPair(talking.map(holder)) }
        }
        for (name, client) in clients where client.farewells == 0 {
            guard let place = place(of: name) else {
                throw ExplorationFault("\(name) was not told that it is over", path)
            }
            if place.leg.isTalkingNow, holder(of: place.leg) != name {
                throw ExplorationFault("\(name) was not told that another device has its call", path)
            }
        }
        try checkStates()
    }

    /// An end and its client agree on everything, and neither waits for the other.
    private func checkEnd(_ leg: CallLeg, of call: Call) throws {
        let name = holder(of: leg)
        guard let client = clients[name], client.farewells == 0 else {
            throw ExplorationFault("\(name) has left, and is in call \(call.id)", path)
        }
        try checkHearing(name, leg, call)
        guard !client.isAstray else { return }
        guard client.isHeld == isHeld(name) else {
            throw ExplorationFault(
                "\(name) believes it is \(client.isHeld ? "held" : "not held"), and its call says otherwise", path)
        }
        guard leg.isStable else {
            throw ExplorationFault("an offer is open with \(name), and nobody waits for its answer", path)
        }
        let agreed =
            world.agreements[call.id]?[leg.id]?.media.map { $0.isRejected ? nil : $0.direction.reversed } ?? [
                .sendReceive
            ]
        guard agreed == client.lines else {
            throw ExplorationFault(
                "\(name) goes by \(Self.words(client.lines)), and the gateway by \(Self.words(agreed))", path)
        }
    }

    /// A headless leg is in the media plane, hears somebody, and holds only if its application says so. Whoever talks
    /// to it alone has audio with it, and nothing else. In a conference each leg agrees with the gateway alone: what a
    /// leg has agreed to show stays when the last one that could see it leaves.
    private func checkHeadless(_ leg: CallLeg, of call: Call) throws {
        let name = leg.party.session
        try checkHearing(name, leg, call)
        guard world.headless[call.id]?.contains(leg.id) == true else {
            throw ExplorationFault("the media plane has not made \(name), which talks", path)
        }
        guard !leg.holds || scope.contains(.commanding) else {
            throw ExplorationFault("\(name) is headless, and holds", path)
        }
        let others = call.legs.filter { $0.id != leg.id && $0.isTalkingNow && !$0.party.isApplication }
        guard others.count == 1, let other = others.first, let client = clients[holder(of: other)], !client.isAstray
        else { return }
        guard client.lines.first == .sendReceive || client.isHolding || leg.holds else {
            throw ExplorationFault("nobody holds, and \(holder(of: other)) is not in call", path)
        }
        if leg.holds, call.id != Self.conference, client.lines.first??.sends == true {
            throw ExplorationFault("\(name) holds, and \(holder(of: other)) sends", path)
        }
        guard call.id != Self.conference else { return }
        guard client.lines.dropFirst().allSatisfy({ $0 == nil || $0 == .inactive }) else {
            throw ExplorationFault("\(holder(of: other)) has pictures with \(name), which is headless", path)
        }
    }

    /// What one is told on a line is what the other does there: sends if it films and nobody holds, receives if it
    /// wants to (RFC 3264 §6.1).
    private func checkPair(_ names: [SessionID]) throws {
        let pair = names.compactMap { clients[$0] }
        guard pair.count == 2, !pair.contains(where: \.isAstray) else { return }
        for line in 0..<max(pair[0].lines.count, pair[1].lines.count) {
            let directions = pair.map { line < $0.lines.count ? $0.lines[line] ?? .inactive : .inactive }
            guard directions[0] == directions[1].reversed else {
                throw ExplorationFault(
                    "on m-line \(line) \(names[0]) is \(directions[0]) and \(names[1]) is \(directions[1])", path)
            }
        }
        guard !pair.contains(where: \.isHolding) else { return }
        for (name, client, peer) in [(names[0], pair[0], pair[1]), (names[1], pair[1], pair[0])] {
            guard client.lines.first == .sendReceive else {
                throw ExplorationFault("nobody holds, and \(name) is not in call", path)
            }
            guard client.lines.count > 1, let picture = client.lines[1], peer.lines.count > 1 else { continue }
            guard picture.sends == client.isFilming else {
                throw ExplorationFault(
                    "\(name) \(client.isFilming ? "films and does not send" : "sends and does not film")", path)
            }
        }
    }

    static func words(_ lines: [MediaDirection?]) -> String {
        lines.map { $0?.rawValue ?? "rejected" }.joined(separator: " + ")
    }

    /// A client that audits and then stops is missed, whatever its call is doing; while ends change hands, by whoever
    /// gets them.
    func checkSilence() throws {
        let now = world.clock.now
        for (id, call) in world.calls where !world.ended.contains(id) {
            guard case .answered(let answered) = call.state, answered.operation?.isHandover != true else { continue }
            for leg in call.legs where leg.isTalkingNow && !leg.party.isApplication {
                let silent = try Self.audited(call, by: leg.id, at: now)
                guard let deadline = silent.nextDeadline, deadline.time <= now + .seconds(91) else {
                    throw ExplorationFault("nobody would miss \(leg.party.session) in call \(id)", path)
                }
            }
        }
    }

    /// Whoever waits for no answer to an offer of its own holds where its call says so, whoever has the leg by then.
    private func checkHolds() throws {
        for (name, client) in clients where client.knowsItsHold {
            guard let leg = place(of: name)?.leg, leg.isTalkingNow, holder(of: leg) == name else { continue }
            guard leg.holds == client.isHolding else {
                throw ExplorationFault(
                    "\(name) \(client.isHolding ? "holds" : "does not hold"), and its call says otherwise", path)
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

    /// Whether whoever has the leg holds: its client says so, or its application has.
    private func isHolding(_ leg: CallLeg) -> Bool {
        leg.party.isApplication ? leg.holds : clients[holder(of: leg)]?.isHolding ?? false
    }

    /// Everyone resumed means in call, in every call.
    private func checkStates() throws {
        for (id, call) in world.calls where !world.ended.contains(id) {
            let talking = call.legs.filter(\.isTalkingNow)
            if talking.contains(where: { clients[holder(of: $0)]?.isAstray == true }) { continue }
            for leg in talking {
                let own = isHolding(leg)
                let others = id != Self.conference && talking.contains { $0.id != leg.id && isHolding($0) }
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
