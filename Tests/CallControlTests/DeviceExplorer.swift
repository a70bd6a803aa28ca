import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport

/// Walks everything that can happen to a call until it is answered or over: Alice has two devices, Bob two, and Dave
/// one to which Bob may forward. Requests and their answers get lost, and notifications come late.
///
/// Alice's other device has not dialled: it has no media, and goes by what it is told, at once. It may hang up, as any
/// device of hers. Of Bob's devices, between which nothing else tells, the first one's refusals and forwards get lost,
/// too.
///
/// A call may begin without an offer: then whoever answers makes it, and the caller's answer to it gets lost or comes
/// late as well. Alice's other device and Dave are left out of that.
///
/// Bob's devices may be asleep, both or the first one: the call wakes them by push, and they come back, decline from
/// the push, or come too late. Alice's other device is left out of that, too.
///
/// Alice, Bob and Dave may be applications instead. Each is one client then, in place of the first device, which loses
/// nothing on its way and hears at once; Alice and Bob have no other device then.
///
/// What goes on after the answer is `CallExplorer`'s.
struct DeviceExplorer: Explorable {
    /// What a device asks for.
    enum Request: String, Hashable, Sendable {
        case start, answer, respond, reject, forward, end
        /// What only applications ask for: to be heard before the answer, and to refuse as if nobody could be rung.
        case progress, refuse
    }

    /// What became of a request on its way.
    enum Fate: String, CaseIterable, Hashable, Sendable {
        case arrives
        /// It was carried out, and the client does not know.
        case answerLost = "loses its answer"
        case lost = "is lost"
    }

    enum Step: Hashable, Sendable, CustomStringConvertible {
        case request(SubscriptionID, Request, Fate)
        /// A request whose answer did not come is made again, and arrives.
        case again(SubscriptionID)
        /// The client takes it for failed, and says nothing to anybody.
        case giveUp(SubscriptionID)
        case ringing(SubscriptionID)
        /// The notification that has waited longest reaches the client.
        case hear(SubscriptionID)
        case leave(SubscriptionID)
        /// A device that was woken subscribes.
        case wake(SubscriptionID)
        /// A device that was woken declines without a subscription.
        case decline(SubscriptionID)
        /// The push that was to wake a device fails.
        case pushFails(SubscriptionID)
        /// The device that was in the call has gone without a word, and its media with it.
        case mediaFails(LegID)
        case drain
        /// Every end there is asks whether the call is.
        case audit
        case wait

        var description: String {
            switch self {
            case .request(let device, let request, let fate):
                "\(request.rawValue) of \(device.rawValue) \(fate.rawValue)"
            case .again(let device): "\(device.rawValue) asks again"
            case .giveUp(let device): "\(device.rawValue) gives up"
            case .ringing(let device): "\(device.rawValue) reports ringing"
            case .hear(let device): "\(device.rawValue) hears"
            case .leave(let device): "\(device.rawValue) leaves"
            case .wake(let device): "\(device.rawValue) wakes"
            case .decline(let device): "\(device.rawValue) declines from the push"
            case .pushFails(let device): "the push to \(device.rawValue) fails"
            case .mediaFails(let leg): "media of the \(leg) fails"
            case .drain: "drain"
            case .audit: "audit"
            case .wait: "wait"
            }
        }
    }

    /// What a device believes, and what it has not heard yet.
    struct Client: Hashable, Sendable {
        var state: LegState
        /// A request whose answer did not come.
        var unsure: Request?
        var mail: [Notification.EventType] = []
        var isGone = false
        var hasGivenUp = false
        /// Of a caller that made no offer: it has one to answer.
        var isOffered = false
        /// Of somebody who answered with an offer: the answer to that has come.
        var hasAnswer = false
        /// `callEnd`s it was told.
        var ends = 0
    }

    /// Alice's other device.
    static let onlooker: SubscriptionID = "a2"
    static let devices: [(id: SubscriptionID, leg: LegID)] = [
        ("a1", .caller), (onlooker, .caller), ("b1", .callee), ("b2", .callee), ("d1", LegID(2)),
    ]

    /// What became of Bob's devices that were asleep.
    struct Sleepers: Hashable, Sendable {
        var woken: Set<PushDeviceID> = []
        var back: Set<PushDeviceID> = []
        /// Those that were told by push that the call rings no more.
        var over: Set<PushDeviceID> = []
        /// Those whose push has failed while they were awaited.
        var failed: Set<PushDeviceID> = []
        /// Those that have subscribed, even if it was too late.
        var subscribed: Set<PushDeviceID> = []

        /// Those that are awaited.
        var waiting: Set<PushDeviceID> { woken.subtracting(back).subtracting(over).subtracting(failed) }
    }

    var call: Call
    var sleepers = Sleepers()
    /// A device was told by push more than once that the call rings no more.
    var toldTwice = false
    var clients: [SubscriptionID: Client] = [:]
    private(set) var path: [Step] = []
    private var clock = VirtualClock()
    private var random = SeededRandomSource(seed: 11)
    /// Devices whose answer the call has accepted.
    private(set) var accepted: Set<SubscriptionID> = []
    /// What the media plane was told: what each leg hears, who has something agreed or is headless and made, and how
    /// often everything was released.
    var routes: [LegID: MediaRoute] = [:]
    var connected: Set<LegID> = []
    var releases = 0
    /// What an application, or the media plane of one, was told and should not have been.
    var fault: String?
    /// Whose legs are headless.
    let applications: Set<LegID>
    /// Whether the caller makes the offer.
    let hasOffer: Bool
    /// Whether devices of Bob are asleep when the call starts.
    private let hasSleepers: Bool

    /// - Parameters:
    ///   - asleep: Bob's devices that are asleep when the call starts.
    ///   - applications: whose legs are headless; Dave's is the third.
    init(
        withEarlyMedia isEarly: Bool = false, withOffer hasOffer: Bool = true, asleep: [SubscriptionID] = [],
        _ progress: Call.WakingProgress = .atOnce, applications: Set<LegID> = []
    ) {
        (self.hasOffer, self.applications) = (hasOffer, applications)
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        configuration.wakingProgress = progress
        if isEarly { configuration.earlyMedia = Playback(.tone(.ringback)) }
        let awake: SubscriptionID? = asleep.isEmpty ? "b1" : ["b1", "b2"].first { !asleep.contains($0) }
        var parties = PerLeg(
            caller: CallParty(
                user: MidCallRig.alice, name: "Alice", session: "A",
                endpoint: Self.endpoint(applications.contains(.caller), [Device("a1"), Device("a2")])),
            callee: CallParty(
                user: MidCallRig.bob, name: "Bob", session: "B",
                endpoint: Self.endpoint(
                    applications.contains(.callee), awake.map { [Device($0, sendsRingingFeedback: true)] } ?? [])))
        parties.callee.sleeping = asleep.map {
            SleepingDevice(PushDeviceID($0.rawValue), clientCorrelator: $0.rawValue)
        }
        call = Call(id: CallID(1), parties: parties, configuration: configuration)
        hasSleepers = !asleep.isEmpty
        for device in Self.devices { clients[device.id] = Client(state: .initial) }
        if applications.contains(.callee) { clients["b2"]?.isGone = true }
        if !hasOffer || hasSleepers || !applications.isEmpty {
            note(call.deviceChanged(.caller, .left(Self.onlooker, othersRemain: true), at: clock.now))
            clients[Self.onlooker]?.isGone = true
        }
    }

    // MARK: Steps

    var steps: [Step] {
        // If the request itself is lost there is no call.
        guard call.state != .initial else {
            let fates: [Fate] = applications.contains(.caller) ? [.arrives] : [.arrives, .answerLost]
            return fates.map { .request("a1", .start, $0) }
        }
        let isOver = if case .ended = call.state { true } else { false }
        var steps: [Step] = []
        for device in Self.devices {
            guard let client = clients[device.id], !client.isGone else { continue }
            guard !applications.contains(device.leg) else {
                steps += applicationSteps(of: device.id, client)
                continue
            }
            if !client.mail.isEmpty { steps.append(.hear(device.id)) }
            let sleeper = PushDeviceID(device.id.rawValue)
            if !isOver, sleepers.woken.contains(sleeper), !sleepers.subscribed.contains(sleeper) {
                steps.append(.wake(device.id))
                if client.state == .initial, !sleepers.failed.contains(sleeper) {
                    steps.append(.decline(device.id))
                    // The other way round tells nothing new.
                    if device.id == "b1" || sleepers.failed.contains("b1") { steps.append(.pushFails(device.id)) }
                }
            }
            if let unsure = client.unsure {
                // A caller that asks again starts another call, and knows nothing of this one.
                steps += unsure == .start ? [.giveUp(device.id)] : [.again(device.id), .giveUp(device.id)]
            } else if !isOver {
                steps += requests(of: device.id, client)
            }
            // In which order the rest is heard makes no difference any more.
            if isOver, !steps.isEmpty { return steps }
            if client.state == .ringing, device.id == "b1" { steps.append(.ringing(device.id)) }
            if ["a1", Self.onlooker, "b1"].contains(device.id), knows(device.id) { steps.append(.leave(device.id)) }
        }
        steps += [LegID.caller, .callee, LegID(2)].filter(isDeserted).map { .mediaFails($0) }
        if !isOver { steps.append(.audit) }
        if call.nextDeadline != nil { steps += [.wait, .drain] }
        return steps
    }

    /// A client takes the end of a call for granted, whatever became of its request; what it was rung for is worth
    /// asking again.
    private func requests(of device: SubscriptionID, _ client: Client) -> [Step] {
        let hangingUp = (device == Self.onlooker ? [.arrives] : [Fate.arrives, .lost]).map {
            Step.request(device, .end, $0)
        }
        switch client.state {
        case .dialing, .sessionProgress, .answering, .inCall: return hangingUp
        case .ringing where leg(of: device) == .caller:
            return hangingUp + (client.isOffered ? Fate.allCases.map { .request(device, .respond, $0) } : [])
        case .ringing:
            let refusals = device == "b2" ? [.arrives] : Fate.allCases
            return Fate.allCases.map { .request(device, .answer, $0) } + refusals.map { .request(device, .reject, $0) }
                + (mayForward(device) ? refusals.map { .request(device, .forward, $0) } : [])
        case .initial, .onHold, .remotelyHeld, .onDoubleHold, .ended: return []
        }
    }

    func mayForward(_ device: SubscriptionID) -> Bool { hasOffer && device != "d1" && call[LegID(2)] == nil }

    /// An end that talks, of which no client is in the call any more.
    func isDeserted(_ leg: LegID) -> Bool {
        guard call.legState(leg) == .inCall else { return false }
        return Self.devices.allSatisfy {
            $0.leg != leg || $0.id == Self.onlooker || clients[$0.id]?.isGone == true || clients[$0.id]?.state == .ended
                || clients[$0.id]?.state == .initial && sleepers.failed.contains(PushDeviceID($0.id.rawValue))
        }
    }

    /// Whether a device is not one that sleeps.
    private func isSubscribed(_ device: SubscriptionID) -> Bool {
        let sleeper = PushDeviceID(device.rawValue)
        return !sleepers.woken.contains(sleeper) || sleepers.subscribed.contains(sleeper)
    }

    private func knows(_ device: SubscriptionID) -> Bool {
        call.legs.contains { leg in leg.party.devices.contains { $0.subscription == device } }
    }

    mutating func take(_ step: Step) throws -> Bool {
        path.append(step)
        switch step {
        case .request(let device, let request, let fate):
            if fate != .lost {
                learn(device, request, of: try carryOut(request, of: device), isKnown: fate == .arrives)
            }
            if request == .end, fate == .lost {
                giveUp(device)
            } else if fate != .arrives {
                clients[device]?.unsure = request
            }
        case .again(let device):
            guard let request = clients[device]?.unsure else { return false }
            clients[device]?.unsure = nil
            learn(device, request, of: try carryOut(request, of: device), isKnown: true)
        case .giveUp(let device): giveUp(device)
        case .ringing(let device):
            // A refusal tells the client nothing.
            do throws(CallError) { note(try call.ringing(by: leg(of: device))) } catch { return false }
        case .hear(let device): try hear(device)
        case .leave(let device):
            let othersRemain = Self.devices.contains {
                $0.id != device && $0.leg == leg(of: device) && clients[$0.id]?.isGone == false && isSubscribed($0.id)
            }
            note(call.deviceChanged(leg(of: device), .left(device, othersRemain: othersRemain), at: clock.now))
            clients[device] = Client(state: .ended, isGone: true)
        case .wake(let device):
            sleepers.subscribed.insert(PushDeviceID(device.rawValue))
            let joined = DeviceChange.joined(
                Device(device, sendsRingingFeedback: true), replacing: nil, clientCorrelator: device.rawValue)
            note(call.deviceChanged(leg(of: device), joined, at: clock.now))
        case .decline(let device):
            // A refusal tells the client that it is too late.
            let declining = PushDeviceID(device.rawValue)
            let isAlone = sleepers.waiting == [declining] && call[.callee]?.party.devices.isEmpty == true
            let isDone = try carryOut(.reject, of: device)
            // The only device that can have declined knows that it has.
            if isDone, isAlone { sleepers.over.insert(declining) }
            clients[device]?.state = .ended
        case .pushFails(let device):
            note(call.deviceChanged(leg(of: device), .notWoken(PushDeviceID(device.rawValue)), at: clock.now))
        case .mediaFails(let leg):
            note(call.mediaFailed(leg, .consentExpired, at: clock.now))
        case .drain: note(call.drain(at: clock.now))
        case .audit:
            try audit()
            return false
        case .wait:
            guard let deadline = call.nextDeadline else { return false }
            clock.advance(to: deadline.time)
            note(call.timeout(at: clock.now))
        }
        while clients[Self.onlooker]?.mail.isEmpty == false { try hear(Self.onlooker) }
        return true
    }

    private mutating func giveUp(_ device: SubscriptionID) {
        clients[device]?.unsure = nil
        clients[device]?.state = .ended
        clients[device]?.hasGivenUp = true
    }

    func leg(of device: SubscriptionID) -> LegID { Self.devices.first { $0.id == device }?.leg ?? .caller }

    /// Returns whether the request was accepted; a refused one has changed nothing.
    private mutating func carryOut(_ request: Request, of device: SubscriptionID) throws -> Bool {
        let before = call
        let wasAccepted = accepted
        do throws(CallError) {
            note(try perform(request, of: device))
            return true
        } catch {
            guard error.isOfState else {
                throw ExplorationFault("\(request) is refused for no reason of the call's: \(error)", path)
            }
            guard before == call, wasAccepted == accepted else {
                throw ExplorationFault("a refused request changed something", path)
            }
            return false
        }
    }

    private func audit() throws {
        // Not the call itself: its timers would tell apart states that are one.
        var asked = call
        for leg in call.legs where leg.stage != .unreached {
            do throws(CallError) {
                try asked.audit(by: leg.id, at: clock.now)
            } catch {
                throw ExplorationFault("an audit of the \(leg.id) is refused: \(error)", path)
            }
        }
    }

    private mutating func perform(_ request: Request, of device: SubscriptionID) throws(CallError) -> [CallAction] {
        let (leg, now) = (leg(of: device), clock.now)
        switch request {
        case .start:
            let mode = MediaMode.anchored(
                PerLeg(caller: CallRig.identity("gwcaller"), callee: CallRig.identity("gwcallee")))
            let isDescribed = hasOffer && !applications.contains(.caller)
            let request = CallStartRequest(
                callee: MidCallRig.bob, sdp: isDescribed ? ScriptedDescription.audio("alice", .sendReceive) : "",
                acceptsEarlyMedia: true)
            let told = try call.start(request, media: mode, at: now, random: &random)
            if hasSleepers || applications.contains(.callee) { return told }
            if hasOffer { clients[Self.onlooker]?.state = .dialing }
            // Bob's other device comes a little later.
            return told
                + call.deviceChanged(
                    .callee, .joined(Device("b2", sendsRingingFeedback: true), replacing: nil), at: now)
        case .answer:
            let text =
                applications.contains(leg)
                ? ""
                : ScriptedDescription.audio(
                    "device-\(device.rawValue)", .sendReceive, setup: hasOffer ? "active" : "actpass")
            let told = try call.answer(by: leg, CallAnswerRequest(sdp: text), at: now, random: &random)
            accepted.insert(device)
            return told
        case .respond:
            let text = ScriptedDescription.audio("alice", .sendReceive, setup: "active")
            return try call.respond(by: leg, CallUpdateRequest(sdp: text), at: now, random: &random)
        case .reject: return try call.reject(by: leg, at: now)
        case .progress: return try call.perform(.progress, by: leg, at: now, random: &random)
        case .refuse: return try call.perform(.refuse(.busy), by: leg, at: now, random: &random)
        case .end:
            return try call.end(by: leg, from: applications.contains(leg) ? nil : device, reasonText: nil, at: now)
        case .forward:
            try call.checkForward(by: leg)
            let party = CallParty(
                user: UserAddress(parsing: "dave@example.com")!, name: "Dave", session: "D",
                endpoint: Self.endpoint(applications.contains(LegID(2)), [Device("d1")]))
            let target = CallTarget(leg: call.takeLeg(), party: party, identity: CallRig.identity("gwdave"))
            return try call.forward(by: leg, to: target, at: now, random: &random)
        }
    }
}
