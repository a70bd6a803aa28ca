import CallControl
import Primitives
import SDP
import TestSupport

/// Walks everything that answered calls of one user can go through: Alice talks to Bob and to Carol, and Dave can be
/// rung. Bob and Dave have two devices each. What goes on until a call is answered is `DeviceExplorer`'s.
///
/// Clients hear what they are told at once, and answer what they are offered whenever that may be. Where notifications
/// come late they come in the order in which they were sent, and clients answer when everything else has happened, or
/// never. They come before a time-out, though: the network is faster than 30 s.
///
/// From calls that are prepared, so many requests and time-outs are made besides what answers them and what the calls
/// say to each other: then the walk comes to an end, however long what follows from those takes.
///
/// A state is what the calls are in, what is on its way between them, and what the clients believe; states that differ
/// only in version numbers count as one.
struct CallExplorer: Explorable {
    enum Step: Hashable, Sendable, CustomStringConvertible {
        case hold(SessionID)
        case answer(SessionID)
        case end(SessionID)
        case transfer
        case consult
        case join
        case pickUp
        /// Dave's other device, to which the news has not come.
        case pickUpElsewhere
        case decline
        /// What was told first and has not been heard reaches the client.
        case hear(SessionID)
        /// The client does not answer what it was offered.
        case neglect(SessionID)
        case deliver(Int)
        /// Every client there is asks whether its call is.
        case audit
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
            case .pickUpElsewhere: "pick up elsewhere"
            case .hear(let session): "\(session) hears"
            case .neglect(let session): "\(session) neglects"
            case .decline: "decline"
            case .deliver(let place): "deliver #\(place)"
            case .audit: "audit"
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
        /// The direction of its own open offer.
        var offers: MediaDirection?
        /// The other keeps it waiting.
        var isHeld = false
        /// It has not answered an offer, or not in time, and does not know what holds.
        var isAstray = false
        /// Offers of its own that it has put aside for one that it was offered, whose answers are yet to come.
        var putAside = 0
        /// Time-outs since it was offered something.
        var lateness = 0
        /// It was told that this is over.
        var farewells = 0
        /// It was late, and has yet to hear what came meanwhile.
        var isCatchingUp = false
        /// What it has been told and has not heard.
        var mail: [News] = []
    }

    /// What a client makes of a notification.
    enum News: Hashable, Sendable {
        case called
        case offered(MediaDirection?)
        case answered(MediaDirection?)
        case timedOut
        case over
        case failed

        init?(_ notification: Notification) throws {
            let direction = try notification.sdp.flatMap(ScriptedDescription.direction)
            switch notification.type {
            case .call: self = .called
            case .startCallUpdate: self = .offered(direction)
            case .respondCallUpdate: self = notification.outcome == .pending ? .timedOut : .answered(direction)
            case .callEnd, .sessionComplete: self = .over
            case .sessionFail: self = .failed
            default: return nil
            }
        }
    }

    static let (toBob, toCarol, conference) = (CallID(1), CallID(2), CallID(3))
    static let dave = SessionID("D")

    let dialects: [SessionID: HoldDialect]
    /// Only what concerns the call to Bob, and Dave.
    let isFocused: Bool
    /// Whether clients that are offered something while their own offer waits put theirs aside (RFC 8829 §4.1.10.2), or pay no heed.
    let yields: Bool
    /// Requests of users and time-outs that may still come; `nil`: any number.
    private(set) var requests: Int?
    private(set) var world = CallWorld()
    private(set) var clients: [SessionID: Client] = [:]
    private(set) var path: [Step] = []

    init(alice: HoldDialect, others: HoldDialect, isFocused: Bool = false, yields: Bool = true) throws {
        self.isFocused = isFocused
        self.yields = yields
        dialects = ["A1": alice, "A2": alice, "A3": alice, "B": others, "C": others, "D": others]
        world.add(Self.aged(try MidCallRig(id: 1, alice, others, session: "B").call), keeper: .caller)
        let sessions: [SessionID] = isFocused ? ["A1", "B"] : ["A1", "A2", "B", "C"]
        for session in sessions { clients[session] = Client() }
        guard !isFocused else { return }
        world.add(
            Self.aged(try MidCallRig(id: 2, alice, others, bob: MidCallRig.carol, session: "C").call), keeper: .caller)
    }

    /// Many others have been rung in the call: it has come to the end of the numbers that one byte has.
    private static func aged(_ call: Call) -> Call {
        var call = call
        while call.takeLeg().number < UInt8.max {}
        return call
    }

    /// Two calls that have come so far, in which Dave is nobody's concern.
    init(alice: HoldDialect, others: HoldDialect, prepared: [Step], requests: Int) throws {
        try self.init(alice: alice, others: others)
        for step in prepared {
            guard try take(step) else { throw ExplorationFault("\(step) cannot be taken", path) }
            try check()
        }
        self.requests = requests
    }

    // MARK: Where things are

    func place(of session: SessionID) -> (call: CallID, leg: CallLeg)? {
        for (id, call) in world.calls where !world.ended.contains(id) {
            // While ends change hands, the taker has them already.
            if let leg = call.legs.first(where: { $0.party.session == session }), !isGiven(session, by: id) {
                return (id, leg)
            }
        }
        return nil
    }

    private func isGiven(_ session: SessionID, by call: CallID) -> Bool {
        world.messages.contains { message in
            if message.to == call, case .taken(_, let legs, _) = message.content {
                legs.contains { $0.session == session }
            } else {
                false
            }
        }
    }

    // MARK: Steps

    var steps: [Step] {
        guard let requests else { return allSteps }
        return allSteps.filter { step in
            // Messages between calls do not take as long as any time-out.
            step.isReaction
                || (requests > 0 || step == .wait && isNearDeadline) && step != .transfer
                    && (step != .wait || world.messages.isEmpty)
        }
    }

    private var allSteps: [Step] {
        var steps: [Step] = []
        for (session, client) in clients.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            // It takes one thing after the other.
            if !client.mail.isEmpty, client.offered == nil { steps.append(.hear(session)) }
            guard let place = place(of: session), client.farewells == 0 || place.leg.isCompleted else { continue }
            if place.leg.stage == .ringing {
                if client.mail.isEmpty { steps += [.pickUp, .decline] }
                continue
            }
            if session == Self.dave { steps.append(.pickUpElsewhere) }
            if client.offered != nil {
                steps += isFocused ? [.answer(session), .neglect(session)] : [.answer(session)]
            } else if client.holdingBefore == nil, client.putAside == 0 {
                steps.append(.hold(session))
            }
            steps.append(.end(session))
        }
        if place(of: "A1")?.leg.stage == .talking, clients[Self.dave] == nil { steps.append(.transfer) }
        if place(of: "A1")?.leg.stage == .talking, place(of: "A2")?.leg.stage == .talking {
            steps.append(.consult)
            if world.calls[Self.conference] == nil { steps.append(.join) }
        }
        var receivers: Set<CallID> = []
        for (place, message) in world.messages.enumerated() where receivers.insert(message.to).inserted {
            steps.append(.deliver(place))
        }
        if world.ended.count < world.calls.count { steps.append(.audit) }
        let hasHeard = clients.values.allSatisfy { $0.mail.isEmpty || $0.offered != nil }
        if hasHeard, world.calls.values.contains(where: { $0.nextDeadline != nil }) { steps.append(.wait) }
        return steps
    }

    /// Returns whether the step was taken; a refused one has changed nothing.
    mutating func take(_ step: Step) throws -> Bool {
        path.append(step)
        let before = world.calls
        let isShortWait = step == .wait && isNearDeadline
        do throws(CallError) {
            try carryOut(step)
        } catch {
            guard error.isOfState || isLate(step, error), step != .audit else {
                throw ExplorationFault("\(step) is refused for no reason of the call's: \(error)", path)
            }
            guard before == world.calls else { throw ExplorationFault("a refused step changed something", path) }
            // Nobody waits for that answer any more.
            guard isFocused, case .answer(let session) = step else { return false }
            clients[session]?.catchUp()
            clients[session]?.applyOffer(isRefused: true)
            return true
        }
        if !step.isReaction, !isShortWait { requests = requests.map { $0 - 1 } }
        if step == .audit {
            try checkSilence()
            return false
        }
        if step == .pickUpElsewhere { throw ExplorationFault("two devices have answered", path) }
        try spread()
        return true
    }

    /// The call after two audits of an end, now and a second later. Not in its place: its timers would tell apart
    /// states that are one.
    static func audited(_ call: Call, by leg: Leg, at now: MonotonicTime) throws(CallError) -> Call {
        var call = call
        for time in [now, now + .seconds(1)] { try call.audit(by: leg, at: time) }
        return call
    }

    private mutating func carryOut(_ step: Step) throws(CallError) {
        let version = path.count + 1
        switch step {
        case .hold(let session):
            let place = try found(session)
            let client = clients[session] ?? Client()
            let direction = client.isHolding ? .sendReceive : dialect(session).hold(whileHeld: client.isHeld)
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.offer(
                    by: place.leg.id, Self.request(session, direction, "actpass", version), at: now, random: &random)
            }
            clients[session]?.holdingBefore = client.isHolding
            clients[session]?.offers = direction
            clients[session]?.isHolding.toggle()
        case .answer(let session):
            let place = try found(session)
            guard let client = clients[session], let offered = client.offered else { throw .noSuchCall }
            let direction = dialect(session).answer(to: offered, holding: client.isHolding)
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.respond(
                    by: place.leg.id, Self.request(session, direction, "active", version), at: now, random: &random)
            }
            clients[session]?.catchUp()
            clients[session]?.applyOffer()
        case .end(let session):
            let place = try found(session)
            try world.act(place.call) { call, _, now throws(CallError) in
                try call.end(by: place.leg.id, reasonText: nil, at: now)
            }
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
            try world.act(place.call) { call, random, now throws(CallError) in
                try call.consult(by: place.leg.id, with: MidCallRig.carol, in: Self.toCarol, at: now, random: &random)
            }
        case .join:
            let joiner = CallParty(user: MidCallRig.alice, name: "Alice", session: "A3", devices: [Device("a1")])
            var configuration = Call.Configuration()
            configuration.mediaPolicy = .engine
            world.add(
                Self.aged(Call(id: Self.conference, joiner: joiner, configuration: configuration)), keeper: .caller)
            try world.act(Self.conference) { call, random, now throws(CallError) in
                try call.join(
                    [Self.toBob, Self.toCarol], Self.request("A3", .sendReceive, "actpass", version),
                    identity: CallRig.identity("gwjoin"),
                    at: now, random: &random)
            }
            clients["A3"] = Client()
        case .pickUp:
            let place = try found(Self.dave)
            try world.act(place.call) { call, random, now throws(CallError) in
                let text = ScriptedDescription.audio("dave", .sendReceive, setup: "active")
                return try call.answer(by: place.leg.id, CallAnswerRequest(sdp: text), at: now, random: &random)
            }
        case .pickUpElsewhere:
            let place = try found(Self.dave)
            try world.act(place.call) { call, random, now throws(CallError) in
                let text = ScriptedDescription.audio("dave-elsewhere", .sendReceive, setup: "active")
                return try call.answer(by: place.leg.id, CallAnswerRequest(sdp: text), at: now, random: &random)
            }
        case .decline:
            let place = try found(Self.dave)
            try world.act(place.call) { call, _, now throws(CallError) in try call.reject(by: place.leg.id, at: now) }
            clients[Self.dave] = nil
        case .deliver(let place): world.deliver(place)
        case .audit:
            for (id, call) in world.calls where !world.ended.contains(id) {
                for leg in call.legs { _ = try Self.audited(call, by: leg.id, at: world.clock.now) }
            }
        case .hear(let session): hear(session)
        case .neglect(let session): neglect(session)
        case .wait:
            // A client that puts its own offer aside answers soon, or never.
            for (session, client) in clients where client.offered != nil && client.putAside > 0 { neglect(session) }
            // What it has not answered after two time-outs a client never answers.
            for (session, client) in clients where client.offered != nil && !isNearDeadline {
                if client.lateness == 0 { clients[session]?.lateness = 1 } else { neglect(session) }
            }
            world.passTime()
        }
    }

    /// An answer that comes after more than a time-out was to another offer.
    private func isLate(_ step: Step, _ error: CallError) -> Bool {
        guard case .answer(let session) = step, case .malformedDescription = error else { return false }
        return clients[session].map { $0.lateness > 0 || $0.isCatchingUp || $0.mail.contains(where: \.isOffer) }
            ?? false
    }

    private mutating func neglect(_ session: SessionID) {
        clients[session]?.isAstray = true
        clients[session]?.catchUp()
        clients[session]?.offered = nil
        clients[session]?.lateness = 0
    }

    private func found(_ session: SessionID) throws(CallError) -> (call: CallID, leg: CallLeg) {
        guard let place = place(of: session) else { throw .noSuchCall }
        return place
    }

    private func dialect(_ session: SessionID) -> HoldDialect { dialects[session] ?? .inactive }

    func isHeld(_ session: SessionID) -> Bool {
        guard let place = place(of: session), let state = world.calls[place.call]?.legState(place.leg.id) else {
            return false
        }
        return state == .remotelyHeld || state == .onDoubleHold
    }

    private static func request(_ session: SessionID, _ direction: MediaDirection, _ setup: String, _ version: Int)
        -> CallUpdateRequest
    {
        let names = ["A1": "caller", "A2": "caller", "B": "callee", "C": "callee", "D": "dave"]
        return CallUpdateRequest(
            sdp: ScriptedDescription.audio(
                names[session.rawValue] ?? "alice", direction, setup: setup, version: version))
    }

    /// What the calls wait for comes in seconds: no client takes that long to answer if it answers at all.
    private var isNearDeadline: Bool {
        guard let next = world.calls.values.compactMap(\.nextDeadline).map(\.time).min() else { return false }
        return next <= world.clock.now + .seconds(3)
    }

    /// What was told goes to the clients, which hear it at once or later.
    private mutating func spread() throws {
        for notification in world.takeNotifications() {
            guard let session = notification.session, let news = try News(notification) else { continue }
            if news == .called { clients[session] = Client() }
            guard clients[session] != nil, news != .failed || session == "A3" else { continue }
            clients[session]?.mail.append(news)
            while !isFocused, clients[session]?.mail.isEmpty == false { hear(session) }
            guard clients[session]?.isOverOnce == true else {
                throw ExplorationFault("\(session) was told twice that it is over", path)
            }
        }
    }

    private mutating func hear(_ session: SessionID) {
        guard var client = clients[session], !client.mail.isEmpty else { return }
        let before = client.holdingBefore
        let news = client.mail.removeFirst()
        if client.mail.isEmpty, !news.isOffer { client.isCatchingUp = false }
        switch news {
        case .called: break
        case .offered(let direction):
            if before != nil {
                // It has made an offer itself, and waits for its answer.
                guard yields else {
                    clients[session] = client
                    return
                }
                client.putAside += 1
            }
            client.isHolding = before ?? client.isHolding
            client.offered = direction
            client.lateness = 0
        case .answered(let direction):
            if client.putAside > 0 {
                client.putAside -= 1
                clients[session] = client
                return
            }
            if client.offers?.sends == true { client.isAstray = false }
            if client.offers?.sends == true, let direction { client.isHeld = !direction.receives }
        case .timedOut: client.isHolding = before ?? client.isHolding
        case .over:
            client.farewells += 1
            client.offered = nil
        case .failed: client.farewells += 1
        }
        (client.holdingBefore, client.offers) = (nil, nil)
        clients[session] = client
    }
}
