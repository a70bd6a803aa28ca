import CallControl
import Primitives
import SDP
import TestSupport

/// Walks what a call of Alice with Bob, and with Dave in her place once she has transferred Bob to him, goes through when cameras come and go:
/// m-lines that are added and refused, answers that only receive, holds of every stream, offers that are asked for (slow start), offers that
/// meet, and answers that come late or never.
///
/// So many requests and time-outs are made besides what answers them. Notifications come in the order in which they were sent, and before any
/// time-out; clients answer what they are offered when everything else has happened, or never. Who hangs up when is `CallExplorer`'s.
struct VideoExplorer: Explorable {
    enum Step: Hashable, Sendable, CustomStringConvertible {
        case hold(SessionID)
        /// Its camera goes on or off.
        case video(SessionID)
        /// Asks the other for an offer.
        case ask(SessionID)
        /// Says what it was asked for: an answer, or an offer.
        case answer(SessionID)
        /// The client does not answer.
        case neglect(SessionID)
        case hear(SessionID)
        case transfer
        /// Dave answers, with his camera on or off.
        case pickUp(isFilming: Bool)
        case decline
        case wait

        var description: String {
            switch self {
            case .hold(let session): "hold \(session)"
            case .video(let session): "video \(session)"
            case .ask(let session): "ask \(session)"
            case .answer(let session): "answer \(session)"
            case .neglect(let session): "\(session) neglects"
            case .hear(let session): "\(session) hears"
            case .transfer: "transfer"
            case .pickUp(let isFilming): isFilming ? "pick up with video" : "pick up"
            case .decline: "decline"
            case .wait: "wait"
            }
        }

        /// Follows from what was asked for before.
        var isReaction: Bool {
            switch self {
            case .answer, .neglect, .hear, .pickUp, .decline: true
            case .hold, .video, .ask, .transfer, .wait: false
            }
        }
    }

    static let id = CallID(1)
    static let (alice, bob, dave): (SessionID, SessionID, SessionID) = ("A1", "B", "D")

    let dialects: [SessionID: HoldDialect]
    /// Dave's phone may have no screen.
    let daveSeesVideo: Bool
    /// Whether clients put their own offer aside for one that meets it (RFC 8829 §4.1.10.2), or pay no heed to that one.
    let yields: Bool
    /// Requests of users and time-outs that may still come.
    private(set) var requests: Int
    private(set) var world = CallWorld()
    private(set) var clients: [SessionID: Client] = [:]
    private(set) var path: [Step] = []

    /// From a call that has come so far.
    init(
        alice: HoldDialect, others: HoldDialect, daveSeesVideo: Bool = true, yields: Bool = true, prepared: [Step],
        requests: Int
    ) throws {
        dialects = [Self.alice: alice, Self.bob: others, Self.dave: others]
        self.daveSeesVideo = daveSeesVideo
        self.yields = yields
        self.requests = .max
        world.add(try MidCallRig(id: Self.id.rawValue, alice, others, session: Self.bob).call, keeper: .caller)
        for session in [Self.alice, Self.bob] { clients[session] = Client(dialect: dialects[session] ?? .inactive) }
        for step in prepared {
            guard try take(step) else { throw ExplorationFault("\(step) cannot be taken", path) }
            try check()
        }
        self.requests = requests
    }

    var call: Call? { world.calls[Self.id] }

    func leg(of session: SessionID) -> CallLeg? {
        world.ended.isEmpty ? call?.legs.first { $0.party.session == session } : nil
    }

    // MARK: Steps

    var steps: [Step] {
        var steps: [Step] = []
        for (session, client) in clients.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let isAnswering = client.offered != nil || client.isAsked
            // It takes one thing after the other.
            if !client.mail.isEmpty, !isAnswering { steps.append(.hear(session)) }
            guard let leg = leg(of: session), !client.isOver else { continue }
            if leg.stage == .ringing {
                guard client.invitation != nil else { continue }
                steps += [.pickUp(isFilming: false), .decline] + (client.seesVideo ? [.pickUp(isFilming: true)] : [])
            } else if isAnswering {
                steps += [.answer(session), .neglect(session)]
            } else if client.open == nil, !client.isAsking, client.putAside == 0 {
                steps += [.hold(session), .ask(session)]
                if client.mayFilm { steps.append(.video(session)) }
            }
        }
        if leg(of: Self.alice)?.stage == .talking, clients[Self.dave] == nil { steps.append(.transfer) }
        let hasHeard = clients.values.allSatisfy { $0.mail.isEmpty || $0.offered != nil || $0.isAsked }
        if hasHeard, world.ended.isEmpty, call?.nextDeadline != nil { steps.append(.wait) }
        return requests > 0 ? steps : steps.filter { $0.isReaction || $0 == .wait && isNearDeadline }
    }

    /// Returns whether the step was taken; a refused one has changed nothing.
    mutating func take(_ step: Step) throws -> Bool {
        path.append(step)
        let before = world.calls
        let isShortWait = step == .wait && isNearDeadline
        do throws(CallError) {
            if case .hear = step {} else { try carryOut(step) }
        } catch {
            guard error.isOfState || isLateOffer(step, error) else {
                throw ExplorationFault("\(step) is refused for no reason of the call's: \(error)", path)
            }
            guard before == world.calls else { throw ExplorationFault("a refused step changed something", path) }
            guard case .answer(let session) = step else { return false }
            try refuseAnswer(of: session)
            return true
        }
        if case .hear(let session) = step { try hear(session) }
        if !step.isReaction, !isShortWait { requests -= 1 }
        try spread()
        return true
    }

    private mutating func carryOut(_ step: Step) throws(CallError) {
        switch step {
        case .hold(let session): try offer(session) { $0.isHolding.toggle() }
        case .video(let session): try offer(session) { $0.isFilming.toggle() }
        case .ask(let session):
            try act(session) { call, leg, random, now throws(CallError) in
                try call.offer(by: leg, CallUpdateRequest(sdp: ""), at: now, random: &random)
            }
            clients[session]?.isAsking = true
        case .answer(let session): try answer(session)
        case .neglect(let session): clients[session]?.neglect()
        case .hear: break
        case .transfer:
            let party = CallParty(
                user: UserAddress(parsing: "dave@example.com")!, name: "Dave", session: Self.dave,
                devices: [Device("D", sendsRingingFeedback: true)])
            try act(Self.alice) { call, leg, random, now throws(CallError) in
                try call.checkTransfer(by: leg)
                let target = CallTarget(leg: call.takeLeg(), party: party, identity: CallRig.identity("gwdave"))
                return try call.transfer(by: leg, to: target, at: now, random: &random)
            }
        case .pickUp(let isFilming):
            guard var client = clients[Self.dave], let invitation = client.invitation else { throw .noSuchCall }
            client.isFilming = isFilming
            let lines = client.answer(to: invitation)
            let text = ScriptedDescription.session(Self.name(Self.dave), lines, setup: "active", version: path.count)
            try act(Self.dave) { call, leg, random, now throws(CallError) in
                try call.answer(by: leg, CallAnswerRequest(sdp: text), at: now, random: &random)
            }
            client.apply(lines)
            client.invitation = nil
            clients[Self.dave] = client
        case .decline:
            try act(Self.dave) { call, leg, _, now throws(CallError) in try call.reject(by: leg, at: now) }
            clients[Self.dave]?.isOver = true
        case .wait:
            // A client that puts its own offer aside answers soon, or never.
            for (session, client) in clients where client.offered != nil && client.putAside > 0 {
                clients[session]?.neglect()
            }
            // What it has not answered after two time-outs a client never answers.
            for (session, client) in clients where !isNearDeadline && (client.offered != nil || client.isAsked) {
                if client.lateness == 0 { clients[session]?.lateness = 1 } else { clients[session]?.neglect() }
            }
            world.passTime()
        }
    }

    /// What the call waits for comes in seconds: no client takes that long to answer if it answers at all.
    private var isNearDeadline: Bool {
        guard let next = call?.nextDeadline else { return false }
        return next.time <= world.clock.now + .seconds(3)
    }

    private mutating func offer(_ session: SessionID, _ change: (inout Client) -> Void) throws(CallError) {
        guard var client = clients[session] else { throw .noSuchCall }
        let former = Client.Open(lines: [], wasHolding: client.isHolding, wasFilming: client.isFilming)
        change(&client)
        let lines = client.offer()
        let text = ScriptedDescription.session(Self.name(session), lines, version: path.count + 1)
        try act(session) { call, leg, random, now throws(CallError) in
            try call.offer(by: leg, CallUpdateRequest(sdp: text), at: now, random: &random)
        }
        client.open = Client.Open(lines: lines, wasHolding: former.wasHolding, wasFilming: former.wasFilming)
        client.said = lines
        clients[session] = client
    }

    private mutating func answer(_ session: SessionID) throws(CallError) {
        guard var client = clients[session] else { throw .noSuchCall }
        let lines = client.offered.map { client.answer(to: $0) } ?? client.offer()
        let setup = client.isAsked ? "actpass" : "active"
        let text = ScriptedDescription.session(Self.name(session), lines, setup: setup, version: path.count + 1)
        try act(session) { call, leg, random, now throws(CallError) in
            try call.respond(by: leg, CallUpdateRequest(sdp: text), at: now, random: &random)
        }
        if client.isAsked {
            client.open = Client.Open(lines: lines, wasHolding: client.isHolding, wasFilming: client.isFilming)
            client.catchUp()
            (client.said, client.isAsked, client.lateness) = (lines, false, 0)
        } else {
            client.apply(lines)
        }
        clients[session] = client
    }

    /// An offer that was asked for comes when another one waits for its answer: it is none, and says so in `a=setup` (RFC 5763 §5).
    private func isLateOffer(_ step: Step, _ error: CallError) -> Bool {
        // It has put m-lines aside that the gateway knows of, and has not answered what it was offered instead.
        if case .hold(let session) = step, clients[session]?.isAstray == true { return true }
        if case .video(let session) = step, clients[session]?.isAstray == true { return true }
        guard case .answer(let session) = step, case .malformedDescription = error else { return false }
        return clients[session].map { $0.isAsked || $0.isBehind } ?? false
    }

    /// Nobody waits for what it says any more: it goes by what there was.
    private mutating func refuseAnswer(of session: SessionID) throws {
        if let client = clients[session], client.offered != nil, !client.isBehind,
            leg(of: session)?.isTalkingNow == true
        {
            throw ExplorationFault("\(session) answers what it was offered, and is refused", path)
        }
        clients[session]?.neglect()
    }

    private mutating func act(
        _ session: SessionID,
        _ change: (inout Call, Leg, inout SeededRandomSource, MonotonicTime) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        guard let leg = leg(of: session) else { throw .noSuchCall }
        try world.act(Self.id) { call, random, now throws(CallError) in try change(&call, leg.id, &random, now) }
    }

    private static func name(_ session: SessionID) -> String { [alice: "caller", bob: "callee"][session] ?? "dave" }

    // MARK: What clients are told

    private mutating func spread() throws {
        for notification in world.takeNotifications() {
            guard let session = notification.session, let news = try News(notification) else { continue }
            if case .called = news {
                var client = Client(dialect: dialects[session] ?? .inactive)
                client.seesVideo = daveSeesVideo
                clients[session] = client
            }
            clients[session]?.mail.append(news)
        }
    }

    private mutating func hear(_ session: SessionID) throws {
        guard var client = clients[session], !client.mail.isEmpty else { return }
        let news = client.mail.removeFirst()
        if let fault = client.hear(news, yields: yields) { throw ExplorationFault("\(session) \(fault)", path) }
        if client.mail.isEmpty, client.offered == nil { client.isCatchingUp = false }
        clients[session] = client
    }
}
