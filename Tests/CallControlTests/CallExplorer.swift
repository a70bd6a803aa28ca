import CallControl
import CallSupport
import Primitives
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
    /// What may happen.
    struct Scope: OptionSet, Sendable {
        let rawValue: Int

        /// Alice has a call with Carol besides the one with Bob, and may bring the two together.
        static let meeting = Scope(rawValue: 1)
        /// Somebody hangs up.
        static let leaving = Scope(rawValue: 2)
        /// Alice transfers Bob to Dave.
        static let transferring = Scope(rawValue: 4)
        /// Cameras come and go, and somebody asks for an offer (slow start).
        static let filming = Scope(rawValue: 8)
        /// Bob's call, or Dave's, goes to his other device.
        static let moving = Scope(rawValue: 16)
        /// Notifications come late, and answers may never come.
        static let late = Scope(rawValue: 32)
        /// Applications hold and resume.
        static let commanding = Scope(rawValue: 64)
        /// Applications that were called do what callers do: they hang up, and transfer whom they talk to to Dave.
        /// Those that are rung may refuse.
        static let serving = Scope(rawValue: 128)
        /// All clients list `replacecall`: Carol is asked to take a call in place of the one that she has. Otherwise
        /// her leg changes calls.
        static let replacing = Scope(rawValue: 256)

        static let oneCall: Scope = [.leaving, .transferring, .late]
        static let cameras: Scope = [.filming, .transferring, .late]
        static let twoCalls: Scope = [.meeting, .leaving, .transferring]
        static let heldCalls: Scope = [.meeting, .leaving]
        static let everything: Scope = [.meeting, .leaving, .transferring, .filming, .moving]
    }

    enum Step: Hashable, Sendable, CustomStringConvertible {
        case hold(SessionID)
        /// Its camera goes on or off.
        case video(SessionID)
        /// Asks the other for an offer.
        case ask(SessionID)
        /// This device takes over the call that another one of its user has.
        case move(SessionID)
        /// Says what it was asked for: an answer, or an offer.
        case answer(SessionID)
        case end(SessionID)
        case transfer
        case consult
        case join
        /// An application whose part of a call is done ends it.
        case finish(SessionID)
        /// An application answers the call that it is rung for.
        case accept(SessionID)
        /// An application that talks holds, or resumes.
        case command(SessionID)
        /// An application that was called transfers whom it talks to to Dave.
        case hand(SessionID)
        /// A device of Dave's answers, with its camera on or off.
        case pickUp(SessionID, isFilming: Bool)
        case decline(SessionID)
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
            case .hold(let name): "hold \(name)"
            case .video(let name): "video \(name)"
            case .ask(let name): "ask \(name)"
            case .move(let name): "move to \(name)"
            case .answer(let name): "answer \(name)"
            case .end(let name): "end \(name)"
            case .transfer: "transfer"
            case .consult: "consult"
            case .join: "join"
            case .finish(let name): "\(name) finishes"
            case .accept(let name): "\(name) accepts"
            case .command(let name): "\(name) holds or resumes"
            case .hand(let name): "\(name) transfers"
            case .pickUp(let name, let isFilming): "pick up \(name)\(isFilming ? " with video" : "")"
            case .hear(let name): "\(name) hears"
            case .neglect(let name): "\(name) neglects"
            case .decline(let name): "decline \(name)"
            case .deliver(let place): "deliver #\(place)"
            case .audit: "audit"
            case .wait: "wait"
            }
        }

        /// Follows from what was asked for before, or asks for nothing to happen.
        var isReaction: Bool {
            switch self {
            case .answer, .finish, .accept, .pickUp, .decline, .hear, .neglect, .deliver, .audit: true
            case .hold, .command, .hand, .video, .ask, .move, .end, .transfer, .consult, .join, .wait: false
            }
        }
    }

    static let (toBob, toCarol, conference) = (CallID(1), CallID(2), CallID(3))
    static let (bob, carol, dave) = (SessionID("B"), SessionID("C"), SessionID("D"))
    /// The call that Carol is asked to take in place of the one that she has.
    static let replacement = SessionID("C2")
    /// The legs of Alice: in her two calls, and in the conference that these become.
    static let callers: Set<SessionID> = ["A1", "A2", "A3"]
    /// Devices of users that have two. Their clients share a session; every other client goes by that.
    static let devices: [(name: SessionID, device: SubscriptionID, session: SessionID)] = [
        ("B", "bob1", "B"), ("B2", "bob2", "B"), ("D", "dave1", dave), ("D2", "dave2", dave),
    ]

    let scope: Scope
    let (alice, others): (HoldDialect, HoldDialect)
    /// Whose legs are headless: `bob`, `carol`, `dave`, those of Alice, or several of these. They have no clients.
    let applications: Set<SessionID>
    /// Dave's phones may have no screen.
    let daveSeesVideo: Bool
    /// Whether clients that are offered something while their own offer waits put theirs aside (RFC 8829 §4.1.10.2), or
    /// pay no heed.
    let yields: Bool
    /// Requests of users and time-outs that may still come; `nil`: any number.
    private(set) var requests: Int?
    var world: CallWorld
    var clients: [SessionID: Client] = [:]
    private(set) var path: [Step] = []

    /// From calls that have come so far.
    init(
        _ scope: Scope, alice: HoldDialect, others: HoldDialect, daveSeesVideo: Bool = true, yields: Bool = true,
        applications: Set<SessionID> = [], prepared: [Step] = [], requests: Int? = nil, keepsLogs: Bool = false
    ) throws {
        world = CallWorld(keepsLogs: keepsLogs)
        (self.scope, self.alice, self.others, self.applications) = (scope, alice, others, applications)
        (self.daveSeesVideo, self.yields) = (daveSeesVideo, yields)
        let isCalling = applications.isSuperset(of: Self.callers)
        // No application lists it.
        let replaces = scope.contains(.replacing)
        let first = try MidCallRig(
            id: 1, alice, others, session: Self.bob, replacing: replaces && !isCalling,
            replaces && !applications.contains(Self.bob), application: applications.contains(Self.bob) ? .silence : nil,
            calling: isCalling ? .silence : nil)
        world.add(Self.aged(first.call), keeper: .caller, after: first.course)
        var names: Set<SessionID> = ["A1", "B"]
        if scope.contains(.meeting) {
            let second = try MidCallRig(
                id: 2, alice, others, bob: MidCallRig.carol, session: Self.carol, replacing: replaces && !isCalling,
                replaces && !applications.contains(Self.carol),
                application: applications.contains(Self.carol) ? .silence : nil,
                calling: isCalling ? .silence : nil)
            world.add(Self.aged(second.call), keeper: .caller, after: second.course)
            names.formUnion(["A2", Self.carol])
        }
        for name in names.subtracting(applications) { clients[name] = newClient(name) }
        if scope.contains(.moving) {
            // It was rung too, and told that another device has answered.
            clients["B2"] = newClient("B2")
            clients["B2"]?.farewells = 1
        }
        for step in prepared {
            guard try take(step) else { throw ExplorationFault("\(step) cannot be taken", path) }
            try check()
        }
        self.requests = requests
    }

    /// Many others have been rung in the call: it has come to the end of the numbers that one byte has.
    static func aged(_ call: Call) -> Call {
        var call = call
        while call.takeLeg().number < UInt8.max {}
        return call
    }

    // MARK: Where things are

    static func session(of name: SessionID) -> SessionID { devices.first { $0.name == name }?.session ?? name }

    static func device(_ name: SessionID) -> SubscriptionID? { devices.first { $0.name == name }?.device }

    /// The clients of a session on these devices.
    static func names(of session: SessionID, on receivers: [SubscriptionID]) -> [SessionID] {
        let names = receivers.compactMap { receiver in devices.first { $0.device == receiver }?.name }
        return names.isEmpty ? [session] : names
    }

    func place(of name: SessionID) -> (call: CallID, leg: CallLeg)? {
        let session = Self.session(of: name)
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

    /// The client that has the call of an end that talks.
    func holder(of leg: CallLeg) -> SessionID {
        Self.names(of: leg.party.session, on: leg.party.devices.map(\.subscription))[0]
    }

    func isHeld(_ name: SessionID) -> Bool {
        guard let place = place(of: name), let state = world.calls[place.call]?.legState(place.leg.id) else {
            return false
        }
        return state == .remotelyHeld || state == .onDoubleHold
    }

    /// What the calls wait for comes in seconds: no client takes that long to answer if it answers at all.
    var isNearDeadline: Bool {
        guard let next = world.calls.values.compactMap(\.nextDeadline).map(\.time).min() else { return false }
        return next <= world.clock.now + .seconds(3)
    }

    // MARK: Steps

    var steps: [Step] {
        guard let requests else { return allSteps }
        return allSteps.filter { step in
            // Messages between calls do not take as long as any time-out.
            step.isReaction
                || (requests > 0 || step == .wait && isNearDeadline) && (step != .wait || world.messages.isEmpty)
        }
    }

    private var allSteps: [Step] {
        var steps: [Step] = []
        for (name, client) in clients.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            if client.mayHear { steps.append(.hear(name)) }
            if let place = place(of: name) { steps += self.steps(of: name, client, place) }
        }
        for name in applications.sorted(by: { $0.rawValue < $1.rawValue }) {
            if let place = place(of: name) { steps += applicationSteps(of: name, place) }
        }
        steps += stepsBetweenCalls
        if world.ended.count < world.calls.count { steps.append(.audit) }
        let hasHeard = !clients.values.contains(where: \.mayHear)
        if hasHeard, world.calls.values.contains(where: { $0.nextDeadline != nil }) { steps.append(.wait) }
        return steps
    }

    private func steps(of name: SessionID, _ client: Client, _ place: (call: CallID, leg: CallLeg)) -> [Step] {
        let leg = place.leg
        let hasCall = leg.stage != .talking || holder(of: leg) == name
        guard client.farewells == 0 || leg.isCompleted else {
            return scope.contains(.moving) && !hasCall && client.mail.isEmpty ? [.move(name)] : []
        }
        if client.invitation != nil {
            // The news that another device has answered may not have come.
            let mayFilm = scope.contains(.filming) && client.seesVideo
            return [.pickUp(name, isFilming: false), .decline(name)] + (mayFilm ? [.pickUp(name, isFilming: true)] : [])
        }
        guard leg.stage != .ringing else { return [] }
        var steps: [Step] = []
        if client.isAnswering {
            steps += scope.contains(.late) ? [.answer(name), .neglect(name)] : [.answer(name)]
        } else if client.isFree, hasCall {
            steps.append(.hold(name))
            if scope.contains(.filming) { steps += client.mayFilm ? [.video(name), .ask(name)] : [.ask(name)] }
        }
        return scope.contains(.leaving) ? steps + [.end(name)] : steps
    }

    private var stepsBetweenCalls: [Step] {
        var steps: [Step] = []
        let talks = ["A1", "A2"].map { place(of: $0)?.leg.stage == .talking }
        if scope.contains(.transferring), talks[0], clients[Self.dave] == nil, !scope.contains(.serving) || isDaveFree {
            steps.append(.transfer)
        }
        if talks == [true, true] {
            steps.append(.consult)
            if world.calls[Self.conference] == nil { steps.append(.join) }
        }
        var receivers: Set<CallID> = []
        for (place, message) in world.messages.enumerated() where receivers.insert(message.to).inserted {
            steps.append(.deliver(place))
        }
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
            // A handover is decided soon, and then the answer is taken.
            if case .pending = error { return false }
            guard case .answer(let name) = step else { return false }
            try refuseAnswer(of: name)
            return true
        }
        switch step {
        case .audit:
            try checkSilence()
            return false
        case .hear(let name): try hear(name)
        case .pickUp where before.values.allSatisfy({ call in !call.legs.contains { $0.stage == .ringing } }):
            throw ExplorationFault("two devices have answered", path)
        default: break
        }
        if !step.isReaction, !isShortWait { requests = requests.map { $0 - 1 } }
        try spread()
        return true
    }
}
