import CallControl
import CallSupport
import Primitives
import SDP
import TestSupport

/// How a step is carried out.
extension CallExplorer {
    mutating func carryOut(_ step: Step) throws(CallError) {
        switch step {
        case .hold(let name): try offer(name) { $0.isHolding.toggle() }
        case .video(let name): try offer(name) { $0.isFilming.toggle() }
        case .ask(let name):
            try act(name) { call, leg, random, now throws(CallError) in
                try call.offer(by: leg, CallUpdateRequest(sdp: ""), at: now, random: &random)
            }
            clients[name]?.isAsking = true
        case .move(let name):
            let former = clients[name]
            clients[name] = newClient(name)
            do throws(CallError) { try offer(name) { _ in } } catch {
                clients[name] = former
                throw error
            }
        case .answer(let name): try answer(name)
        case .end(let name), .finish(let name):
            try act(name) { call, leg, _, now throws(CallError) in
                let party = call[leg]?.party
                let device = Self.device(name) ?? party?.devices.first?.subscription
                return try call.end(
                    by: leg, from: party?.isApplication == true ? nil : device, reasonText: nil, at: now)
            }
            clients[name] = nil
        case .transfer: try transfer(by: "A1")
        case .hand(let name): try transfer(by: name)
        case .consult: try consult()
        case .join: try join()
        case .accept(let name):
            try act(name) { call, leg, random, now throws(CallError) in
                try call.answer(by: leg, CallAnswerRequest(sdp: ""), at: now, random: &random)
            }
        case .command(let name):
            try act(name) { call, leg, random, now throws(CallError) in
                try call.perform(.hold(call[leg]?.holds == false), by: leg, at: now, random: &random)
            }
        case .pickUp(let name, let isFilming): try pickUp(name, isFilming: isFilming)
        case .decline(let name):
            try act(name) { call, leg, random, now throws(CallError) in
                guard call[leg]?.party.isApplication != true else {
                    return try call.perform(.refuse(.busy), by: leg, at: now, random: &random)
                }
                return try call.reject(
                    by: leg, from: Self.device(name), replacement: name == Self.replacement, at: now)
            }
            clients[name] = nil
        case .deliver(let place): world.deliver(place)
        case .audit:
            for (id, call) in world.calls where !world.ended.contains(id) {
                for leg in call.legs where !leg.party.isApplication {
                    _ = try Self.audited(call, by: leg.id, at: world.clock.now)
                }
            }
        case .hear: break
        case .neglect(let name): clients[name]?.neglect()
        case .wait:
            // A client that puts its own offer aside answers within `Exchange.settlingTime`, or never.
            for (name, client) in clients where client.offered != nil && (client.putAside > 0 || client.hasYielded) {
                clients[name]?.neglect()
            }
            // What it has not answered after two time-outs a client never answers.
            for (name, client) in clients where client.isAnswering && !isNearDeadline {
                if client.lateness == 0 { clients[name]?.lateness = 1 } else { clients[name]?.neglect() }
            }
            world.passTime()
        }
    }

    static let daveAddress = UserAddress(parsing: "dave@example.com")!

    /// The call after two audits of an end, now and a second later. Not in its place: its timers would tell apart
    /// states that are one.
    static func audited(_ call: Call, by leg: LegID, at now: MonotonicTime) throws(CallError) -> Call {
        var call = call
        for time in [now, now + .seconds(1)] { try call.audit(by: leg, at: time) }
        return call
    }

    private mutating func offer(_ name: SessionID, _ change: (inout Client) -> Void) throws(CallError) {
        guard var client = clients[name] else { throw .noSuchCall }
        let (wasHolding, wasFilming) = (client.isHolding, client.isFilming)
        change(&client)
        let lines = client.offer()
        let request = CallUpdateRequest(sdp: description(name, lines))
        try act(name) { call, leg, random, now throws(CallError) in
            guard let device = Self.device(name) else {
                return try call.offer(by: leg, request, at: now, random: &random)
            }
            return try call.offer(
                by: leg, request, from: Device(device, sendsRingingFeedback: true), at: now, random: &random)
        }
        client.open = Client.Open(lines: lines, wasHolding: wasHolding, wasFilming: wasFilming)
        client.said = lines
        clients[name] = client
    }

    private mutating func answer(_ name: SessionID) throws(CallError) {
        guard var client = clients[name] else { throw .noSuchCall }
        let lines = client.offered.map { client.answer(to: $0) } ?? client.offer()
        let request = CallUpdateRequest(
            sdp: description(name, lines, setup: client.isAsked ? "actpass" : "active"))
        try act(name) { call, leg, random, now throws(CallError) in
            try call.checkAnswers(for: leg, from: Self.device(name))
            return try call.respond(by: leg, request, at: now, random: &random)
        }
        if client.isAsked {
            client.open = Client.Open(lines: lines, wasHolding: client.isHolding, wasFilming: client.isFilming)
            client.catchUp()
            (client.said, client.isAsked, client.lateness) = (lines, false, 0)
        } else {
            client.apply(lines)
        }
        clients[name] = client
    }

    private mutating func transfer(by name: SessionID) throws(CallError) {
        let devices = Self.devices.filter {
            $0.name == Self.dave || $0.session == Self.dave && scope.contains(.moving)
        }
        let party = CallParty(
            user: Self.daveAddress, name: "Dave", session: Self.dave,
            endpoint: applications.contains(Self.dave)
                ? .application(.silence) : .devices(devices.map { Device($0.device, sendsRingingFeedback: true) }))
        try act(name) { call, leg, random, now throws(CallError) in
            try call.checkTransfer(by: leg)
            let target = CallTarget(leg: call.takeLeg(), party: party, identity: CallRig.identity("gwdave"))
            return try call.transfer(by: leg, to: target, at: now, random: &random)
        }
    }

    /// Asks what the placement of a consultative transfer asks (`ConsultationPlacement`), in its order.
    private mutating func consult() throws(CallError) {
        let carol = world.calls[Self.toCarol]?.replaceableParty(talkingTo: .caller)
        try act("A1") { call, leg, random, now throws(CallError) in
            if call.isInProgress(.consultation(leg, Self.toCarol)) { return [] }
            guard call.replaceableParty(talkingTo: leg) != nil, let carol else {
                return try call.consult(by: leg, with: MidCallRig.carol, in: Self.toCarol, at: now, random: &random)
            }
            let party = CallParty(
                user: carol.user, name: carol.name, session: Self.replacement, devices: carol.devices)
            let target = CallTarget(
                leg: call.takeLeg(), party: party, identity: CallRig.identity("gwreplaced"),
                replacing: ReplacedCall(call: Self.toCarol, keeper: .caller, session: carol.session))
            return try call.transfer(by: leg, to: target, at: now, random: &random)
        }
    }

    private mutating func join() throws(CallError) {
        let isApplication = applications.contains("A3")
        let joiner = CallParty(
            user: MidCallRig.alice, name: "Alice", session: "A3",
            endpoint: isApplication ? .application(.silence) : .devices([Device("a1")]))
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        var client = newClient("A3")
        let request = CallUpdateRequest(sdp: isApplication ? "" : description("A3", client.lines))
        world.add(
            Self.aged(Call(id: Self.conference, joiner: joiner, configuration: configuration)), keeper: .caller)
        let identity = isApplication ? nil : CallRig.identity("gwjoin")
        try world.act(Self.conference) { call, random, now throws(CallError) in
            try call.join([Self.toBob, Self.toCarol], request, identity: identity, at: now, random: &random)
        }
        guard !isApplication else { return }
        client.open = Client.Open(lines: client.lines, wasHolding: false, wasFilming: false)
        clients["A3"] = client
    }

    private mutating func pickUp(_ name: SessionID, isFilming: Bool) throws(CallError) {
        guard var client = clients[name], let invitation = client.invitation else { throw .noSuchCall }
        client.isFilming = isFilming
        let lines = client.answer(to: invitation)
        let request = CallAnswerRequest(
            sdp: description(name, lines, setup: "active"), acceptsReplacement: name == Self.replacement)
        try act(name) { call, leg, random, now throws(CallError) in
            try call.answer(by: leg, request, from: Self.device(name), at: now, random: &random)
        }
        client.apply(lines)
        clients[name] = client
    }

    private mutating func act(
        _ name: SessionID,
        _ change: (inout Call, LegID, inout SeededRandomSource, MonotonicTime) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        guard let place = place(of: name) else { throw .noSuchCall }
        try world.act(place.call) { call, random, now throws(CallError) in
            try change(&call, place.leg.id, &random, now)
        }
    }

    private func description(_ name: SessionID, _ lines: [MediaDirection?], setup: String = "actpass") -> String {
        let names = ["A1": "caller", "A2": "caller", "B": "callee", "C": "callee"]
        return ScriptedDescription.session(
            names[name.rawValue] ?? "peer-\(name)", lines, setup: setup, version: path.count + 1,
            peer: Self.session(of: name) == name ? 1 : 2)
    }

    // MARK: Refusals

    /// Whether what a client says is wrong because of what it does not know.
    func isLate(_ step: Step, _ error: CallError) -> Bool {
        switch step {
        // It has put m-lines aside that the gateway knows of, and has not answered what it was offered instead.
        case .hold(let name), .video(let name): clients[name]?.isAstray == true
        // An answer that comes after more than a time-out was to another offer. An offer that was asked for may come
        // when another one waits for its answer: it is none, and says so in `a=setup` (RFC 5763 §5).
        case .answer(let name):
            if case .malformedDescription = error {
                clients[name].map { $0.isAsked || $0.isBehind } ?? false
            } else {
                false
            }
        default: false
        }
    }

    /// Nobody waits for what it says any more: it goes by what there was.
    mutating func refuseAnswer(of name: SessionID) throws {
        if let client = clients[name], client.offered != nil, !client.isBehind,
            place(of: name)?.leg.isTalkingNow == true
        {
            throw ExplorationFault("\(name) answers what it was offered, and is refused", path)
        }
        clients[name]?.neglect()
    }
}
