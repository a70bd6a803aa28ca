import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport

/// Several calls that hand ends to each other, as their owners would: what one asks of another travels as a message.
struct CallWorld {
    /// A message on its way between two calls.
    struct Message: Equatable, Sendable {
        enum Content: Equatable, Sendable {
            case requested(by: CallID, of: LegID)
            case offered(Handover)
            case refused(by: CallID)
            case taken(by: CallID, [HandedOverLeg], HandoverPurpose)
            case declined(by: CallID)
            case legEvent(LegEvent, LegID)
        }

        var to: CallID
        var content: Content
    }

    private(set) var calls: [CallID: Call] = [:]
    var messages: [Message] = []
    var clock = VirtualClock()
    var random = SeededRandomSource(seed: 9)
    /// What each subscription was told, in order.
    private(set) var told: [SubscriptionID: [Notification]] = [:]
    private var news: [Told] = []
    /// Legs of the user with several calls: where a request for the ends of another call is directed.
    private var keepers: [CallID: LegID] = [:]
    private(set) var ended: Set<CallID> = []
    /// What each leg hears, as the media plane was told.
    private(set) var routes: [CallID: [LegID: MediaRoute]] = [:]
    /// What was agreed with each leg last, as the media plane was told.
    private(set) var agreements: [CallID: [LegID: NegotiatedLeg]] = [:]
    /// The headless legs that the media plane has been told to make.
    private(set) var headless: [CallID: Set<LegID>] = [:]
    /// A headless leg to which something was described, if there is one.
    private(set) var describedHeadless: (call: CallID, leg: LegID)?
    /// The headless legs that each call has had, and those that were told that their part in it is over, or moved.
    private(set) var applications: [CallID: Set<LegID>] = [:]
    private(set) var finished: [CallID: Set<LegID>] = [:]
    /// A headless leg that was told something after its part was over, if there is one.
    private(set) var toldTooMuch: (call: CallID, leg: LegID)?
    /// How often the media of each call was released.
    private(set) var releases: [CallID: Int] = [:]
    /// Whose each number of each call was first, and a number that was somebody else's later, if there is one.
    private var holders: [CallID: [LegID: SessionID]] = [:]
    private(set) var reusedLeg: (call: CallID, leg: LegID)?
    /// The events of each call; `nil`: nobody wants them.
    private(set) var logs: [CallID: EventLog]?

    init(keepsLogs: Bool = false) { logs = keepsLogs ? [:] : nil }

    /// - Parameter course: What brought the call about, if it has started.
    mutating func add(_ call: Call, keeper: LegID, after course: [CallAction] = []) {
        calls[call.id] = call
        keepers[call.id] = keeper
        logs?[call.id] = EventLog(from: clock.now)
        logs?[call.id]?.add(course, at: clock.now)
        noteApplications(of: call.id)
        // What its own beginning brought about.
        if case .answered = call.state {
            routes[call.id] = [.caller: .leg(.callee), .callee: .leg(.caller)]
            headless[call.id] = Set(call.legs.filter(\.party.isApplication).map(\.id))
        }
    }

    mutating func edit<Result>(
        _ id: CallID, _ change: (inout Call, inout SeededRandomSource, MonotonicTime) throws(CallError) -> Result
    ) throws(CallError) -> Result {
        guard var call = calls[id] else { throw .noSuchCall }
        let result = try change(&call, &random, clock.now)
        calls[id] = call
        return result
    }

    /// Carries an input out, and whatever the call wants done.
    mutating func act(
        _ id: CallID, _ change: (inout Call, inout SeededRandomSource, MonotonicTime) throws(CallError) -> [CallAction]
    ) throws(CallError) {
        perform(try edit(id, change), of: id)
    }

    /// Delivers the message that has waited longest in the place given.
    mutating func deliver(_ place: Int = 0) {
        let message = messages.remove(at: place)
        guard var call = calls[message.to] else { return }
        let now = clock.now
        let actions: [CallAction] =
            switch message.content {
            case .requested(let taker, let leg): call.handoverRequested(by: taker, of: leg, at: now, random: &random)
            case .offered(let handover): call.handoverOffered(handover, at: now, random: &random)
            case .refused(let other): call.handoverRefused(by: other, at: now)
            case .taken(let taker, let legs, let purpose): call.handoverTaken(by: taker, legs, for: purpose, at: now)
            case .declined(let taker): call.handoverDeclined(by: taker, at: now, random: &random)
            case .legEvent(let event, let leg): call.handle(event, for: leg, at: now)
            }
        calls[message.to] = call
        perform(actions, of: message.to)
    }

    /// Lets time pass until the next thing is due.
    mutating func passTime() {
        guard let next = calls.values.compactMap(\.nextDeadline).map(\.time).min() else { return }
        if next > clock.now { clock.advance(by: next - clock.now) }
        for id in calls.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            guard var call = calls[id], let due = call.nextDeadline, due.time <= clock.now else { continue }
            let actions = call.timeout(at: clock.now, random: &random)
            calls[id] = call
            perform(actions, of: id)
        }
    }

    /// What was told since the last time, to whomever.
    mutating func takeNews() -> [Told] {
        defer { (news, told) = ([], [:]) }
        return news
    }

    mutating func settle() { while !messages.isEmpty { deliver() } }

    private mutating func perform(_ actions: [CallAction], of id: CallID) {
        for leg in calls[id]?.legs ?? []
        where leg.party.session != holders[id, default: [:]][leg.id, default: leg.party.session] {
            reusedLeg = (id, leg.id)
        }
        for leg in calls[id]?.legs ?? [] { holders[id, default: [:]][leg.id] = leg.party.session }
        noteApplications(of: id)
        logs?[id]?.add(actions, at: clock.now)
        for action in actions {
            switch action {
            case .event(let event):
                if case .ended = event.fact { ended.insert(id) }
                if let leg = event.leg, applications[id]?.contains(leg) == true { noteTold(event, to: leg, of: id) }
                guard let news = action.told else { continue }
                self.news.append(news)
                for receiver in news.receivers { told[receiver, default: []].append(news.notification) }
            case .peerCall(let action): perform(action, of: id)
            case .route(let leg, let route): routes[id, default: [:]][leg] = route
            case .releaseLeg(let leg):
                routes[id]?[leg] = nil
                headless[id]?.remove(leg)
            case .releaseMedia:
                (routes[id], headless[id]) = (nil, nil)
                releases[id, default: 0] += 1
            case .prepareHeadless(let leg, _): headless[id, default: []].insert(leg)
            case .connectMedia(let leg, let agreement): agreements[id, default: [:]][leg] = agreement
            case .prepareMedia, .play, .stopPlaying, .sendDigits, .say, .detach: break
            }
        }
    }

    private mutating func noteApplications(of id: CallID) {
        let legs = calls[id]?.legs.filter(\.party.isApplication).map(\.id) ?? []
        applications[id, default: []].formUnion(legs)
    }

    private mutating func noteTold(_ event: CallEvent, to leg: LegID, of id: CallID) {
        if event.fact.hasDescription { describedHeadless = (id, leg) }
        if event.audience != nil, finished[id]?.contains(leg) == true { toldTooMuch = (id, leg) }
        switch event.fact {
        case .released, .left, .moved, .completed, .stoppedRinging(.forwarded, _):
            finished[id, default: []].insert(leg)
        default: break
        }
    }

    private mutating func perform(_ action: PeerCallAction, of id: CallID) {
        switch action {
        case .requestHandover(let other, _):
            if calls[other] == nil || ended.contains(other) {
                messages.append(Message(to: id, content: .refused(by: other)))
            } else {
                messages.append(Message(to: other, content: .requested(by: id, of: keepers[other] ?? .caller)))
            }
        case .offerHandover(let other, let handover):
            messages.append(Message(to: other, content: .offered(handover)))
        case .refuseHandover(let other): messages.append(Message(to: other, content: .refused(by: id)))
        case .takeHandover(let other, let legs, let purpose):
            // Their media goes with them at once.
            for leg in legs {
                routes[other]?[leg.before] = nil
                if headless[other]?.remove(leg.before) != nil { headless[id, default: []].insert(leg.after) }
                let agreement = agreements[other]?.removeValue(forKey: leg.before)
                if agreements[id]?[leg.after] == nil { agreements[id, default: [:]][leg.after] = agreement }
            }
            messages.append(Message(to: other, content: .taken(by: id, legs, purpose)))
        case .declineHandover(let other): messages.append(Message(to: other, content: .declined(by: id)))
        case .passOn(let other, let leg, let event):
            messages.append(Message(to: other, content: .legEvent(event, leg)))
        }
    }

    /// The types of what a subscription was told since the count given, with their texts.
    func log(_ subscription: SubscriptionID, after count: Int = 0) -> [String] {
        (told[subscription] ?? []).dropFirst(count).map { notification in
            ([notification.type.rawValue]
                + [notification.statusCode.map { "\($0)" }, notification.reasonText].compactMap(\.self))
                .joined(separator: " ")
        }
    }
}

extension CallWorld {
    /// Alice has joined her calls with Bob and Carol to a third one, and everybody has been told.
    ///
    /// - Parameters:
    ///   - endpoint: who hears Alice's leg of the third call; an application describes nothing.
    ///   - content: what Alice sent along.
    ///   - prepare: what happened in the two calls before.
    static func joined(
        by endpoint: LegEndpoint = .devices([Device("a1")]), with content: CustomContent = CustomContent(),
        after prepare: (inout CallWorld) throws -> Void = { _ in }
    ) throws -> CallWorld {
        var world = CallWorld()
        for (id, user, session) in [(1, CallRig.bob, "B"), (2, MidCallRig.carol, "C")]
            as [(UInt64, UserAddress, SessionID)]
        {
            world.add(try MidCallRig(id: id, bob: user, session: session).call, keeper: .caller)
        }
        try prepare(&world)
        let joiner = CallParty(user: MidCallRig.alice, name: "Alice", session: "A3", endpoint: endpoint)
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        world.add(Call(id: CallID(3), joiner: joiner, configuration: configuration), keeper: .caller)
        try world.act(CallID(3)) { call, random, now throws(CallError) in
            let sdp = joiner.isApplication ? "" : ScriptedDescription.audio("alice", .sendReceive)
            return try call.join(
                [CallID(1), CallID(2)], CallUpdateRequest(sdp: sdp, content: content),
                identity: joiner.isApplication ? nil : CallRig.identity("gwjoin"), at: now, random: &random)
        }
        world.settle()
        return world
    }
}

extension CallParty {
    var isApplication: Bool { if case .application = endpoint { true } else { false } }
}

extension CallEvent.Fact {
    /// Whether it carries a description to the leg that it is about.
    var hasDescription: Bool {
        switch self {
        case .invited(_, let invitation): invitation.description != nil
        case .progressed(let description): !description.isEmpty
        case .offered(let description, _), .answered(let description, _): description != nil
        case .waking(_, let invitation): invitation.description != nil
        case .awoke, .notWoken, .wakingOver, .joined, .rings, .alerted, .talks, .established, .stoppedRinging,
            .rejected,
            .forwarded, .changedDevice,
            .renewedSubscription, .released, .left, .moved, .ended, .unanswered, .candidates, .held, .resumed,
            .transferStarted, .transferFailed, .completed, .mediaReached, .mediaRestarted, .pathLost, .pathRecovered,
            .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            false
        }
    }
}
