package import Primitives

/// A leg of an application, as its owner knows it: folded from the facts that the owner is told and the commands that
/// the application gives.
///
///     incoming: invited ── a command, or the fallback when the time to decide is over ──▶ …
///     both:     … ── released, left, forwarded, transferred ──▶ over ── `remembrance` ──▶ forgotten
package struct ApplicationLeg: Equatable, Sendable {
    /// How long a call that is over is still shown.
    package static let remembrance = Duration.seconds(60)

    /// Where the leg is.
    package private(set) var place: LegAddress
    /// What the application sees.
    package internal(set) var view: ApplicationCall
    /// The application has given a command, or its fallback has happened.
    package private(set) var isDecided = false
    /// When the fallback happens; `nil`: that is decided.
    private(set) var decision: Decision?
    /// When the leg is forgotten; `nil`: it is not over.
    private var forgotten: MonotonicTime?
    /// The reason that the application gave when it refused the call.
    private var refusal: CallEndCause?
    /// The caller hears the leg before the answer.
    private var isHeardEarly = false
    /// The lists that play or wait, in order.
    private(set) var waiting: [Waiting] = []
    /// The last number that a list got.
    private var lastList: UInt32 = 0
    private var gather: Gather?
    /// The gathering that the end of the leg has cut off; `nil`: there was none, or the leg is not over.
    package private(set) var cutOffGathering: GatheredKeys?
    /// The list that is the prompt of the gathering.
    private var prompt: UInt32?
    /// The list after which the call ends.
    private var announcement: UInt32?
    /// The announcement that could not be said yet; `nil`: there is none.
    private var unsaid: PlayList?
    /// The leg has been told that it talks.
    private(set) var talks = false
    /// The leg has been told that it can hear something before the answer.
    package private(set) var hearsEarly = false
    /// The stream that carries the audio of the leg; `nil`: there is none.
    package internal(set) var stream: StreamID?
    /// The streams that only hear.
    var listeners: Set<StreamID> = []
    /// The program of a stream was given up before the callee has answered, and the fallback waits for that; or for the
    /// stream that was to take its place, and may fail.
    package internal(set) var awaitsFallback = false
    /// The recording that is to start once the leg hears something; `nil`: none, or it has.
    var awaitedRecording: RecordRequest?
    /// The recordings that are over, and written.
    var writtenRecordings: Set<RecordingID> = []
    /// The others are not to hear the leg when it starts to talk.
    private var startsMuted = false

    struct Waiting: Equatable {
        let number: UInt32
        let tag: String?
    }

    /// A leg of a call that the application starts.
    ///
    /// - Parameter time: now, in milliseconds since 1970.
    package init(
        starting request: ApplicationCallRequest, by application: RegisteredApplication, as session: SessionID,
        at place: LegAddress, time: Int64
    ) {
        self.place = place
        view = ApplicationCall(
            id: session, call: place.call, application: application.identity, direction: .outgoing, from: request.from,
            fromName: request.displayName ?? application.displayName, to: request.to, startedAt: time,
            parameters: request.content.parameters, context: request.context, trace: request.trace)
        awaitedRecording = request.record
    }

    /// A leg by which the application is called. Who calls whom is known once it is invited.
    ///
    /// - Parameters:
    ///   - address: the address by which it is known until then.
    ///   - time: now, in milliseconds since 1970.
    package init(
        called application: ApplicationIdentity, at address: UserAddress, as session: SessionID, at place: LegAddress,
        time: Int64
    ) {
        self.place = place
        view = ApplicationCall(
            id: session, call: place.call, application: application, direction: .incoming, from: address, fromName: "",
            to: address, startedAt: time)
    }

    /// A leg of the call that other calls of the application become. It talks when they have come together.
    ///
    /// - Parameters:
    ///   - first: the call that the command was about; its context and parameters are kept.
    ///   - own: the application's address in it.
    ///   - name: the application's display name.
    ///   - isMuted: the others do not hear the leg.
    ///   - time: now, in milliseconds since 1970.
    package init(
        joining first: ApplicationCall, own: UserAddress, name: String, as session: SessionID, at place: LegAddress,
        isMuted: Bool, time: Int64
    ) {
        self.place = place
        startsMuted = isMuted
        view = ApplicationCall(
            id: session, call: place.call, application: first.application, direction: .outgoing, from: own,
            fromName: name, to: UserAddress(written: "conference@\(own.domain)") ?? own, startedAt: time,
            parameters: first.parameters, context: first.context, trace: first.trace, isMuted: isMuted)
    }

    /// The application's own address in the call.
    package var own: UserAddress { view.direction == .incoming ? view.to : view.from }

    /// Whether the call is over for the application.
    package var isOver: Bool { forgotten != nil }

    /// Whether the leg counts as one of the application's calls: it has not ended, as far as the application is shown.
    package var isLive: Bool { view.state.phase != .ended }

    /// When `timeout` has something to do; `nil`: never, as things stand.
    package var deadline: MonotonicTime? { [decision?.deadline, gather?.deadline, forgotten].compactMap(\.self).min() }

    /// Whether the leg is to be forgotten now.
    package func isForgotten(at now: MonotonicTime) -> Bool { forgotten.map { $0 <= now } ?? false }

    // MARK: What the owner is told

    /// The leg is told a fact.
    ///
    /// - Parameter time: now, in milliseconds since 1970.
    package mutating func handle(_ event: CallEvent, at now: MonotonicTime, time: Int64) -> [Action] {
        guard !isOver else { return [] }
        view.version += 1
        return fold(event, at: now, time: time) + sayLate() + recordLate()
    }

    private mutating func fold(_ event: CallEvent, at now: MonotonicTime, time: Int64) -> [Action] {
        switch event.fact {
        case .invited(_, let invitation):
            if let audience = event.audience { view.meet(audience) }
            view.parameters = invitation.content.parameters
            guard view.direction == .incoming else { return [] }
            guard let milliseconds = invitation.decisionMilliseconds else { return [.fallBack] }
            let end = now + .milliseconds(milliseconds)
            decision = Decision(deadline: end, time: time + Int64(milliseconds))
            view.decideBy = decideBy
        case .progressed: hearsEarly = true
        case .keyPressed(let key, _, _): return follow(gather?.press(key, at: now) ?? [])
        case .played(let list): return ended(list, at: now)
        case .gathered: break
        // Its part is done: the leg only has to end the call.
        case .completed:
            end(nil, at: now)
            return [.perform(.end(reasonText: nil))]
        case .stoppedRinging(.forwarded, _): end(nil, at: now)
        // The other leg of the call has been connected with that of another one.
        case .released(.transferred(by: place.leg), _): end(nil, at: now)
        case .released(let cause, _), .left(let cause, _): end(cause, at: now)
        case .stoppedRinging, .joined, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .talks,
            .established, .rejected, .forwarded, .changedDevice, .renewedSubscription, .moved, .ended, .offered,
            .answered, .unanswered, .candidates, .held, .resumed, .transferStarted, .transferFailed,
            .mediaReached, .mediaRestarted, .pathLost, .pathRecovered, .playbackEnded, .qualityMeasured,
            .content:
            break
        }
        return []
    }

    /// The call is part of this trace; `nil`: of none that is known yet.
    package mutating func noteTrace(_ trace: TraceContext?) { view.trace = trace ?? view.trace }

    /// The leg talks from now on.
    package mutating func established(time: Int64) -> [Action] {
        if view.answeredAt == nil { view.answeredAt = time }
        endDecision()
        talks = true
        let mute: [Action] = startsMuted && view.isMuted ? [.perform(.headless(.say(.mute(true))))] : []
        startsMuted = false
        return mute + sayLate() + recordLate() + fallBackLate()
    }

    /// The leg is part of another call from now on.
    package mutating func move(to place: LegAddress) {
        self.place = place
        view.call = place.call
        view.version += 1
    }

    /// The leg is part of no call any more.
    package mutating func detach(at now: MonotonicTime) {
        if !isOver { end(refusal, at: now) }
    }

    /// A timer has fired. If the time of `deadline` has not come, nothing happens.
    package mutating func timeout(at now: MonotonicTime) -> [Action] {
        if let decision, decision.deadline <= now {
            endDecision()
            return [.fallBack]
        }
        return follow(gather?.timeout(at: now) ?? [])
    }

    /// The call is so, as the leg sees it.
    package mutating func see(_ session: CallSession) {
        guard !isOver else { return }
        view.see(session, isHeardEarly: isHeardEarly)
    }

    // MARK: Commands

    /// The application gives a command, which counts as a decision about the call.
    ///
    /// - Returns: what the call is asked for, in order. What other owners decide, too, is none of that: a transfer, and
    ///   what is done with other calls of the application.
    package mutating func take(_ command: ApplicationCommand, at now: MonotonicTime) -> [CallCommand] {
        endDecision()
        isDecided = true
        switch command {
        case .ring: return [.ring]
        case .progress(let list):
            isHeardEarly = true
            return [.headless(.progress)] + (list.map { [say($0, tag: nil, .replace)] } ?? [])
        case .answer(let content): return [.answer(CallAnswerRequest(sdp: "", content: content))]
        case .reject(let cause): return [refuse(cause)]
        case .end(let reasonText): return [.end(reasonText: reasonText)]
        case .hold: return [.headless(.hold(true))]
        case .resume: return [.headless(.hold(false))]
        case .transfer, .transferToCall, .bridge, .join: return []
        case .leave: return [.end(reasonText: nil)]
        case .mute: return [.headless(.say(.mute(true)))]
        case .unmute: return [.headless(.say(.mute(false)))]
        case .send(let content): return [.send(content)]
        case .keys(let digits): return [.sendDigits(digits, to: .peer)]
        case .play(let request): return [say(request.list, tag: request.tag, request.mode)]
        // What the call may refuse comes first, so that nothing is made known that has not happened.
        case .stop: return [.headless(.say(.stop))] + endGathering().filter { !$0.isStop }
        case .gather(let request): return start(request, at: now)
        case .record(let command): return [.headless(.say(.record(order(command))))]
        }
    }

    /// A command was carried out. What it ends is shown as ended at once; the facts that follow have the last word.
    package mutating func finish(_ command: ApplicationCommand) {
        guard !isOver else { return }
        view.finish(command, by: place.leg, refusal: refusal)
    }

    /// A command was refused, and the call is as it was.
    package mutating func withdraw(_ command: ApplicationCommand, before: ApplicationLeg, at now: MonotonicTime) {
        waiting.removeAll { $0.number > before.lastList }
        (isHeardEarly, refusal) = (before.isHeardEarly, before.refusal)
        if command.name == .record { withdrawRecording(before) }
        if !isOver, view.answeredAt == nil {
            // The invitation may have come meanwhile, and with it the time to decide.
            (decision, isDecided) = (decision ?? before.decision, before.isDecided)
            view.decideBy = decideBy
        }
        if command.name == .stop || command.name == .gather { resumeGathering(before, at: now) }
        show()
    }

    /// Plays a list, and ends the call after it.
    package mutating func announce(_ list: PlayList) -> CallCommand {
        let command = say(list, tag: nil, .replace)
        (announcement, unsaid) = (lastList, nil)
        return command
    }

    /// The call did not allow the announcement. It is said again when the leg is told something.
    ///
    /// - Parameter before: the leg before the announcement.
    /// - Returns: what follows at once, because the leg has been told meanwhile that it talks.
    package mutating func postpone(_ list: PlayList, before: ApplicationLeg) -> [Action] {
        guard !isOver else { return [] }
        waiting.removeAll { $0.number == announcement }
        (announcement, unsaid) = (nil, list)
        show()
        return talks && !before.talks ? sayLate() : []
    }

    private mutating func sayLate() -> [Action] {
        guard let list = unsaid else { return [] }
        unsaid = nil
        return [.announce(list)]
    }

    // MARK: Parts

    /// Nobody is waited for any more.
    private mutating func endDecision() { (decision, view.decideBy) = (nil, nil) }

    private mutating func refuse(_ cause: RejectCause) -> CallCommand {
        switch cause {
        case .declined:
            refusal = .rejected(reasonText: nil)
            return .reject(replacement: false)
        case .busy: return refuse(as: .busy)
        case .unavailable: return refuse(as: .notRegistered)
        case .notFound: return refuse(as: .noSuchUser)
        }
    }

    private mutating func refuse(as reason: CallEndCause.Unreachable) -> CallCommand {
        refusal = .unreachable(reason)
        return .headless(.refuse(reason))
    }

    private mutating func say(_ list: PlayList, tag: String?, _ mode: PlayRequest.Mode) -> CallCommand {
        lastList += 1
        // What is replaced is removed when its end is told.
        waiting.append(Waiting(number: lastList, tag: tag))
        show()
        return .headless(.say(.play(list, number: lastList, tag: tag, mode)))
    }

    private mutating func start(_ request: GatherRequest, at now: MonotonicTime) -> [CallCommand] {
        let former = endGathering()
        gather = Gather(request, at: now)
        guard let list = request.prompt else {
            show()
            return former
        }
        // The prompt replaces what plays, so that it need not be stopped before.
        let command = say(list, tag: request.tag, .replace)
        prompt = lastList
        show()
        return [command] + former.filter { !$0.isStop }
    }

    /// Ends the gathering.
    ///
    /// - Returns: what stops its prompt, and then what makes the end known.
    private mutating func endGathering() -> [CallCommand] {
        follow(gather?.stop() ?? []).compactMap { if case .perform(let command) = $0 { command } else { nil } }
    }

    /// The command that ended the gathering was refused.
    private mutating func resumeGathering(_ before: ApplicationLeg, at now: MonotonicTime) {
        guard !isOver else {
            // The end has cut off the former one.
            cutOffGathering = before.gather?.cutOff ?? cutOffGathering
            return
        }
        gather = before.gather
        prompt = before.prompt.flatMap { number in waiting.contains { $0.number == number } ? number : nil }
        if before.prompt != nil, prompt == nil { gather?.promptEnded(at: now) }
    }

    mutating func ended(_ list: PlayedList, at now: MonotonicTime) -> [Action] {
        waiting.removeAll { $0.number == list.number }
        // Of several lists that the end of the call cuts off, the one that played is shown: it comes first.
        if list.outcome != .callEnded || view.played?.outcome != .callEnded { view.played = list }
        if prompt == list.number {
            prompt = nil
            gather?.promptEnded(at: now)
        }
        show()
        guard announcement == list.number else { return [] }
        announcement = nil
        switch list.outcome {
        case .completed, .failed: return [.perform(.end(reasonText: nil))]
        // The application has taken over after all.
        case .stopped, .replaced, .callEnded: return []
        }
    }

    private mutating func follow(_ actions: [Gather.Action]) -> [Action] {
        var result: [Action] = []
        for action in actions {
            switch action {
            // Lists that wait behind the prompt are none of its business.
            case .stopPrompt: if let prompt { result.append(.perform(.headless(.say(.stopList(prompt))))) }
            case .end(let keys):
                gather = nil
                result.append(.perform(.headless(.gathered(keys))))
            }
        }
        show()
        return result
    }

    private mutating func end(_ cause: CallEndCause?, at now: MonotonicTime) {
        forgotten = now + Self.remembrance
        endDecision()
        cutOffGathering = gather?.cutOff
        (gather, prompt, waiting, unsaid) = (nil, nil, [], nil)
        view.state = .ended(cause)
        view.members = []
        view.version += 1
        show()
    }

    /// Shows what plays and what is gathered.
    private mutating func show() {
        view.playing = waiting.first.map { ApplicationCall.Playing(tag: $0.tag, waiting: waiting.count - 1) }
        view.gathering = gather.map { ApplicationCall.Gathering(tag: $0.request.tag, keys: $0.keys) }
    }
}
