import CallControl
import Primitives
import SDP
import TestSupport

/// Walks everything that two calls of one user can go through: Alice talks to Bob and to Carol, and Dave can be rung.
///
/// A state is what the calls are in, what is on its way between them, and what the clients believe; states that differ only in version
/// numbers count as one.
struct CallExplorer: Explorable {
    enum Step: Hashable, Sendable, CustomStringConvertible {
        case hold(SessionID)
        case answer(SessionID)
        case end(SessionID)
        case transfer
        case consult
        case join
        case pickUp
        case decline
        case deliver(Int)
        case wait

        var description: String {
            switch self {
            case .hold(let session): "hold \(session)"
            case .answer(let session): "answer \(session)"
            case .end(let session): "end \(session)"
            case .transfer: "transfer"
            case .consult: "consult"
            case .join: "join"
            case .pickUp: "pick up"
            case .decline: "decline"
            case .deliver(let place): "deliver #\(place)"
            case .wait: "wait"
            }
        }
    }

    /// What a client believes of its session.
    struct Client: Hashable, Sendable {
        var isHolding = false
        /// It has offered, and what it was before.
        var holdingBefore: Bool?
        /// It was offered this.
        var offered: MediaDirection?
        /// It was told that this is over.
        var farewells = 0
    }

    static let (toBob, toCarol, conference) = (CallID(1), CallID(2), CallID(3))
    static let dave = SessionID("D")

    let dialects: [SessionID: HoldDialect]
    /// Only what concerns the call to Bob, and Dave.
    let isFocused: Bool
    private(set) var world = CallWorld()
    private(set) var clients: [SessionID: Client] = [:]
    private(set) var path: [Step] = []

    init(alice: HoldDialect, others: HoldDialect, isFocused: Bool = false) throws {
        self.isFocused = isFocused
        dialects = ["A1": alice, "A2": alice, "A3": alice, "B": others, "C": others, "D": others]
        world.add(try MidCallRig(id: 1, alice, others, session: "B").call, keeper: .caller)
        let sessions: [SessionID] = isFocused ? ["A1", "B"] : ["A1", "A2", "B", "C"]
        for session in sessions { clients[session] = Client() }
        guard !isFocused else { return }
        world.add(try MidCallRig(id: 2, alice, others, bob: MidCallRig.carol, session: "C").call, keeper: .caller)
    }

    // MARK: Where things are

    func place(of session: SessionID) -> (call: CallID, leg: CallLeg)? {
        for (id, call) in world.calls where !world.ended.contains(id) {
            // While ends change hands, the taker has them already.
            if let leg = call.legs.first(where: { $0.party.session == session }), !isGiven(session, by: id) { return (id, leg) }
        }
        return nil
    }

    private func isGiven(_ session: SessionID, by call: CallID) -> Bool {
        world.messages.contains { message in
            if message.to == call, case .taken(_, let legs, _) = message.content { legs.contains { $0.session == session } } else { false }
        }
    }

    var isQuiet: Bool {
        world.messages.isEmpty && clients.values.allSatisfy { $0.offered == nil && $0.holdingBefore == nil }
            && world.calls.values.allSatisfy { call in
                switch call.state {
                case .answered(let answered): answered.operation == nil
                case .joining: false
                case .initial, .unanswered, .ended: true
                }
            }
    }

    /// Everything that tells states apart.
    var key: String {
        var parts: [String] = []
        for (id, call) in world.calls.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let legs = call.legs.map { leg in
                let stage = if case .completed = leg.stage { "completed" } else { "\(leg.stage)" }
                return "\(leg.id.number)\(leg.party.session)\(stage)\(leg.holds ? "h" : "")\(leg.isStable ? "" : "o")\(leg.awaitsAnswer ? "w" : "")"
            }
            let state =
                switch call.state {
                case .initial: "initial"
                case .unanswered: "unanswered"
                case .joining(let joining): "joining \(joining.received.count)"
                case .answered(let answered): answered.operation?.word ?? "answered"
                case .ended: "ended"
                }
            parts.append("\(id):\(state):\(legs.joined(separator: ","))")
        }
        parts += world.messages.map { "\($0.to)\($0.content.word)" }
        parts += clients.sorted { $0.key.rawValue < $1.key.rawValue }.map { session, client in
            "\(session)\(client.isHolding)\(client.holdingBefore.map { "\($0)" } ?? "-")\(client.offered?.rawValue ?? "-")\(client.farewells)"
        }
        return parts.joined(separator: "|")
    }

    // MARK: Steps

    var steps: [Step] {
        var steps: [Step] = []
        for (session, client) in clients.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            guard let place = place(of: session), client.farewells == 0 || place.leg.isCompleted else { continue }
            if place.leg.stage == .ringing {
                steps += [.pickUp, .decline]
                continue
            }
            if client.offered != nil { steps.append(.answer(session)) } else if client.holdingBefore == nil { steps.append(.hold(session)) }
            steps.append(.end(session))
        }
        if place(of: "A1")?.leg.stage == .talking, clients[Self.dave] == nil { steps.append(.transfer) }
        if place(of: "A1")?.leg.stage == .talking, place(of: "A2")?.leg.stage == .talking {
            steps.append(.consult)
            if clients["A3"] == nil { steps.append(.join) }
        }
        var receivers: Set<CallID> = []
        for (place, message) in world.messages.enumerated() where receivers.insert(message.to).inserted { steps.append(.deliver(place)) }
        if world.calls.values.contains(where: { $0.nextDeadline != nil }) { steps.append(.wait) }
        return steps
    }

    /// Returns whether the step was taken; a refused one has changed nothing.
    mutating func take(_ step: Step) throws -> Bool {
        path.append(step)
        let before = world.calls
        do throws(CallError) {
            try carryOut(step)
        } catch {
            guard error.isOfState else { throw ExplorationFault("\(step) is refused for no reason of the call's: \(error)", path) }
            guard before == world.calls else { throw ExplorationFault("a refused step changed something", path) }
            return false
        }
        try hear()
        return true
    }

    private mutating func carryOut(_ step: Step) throws(CallError) {
        let version = path.count + 1
        switch step {
        case .hold(let session):
            let place = try found(session)
            let client = clients[session] ?? Client()
            let direction = client.isHolding ? .sendReceive : dialect(session).hold(whileHeld: isHeld(session))
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.offer(by: place.leg.id, Self.request(session, direction, "actpass", version), at: now, random: &random)
            }
            clients[session]?.holdingBefore = client.isHolding
            clients[session]?.isHolding.toggle()
        case .answer(let session):
            let place = try found(session)
            guard let client = clients[session], let offered = client.offered else { throw .noSuchCall }
            let direction = dialect(session).answer(to: offered, holding: client.isHolding)
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.respond(by: place.leg.id, Self.request(session, direction, "active", version), at: now, random: &random)
            }
            clients[session]?.offered = nil
        case .end(let session):
            let place = try found(session)
            try world.act(place.call) { call, _, now throws(CallError) in try call.end(by: place.leg.id, reasonText: nil, at: now) }
            clients[session] = nil
        case .transfer:
            let place = try found("A1")
            let party = CallParty(
                user: UserAddress(parsing: "dave@example.com")!, name: "Dave", session: Self.dave,
                devices: [Device("D", sendsRingingFeedback: true)])
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.checkTransfer(by: place.leg.id)
                let target = CallTarget(leg: call.takeLeg(), party: party, identity: CallRig.identity("gwdave"))
                return try call.transfer(by: place.leg.id, to: target, at: now, random: &random)
            }
        case .consult:
            let place = try found("A1")
            try world.act(place.call) { call, _, now throws(CallError) in try call.consult(by: place.leg.id, with: Self.toCarol, at: now) }
        case .join:
            let joiner = CallParty(user: MidCallRig.alice, name: "Alice", session: "A3", devices: [Device("a1")])
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            world.add(Call(id: Self.conference, joiner: joiner, configuration: configuration), keeper: .caller)
            try world.act(Self.conference) { call, random, now throws(CallError) in
                try call.join(
                    [Self.toBob, Self.toCarol], Self.request("A3", .sendReceive, "actpass", version), identity: CallRig.identity("gwjoin"),
                    at: now, random: &random)
            }
            clients["A3"] = Client()
        case .pickUp:
            let place = try found(Self.dave)
            try world.act(place.call) { call, random, now throws(CallError) in
                let text = ScriptedDescription.audio("dave", .sendReceive, setup: "active")
                return try call.answer(by: place.leg.id, CallAnswerRequest(sdp: text), at: now, random: &random)
            }
        case .decline:
            let place = try found(Self.dave)
            try world.act(place.call) { call, _, now throws(CallError) in try call.reject(by: place.leg.id, at: now) }
            clients[Self.dave] = nil
        case .deliver(let place): world.deliver(place)
        case .wait: world.passTime()
        }
    }

    private func found(_ session: SessionID) throws(CallError) -> (call: CallID, leg: CallLeg) {
        guard let place = place(of: session) else { throw .noSuchCall }
        return place
    }

    private func dialect(_ session: SessionID) -> HoldDialect { dialects[session] ?? .inactive }

    private func isHeld(_ session: SessionID) -> Bool {
        guard let place = place(of: session), let state = world.calls[place.call]?.legState(place.leg.id) else { return false }
        return state == .remotelyHeld || state == .onDoubleHold
    }

    private static func request(_ session: SessionID, _ direction: MediaDirection, _ setup: String, _ version: Int) -> CallUpdateRequest {
        let names = ["A1": "caller", "A2": "caller", "B": "callee", "C": "callee", "D": "dave"]
        return CallUpdateRequest(sdp: ScriptedDescription.audio(names[session.rawValue] ?? "alice", direction, setup: setup, version: version))
    }

    /// The clients take note of what they were told.
    private mutating func hear() throws {
        for notification in world.takeNotifications() {
            guard let session = notification.session else { continue }
            switch notification.type {
            case .call: clients[session] = Client()
            case .startCallUpdate:
                // An offer of its own has lost.
                if let before = clients[session]?.holdingBefore { clients[session]?.isHolding = before }
                clients[session]?.holdingBefore = nil
                clients[session]?.offered = try ScriptedDescription.direction(notification.sdp ?? "")
            case .respondCallUpdate:
                if notification.outcome == .pending, let before = clients[session]?.holdingBefore { clients[session]?.isHolding = before }
                clients[session]?.holdingBefore = nil
            case .callEnd, .sessionComplete:
                clients[session]?.farewells += 1
                clients[session]?.offered = nil
                clients[session]?.holdingBefore = nil
                guard clients[session]?.farewells ?? 0 <= 1 else { throw ExplorationFault("\(session) was told twice that it is over", path) }
            case .sessionFail where session == "A3": clients["A3"]?.farewells += 1
            default: break
            }
        }
    }

    // MARK: What always holds

    func check() throws {
        for (id, call) in world.calls where !world.ended.contains(id) {
            if case .answered(let answered) = call.state, let operation = answered.operation, !operation.isHandover, call.nextDeadline == nil {
                throw ExplorationFault("an operation of call \(id) would never end", path)
            }
        }
        guard isQuiet else { return }
        for (id, call) in world.calls where !world.ended.contains(id) {
            for leg in call.legs where leg.isTalkingNow && clients[leg.party.session] == nil {
                throw ExplorationFault("\(leg.party.session) has left, and is in call \(id)", path)
            }
        }
        for (session, client) in clients where client.farewells == 0 {
            guard let place = place(of: session) else { throw ExplorationFault("\(session) was not told that it is over", path) }
            guard let call = world.calls[place.call] else { continue }
            try checkHearing(session, place.leg, call)
            guard place.leg.isTalkingNow else { continue }
            guard place.leg.holds == client.isHolding else {
                throw ExplorationFault("\(session) \(client.isHolding ? "holds" : "does not hold"), and its call says otherwise", path)
            }
        }
        try checkStates()
    }

    /// Everybody who talks hears somebody who is there.
    private func checkHearing(_ session: SessionID, _ leg: CallLeg, _ call: Call) throws {
        guard leg.isTalkingNow else { return }
        let others = call.legs.filter { $0.id != leg.id && $0.isTalkingNow }
        guard !others.isEmpty else { throw ExplorationFault("\(session) talks to nobody", path) }
        switch world.routes[call.id]?[leg.id] {
        case nil: throw ExplorationFault("\(session) hears nothing", path)
        case .mix?: break
        case .leg(let other)?: guard others.contains(where: { $0.id == other }) else { throw ExplorationFault("\(session) hears who has left", path) }
        case .silence?: throw ExplorationFault("\(session) hears silence", path)
        }
    }

    /// Everyone resumed means in call, in every call.
    private func checkStates() throws {
        for (id, call) in world.calls where !world.ended.contains(id) {
            let talking = call.legs.filter(\.isTalkingNow)
            for leg in talking {
                let own = clients[leg.party.session]?.isHolding ?? false
                let others = id != Self.conference && talking.contains { $0.id != leg.id && clients[$0.party.session]?.isHolding == true }
                let wanted: LegState =
                    switch (own, others) {
                    case (false, false): .inCall
                    case (true, false): .onHold
                    case (false, true): .remotelyHeld
                    case (true, true): .onDoubleHold
                    }
                guard call.legState(leg.id) == wanted else {
                    throw ExplorationFault("\(leg.party.session) sees \(call.legState(leg.id)), should see \(wanted)", path)
                }
            }
        }
    }
}

extension CallLeg {
    var isCompleted: Bool { if case .completed = stage { true } else { false } }
    var isTalkingNow: Bool { stage == .talking }
    var awaitsAnswer: Bool { answerDeadline != nil }
}

extension Call.Operation {
    /// Ends with a message that is certain to come.
    var isHandover: Bool { if case .handover = self { true } else { false } }

    var word: String {
        switch self {
        case .update(let update): "update \(update.offerer.number)>\(update.answerer.number)"
        case .transfer: "transfer"
        case .consultation: "consultation"
        case .handover(let handover): "handover \(handover.taker) \(handover.deferred.map { "\($0.leg.number)" }.joined())"
        }
    }
}

extension CallWorld.Message.Content {
    var word: String {
        switch self {
        case .requested(let call, _): "requested by \(call)"
        case .offered(let handover): "offered by \(handover.from)"
        case .refused(let call): "refused by \(call)"
        case .taken(let call, _, _): "taken by \(call)"
        case .declined(let call): "declined by \(call)"
        case .happened(let event, let leg): "happened \(event) \(leg.number)"
        }
    }
}
