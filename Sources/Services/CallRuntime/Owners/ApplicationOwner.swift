import AudioStreams
import CallControl
import EventAPI
import Logging
import Observability
import Primitives

/// Owns one application: its legs, and what it does about them.
///
/// It has no registration and no devices, and is never busy. What it knows of a leg is an `ApplicationLeg`, folded from
/// the facts that it is told and the commands of the application (`ApplicationOwner+Commands.swift`).
actor ApplicationOwner: EndpointOwner {
    /// The most legs that are over and still shown. Of more, the oldest are forgotten before their time.
    static let maximumRemembered = 1_000
    /// The most steps of a leg that wait. A call takes as many keys.
    private static let maximumSteps = 128

    private enum Message: Sendable {
        /// Another owner tells the application something.
        case sent(EndpointMessage)
        /// The application is described anew. Calls at addresses that are not its own any more end.
        case changed(RegisteredApplication)
        /// The application is gone: all its calls end, and then the loop.
        case retired
        /// A recording of a leg is over.
        case recordingEnded(RecordingID, SessionID)
        /// This becomes of the socket with this number, which the gateway opens for the stream of a leg.
        case stream(StreamNews, Int, SessionID)
        /// It is this time, for which the alarm was set.
        case alarm(MonotonicTime)
    }

    nonisolated let identity: ApplicationIdentity
    var application: RegisteredApplication
    let environment: RuntimeEnvironment
    private nonisolated let inbox = Inbox<Message>()
    /// The legs of the application, by session; those that are over for a while.
    private(set) var legs: [SessionID: ApplicationLeg] = [:]
    /// The sessions, in the order in which they came; also some that are forgotten.
    private(set) var order: [SessionID] = []
    /// The legs that are over, in the order of their ends.
    private var remembered: [SessionID] = []
    /// How many legs are live.
    private var liveCount = 0
    /// How many streams the legs have, listeners included.
    private var streamCount = 0
    /// How many calls are being opened for a leg each.
    var openingCount = 0
    private var rate = RateAllowance()
    private(set) var isRetired = false
    private var alarm = Alarm()
    /// What follows from facts and timers, and is not carried out yet, by leg.
    private var steps: [SessionID: [CallCommand]] = [:]
    /// The streams of the legs that have one with a socket.
    var links: [SessionID: StreamLink] = [:]
    /// The listeners of the legs that have some.
    var listeners: [SessionID: [StreamID: StreamLink]] = [:]
    /// The streams that programs have opened themselves, also those whose programs are waited for.
    var incoming: [SessionID: IncomingStream] = [:]
    /// The streams that the gateway opens.
    var outgoing: [SessionID: OutgoingStream] = [:]
    /// Those that it opens once a leg hears something.
    var awaitedStreams: [SessionID: StreamOrder] = [:]
    /// What follows for streams that the gateway opens, and is not carried out yet.
    var streamSteps: [(session: SessionID, step: OutgoingStream.Step)] = []
    /// The number of the last socket that the gateway opened for a stream, from 1.
    var lastSocket = 0
    /// The requests that wait until the one before them, about the same leg, is decided.
    private var turns: [SessionID: [CheckedContinuation<Void, Never>]] = [:]

    init(_ application: RegisteredApplication, _ environment: RuntimeEnvironment) {
        identity = application.identity
        self.application = application
        self.environment = environment
    }

    nonisolated func post(_ message: EndpointMessage) -> Bool { inbox.post(.sent(message)) }

    /// Describes the application anew.
    nonisolated func change(to application: RegisteredApplication) { inbox.post(.changed(application)) }

    /// Ends all calls, and then the loop.
    nonisolated func retire() { inbox.post(.retired) }

    /// Tells the application that a recording is over.
    nonisolated func recordingEnded(_ id: RecordingID, in session: SessionID) {
        inbox.post(.recordingEnded(id, session))
    }

    /// Tells the application what becomes of the socket of a stream that the gateway opens.
    nonisolated func streamNews(_ news: StreamNews, of socket: Int, in session: SessionID) {
        inbox.post(.stream(news, socket, session))
    }

    /// Handles messages until the task is cancelled, or the application is gone and its last call over.
    ///
    /// - Parameter switchboard: carries out the application's commands.
    func run(asking switchboard: LocalSwitchboard) async {
        await withDiscardingTaskGroup { group in
            for await message in inbox.messages {
                for (session, action) in handle(message) {
                    switch action {
                    case .perform(let command):
                        guard add(command, to: session) else { break }
                        group.addTask { await self.carryOutSteps(of: session, asking: switchboard) }
                    // It may take a while: files are loaded, and other owners asked.
                    case .fallBack: group.addTask { await self.fallBack(session, asking: switchboard) }
                    case .announce(let list):
                        group.addTask { await self.announceLate(list, in: session, asking: switchboard) }
                    case .record(let request):
                        group.addTask { await self.recordLate(request, in: session, asking: switchboard) }
                    case .fallBackOfStream:
                        group.addTask { await self.carryOut(.fallBackLate, in: session, asking: switchboard) }
                    }
                }
                for (session, step) in takeStreamSteps() {
                    group.addTask { await self.carryOut(step, in: session, asking: switchboard) }
                }
                arm(for: dueNext(after: message))
                if isRetired, liveCount == 0 { break }
            }
            group.cancelAll()
        }
        alarm.cancel()
    }

    /// Adds a step of a leg.
    ///
    /// - Returns: whether the steps of the leg have to be carried out; otherwise that is going on already.
    private func add(_ command: CallCommand, to session: SessionID) -> Bool {
        let isFirst = steps[session] == nil
        steps[session, default: []].append(command)
        return isFirst
    }

    /// Carries out the steps of a leg, in order. A call that takes its time does not hold up the others, and a command
    /// of the application waits for one step at most.
    private func carryOutSteps(of session: SessionID, asking switchboard: LocalSwitchboard) async {
        while steps[session]?.isEmpty == false {
            await turn(of: session)
            defer { pass(session) }
            guard let command = steps[session]?.first else { break }
            steps[session]?.removeFirst()
            // The application has taken it back meanwhile.
            if command == .headless(.say(.mute(true))), legs[session]?.view.isMuted == false { continue }
            await perform(command, in: session, asking: switchboard)
        }
        steps[session] = nil
    }

    /// What follows if the program on the stream of a leg asks for something. A program may ask without end: what finds
    /// too many steps that wait does not happen, except that the end of the call finds room once.
    private func actions(
        for wish: StreamWish, in session: SessionID
    ) -> [(SessionID, ApplicationLeg.Action)] {
        let (waiting, command) = (steps[session] ?? [], wish.command)
        guard wish == .end ? !waiting.contains(command) : waiting.count < Self.maximumSteps else {
            environment.logger.debug(
                "a stream's wish is refused: too many wait", metadata: [LogKey.request: "\(session)"])
            return []
        }
        return [(session, .perform(command))]
    }

    func arm(for deadline: MonotonicTime?) {
        alarm.arm(for: deadline, by: environment.clock) { [inbox] in inbox.post(.alarm($0)) }
    }

    // MARK: Questions

    func reply(to question: UserQuestion) -> PlacementReply {
        switch question {
        case .attach(let session, let leg, _):
            if let refusal = refusal ?? charge() { return .refused(refusal) }
            guard let address = application.addresses.first?.anyAddress else { return .refused(.noDevice) }
            insert(
                ApplicationLeg(
                    called: identity, at: address, as: session, at: leg, time: environment.clock.epochMilliseconds),
                as: session)
            return .contact(contact)
        case .contact: return refusal.map { .refused($0) } ?? .contact(contact)
        case .locate(let session): return .address(legs[session]?.place)
        case .identify(let session, _): return .requester(legs[session]?.place, nil)
        case .awaitsEnd: return .endAwaited(false)
        case .dial, .connect, .recall: return .absent
        case .charge, .forget: return .done
        }
    }

    /// Why the application cannot have one more leg; `nil`: it can.
    var refusal: LegRefusal? {
        if isRetired { return .noDevice }
        return liveCount + openingCount >= application.maximumCalls ? .limitOfLegs : nil
    }

    /// Whether the address is the application's, and no other's.
    func owns(_ address: UserAddress) -> Bool { environment.router.applicationOwning(address) == identity }

    /// Whether the application is still there, and keeps its address in the call. A call goes on if another application
    /// gets one address of a domain.
    func mayHave(_ leg: ApplicationLeg) -> Bool { !isRetired && application.covers(leg.own) }

    /// Why the application cannot have one more stream; `nil`: it can. A stream that is asked for with a call counts
    /// from then on.
    var obstacleToOneMoreStream: ApplicationRefusal.Limit? {
        guard let most = application.maximumStreams, streamCount + awaitedStreams.count >= most else { return nil }
        return .streamsOfApplication
    }

    /// Counts a call of the application, unless there were too many in too short a time.
    func charge() -> LegRefusal? {
        guard let allowed = application.callRate, let wait = rate.charge(allowed, at: environment.clock.now) else {
            return nil
        }
        return .tooOften(retryAfter: wait)
    }

    private var contact: Contact {
        let milliseconds = Int(application.decisionTime.wholeNanoseconds / 1_000_000)
        return Contact(
            endpoint: .application(.silence, of: identity), displayName: application.displayName, isEngaged: false,
            decisionMilliseconds: milliseconds > 0 ? milliseconds : nil)
    }

    // MARK: Legs

    /// The application has one more leg.
    func insert(_ leg: ApplicationLeg, as session: SessionID) {
        legs[session] = leg
        order.append(session)
        liveCount += 1
    }

    /// Forgets a leg.
    func remove(_ session: SessionID) {
        guard let leg = legs.removeValue(forKey: session) else { return }
        forgetStreams(of: session)
        if leg.isLive { liveCount -= 1 }
        streamCount -= leg.streamCount
        if leg.isOver, let index = remembered.firstIndex(of: session) { remembered.remove(at: index) }
        // Once in a while, so that it costs little.
        if order.count > 2 * legs.count + 64 { order.removeAll { legs[$0] == nil } }
    }

    /// Changes a leg; `nil` if there is none.
    @discardableResult
    func edit<Outcome>(_ session: SessionID, _ change: (inout ApplicationLeg) -> Outcome) -> Outcome? {
        guard var leg = legs[session] else { return nil }
        let (wasLive, wasOver, streamsBefore) = (leg.isLive, leg.isOver, leg.streamCount)
        let cutOffBefore = leg.cutOffGathering
        let outcome = change(&leg)
        legs[session] = leg
        streamCount += leg.streamCount - streamsBefore
        if leg.isLive != wasLive { liveCount += leg.isLive ? 1 : -1 }
        if let keys = leg.cutOffGathering, keys != cutOffBefore {
            publish(.gatheringEnded(keys, of: leg.place), of: session)
        }
        if leg.isOver, !wasOver {
            leaveStreams(of: session)
            remembered.append(session)
            if remembered.count > Self.maximumRemembered { remove(remembered[0]) }
        }
        return outcome
    }

    /// Waits until no other request about the leg is being decided. `pass` has to follow.
    func turn(of session: SessionID) async {
        guard turns[session] != nil else {
            turns[session] = []
            return
        }
        await withCheckedContinuation { turns[session]?.append($0) }
    }

    /// The request is decided: the next one about the leg is.
    func pass(_ session: SessionID) {
        arm(for: deadline(of: session))
        guard var waiting = turns[session], !waiting.isEmpty else {
            turns[session] = nil
            return
        }
        let next = waiting.removeFirst()
        turns[session] = waiting
        next.resume()
    }

    // MARK: Messages

    private func handle(_ message: Message) -> [(SessionID, ApplicationLeg.Action)] {
        let now = environment.clock.now
        switch message {
        case .sent(let message): return handle(message, at: now)
        case .changed(let application):
            self.application = application
            return endCalls { !application.covers($0.own) }
        case .retired:
            isRetired = true
            return endCalls { _ in true }
        case .recordingEnded(let id, let session):
            edit(session) { $0.recordingEnded(id) }
            return []
        case .stream(let news, let socket, let session):
            take(news, of: socket, in: session, at: now)
            return []
        case .alarm(let time):
            alarm.rang(time)
            redial(at: now)
            giveUpPrograms(at: now)
            while let oldest = remembered.first, legs[oldest]?.isForgotten(at: now) == true { remove(oldest) }
            return order.flatMap { session in
                (edit(session) { $0.timeout(at: now) } ?? []).map { (session, $0) }
            }
        }
    }

    private func handle(_ message: EndpointMessage, at now: MonotonicTime) -> [(SessionID, ApplicationLeg.Action)] {
        let time = environment.clock.epochMilliseconds
        switch message {
        case .tell(let entry, let trace):
            guard let session = entry.event.audience?.session else { return [] }
            tellStream(of: session, entry.event.fact)
            let actions = edit(session) { leg in
                leg.noteTrace(trace)
                return leg.handle(entry.event, at: now, time: time)
            }
            if case .progressed = entry.event.fact { openAwaitedStream(of: session) }
            if let leg = legs[session], !leg.isOver, !mayHave(leg) {
                // It was being placed when the application lost it.
                return [(session, .perform(.end(reasonText: nil)))]
            }
            return (actions ?? []).map { (session, $0) }
        case .detach(let session): _ = edit(session) { $0.detach(at: now) }
        case .established(let session):
            let actions = edit(session) { $0.established(time: time) } ?? []
            openAwaitedStream(of: session)
            return actions.map { (session, $0) }
        case .move(let session, let place): _ = edit(session) { $0.move(to: place) }
        case .endedLate(let list, let session, let place):
            return endedLate(list, of: session, at: place).map { (session, $0) }
        case .streamAsks(let wish, let session): return actions(for: wish, in: session)
        case .answered: break  // an application has no limit of legs that ring
        case .service: break  // an application has calls alone
        }
        return []
    }

    private func endCalls(where isMeant: (ApplicationLeg) -> Bool) -> [(SessionID, ApplicationLeg.Action)] {
        order.filter { session in legs[session].map { !$0.isOver && isMeant($0) } ?? false }
            .map { ($0, .perform(.end(reasonText: nil))) }
    }

    /// When something is due for a leg or its stream; `nil`: nothing is.
    func deadline(of session: SessionID) -> MonotonicTime? {
        [legs[session]?.deadline, outgoing[session]?.dialing.deadline, incoming[session]?.absence.deadline]
            .compactMap(\.self).min()
    }

    /// The earliest deadline that the message can have set; after an alarm, the earliest of all.
    private func dueNext(after message: Message) -> MonotonicTime? {
        switch message {
        case .alarm:
            (legs.values.compactMap(\.deadline) + outgoing.values.compactMap(\.dialing.deadline)
                + incoming.values.compactMap(\.absence.deadline)).min()
        case .stream(_, _, let session), .sent(.endedLate(_, let session, _)): deadline(of: session)
        case .sent(.tell(let entry, _)): entry.event.audience.flatMap { legs[$0.session]?.deadline }
        case .sent(.detach(let session)): legs[session]?.deadline
        case .sent, .changed, .retired, .recordingEnded: nil
        }
    }
}

extension ApplicationAddress {
    /// An address that it owns, for a call whose own is not known yet.
    fileprivate var anyAddress: UserAddress? {
        single ?? wholeDomain.flatMap { UserAddress(parsing: "application@\($0)") }
    }
}

extension StreamWish {
    /// What the call is asked for.
    fileprivate var command: CallCommand {
        switch self {
        case .press(let digits): .sendDigits(digits, to: .peer)
        case .answer: .answer(CallAnswerRequest(sdp: "", content: CustomContent()))
        case .end: .end(reasonText: nil)
        }
    }
}
