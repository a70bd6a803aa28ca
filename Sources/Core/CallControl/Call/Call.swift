package import Primitives
package import SDP

/// A call: two legs that talk through the gateway, or more than two in a conference (spidr-wire §6–§8).
///
///           start,
///           calleeUnreachable
///     initial ──────────▶ unanswered ── answer ──▶ answered ◀── both calls handed over ── joining
///                             │                        │                                    │
///                             │ reject, end, timeout,  │ end, media failure,                │ refused,
///                             │ a party left, drain    │ a party left, drain                │ end, drain
///                             ▼                        ▼                                    ▼
///      ended ◀────────────────┴────────────────────────┴────────────────────────────────────┘
///
/// An answered call has at most one operation in progress (`Operation`). A client's request throws if it does not fit
/// the state, and then changes nothing. An event that does not fit is ignored. What one leg sees of the state is its
/// `LegState`. The tables are in docs/call-states.md.
package struct Call: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// How long the callee's devices ring.
        package var ringTime: Duration
        /// How long a call lasts for which there is nobody to ring; up to a second. Web clients know a new call only some time after the
        /// answer to `callStart` (185 ms have been seen), and are deaf to its end before that (spidr-wire §12.1).
        package var unreachableTime = Duration.milliseconds(250)
        /// From the answer until the legs of an anchored call have keys. The media plane has timers of its own, which
        /// say more exactly what went wrong; this one is longer and stands behind them.
        package var mediaSetupTime: Duration
        /// How long a client may take to answer an offer within a call.
        package var offerTime: Duration
        /// How long an end whose call was handed over has to end it.
        package var completionTime: Duration
        /// How long an end may go on without a request, audits included, if it has no open channel or has audited
        /// before; `nil`: for ever.
        package var clientTimeout: Duration?
        /// Characters of a reason or a name that are passed on (spidr-wire §6.7).
        package var maximumTextLength: Int
        /// What a caller that lists `earlymedia` hears before the answer, the ringback tone once a device rings; `nil`: what its own device plays.
        package var earlyMedia: Playback?
        /// Whether an end that is kept waiting hears music, where its description lets it hear anything.
        package var playsMusicOnHold: Bool
        package var mediaPolicy: MediaPolicy

        package init(
            ringTime: Duration = .seconds(60), mediaSetupTime: Duration = .seconds(60),
            offerTime: Duration = .seconds(30),
            completionTime: Duration = .seconds(30), clientTimeout: Duration? = .seconds(90),
            maximumTextLength: Int = 256, earlyMedia: Playback? = nil,
            playsMusicOnHold: Bool = true, mediaPolicy: MediaPolicy = .relay
        ) {
            self.ringTime = ringTime
            self.mediaSetupTime = mediaSetupTime
            self.offerTime = offerTime
            self.completionTime = completionTime
            self.clientTimeout = clientTimeout
            self.maximumTextLength = maximumTextLength
            self.earlyMedia = earlyMedia
            self.playsMusicOnHold = playsMusicOnHold
            self.mediaPolicy = mediaPolicy
        }
    }

    package enum State: Equatable, Sendable {
        case initial
        case unanswered(Unanswered)
        case joining(Joining)
        case answered(Answered)
        case ended(CallRecord)
    }

    /// A call that has been started, and neither answered nor ended.
    package struct Unanswered: Equatable, Sendable {
        /// When the caller started the call.
        let startedAt: MonotonicTime
        /// What each device of the callee is told, those that come late included.
        var invitation: Notification
        /// The caller has been told that a device rings.
        var hasRung = false
        /// The caller has a description ahead of the answer (early media).
        var hasProgressed = false
        /// How often the call has been forwarded to another address.
        var forwards = 0
        /// Why no device rings; the call ends for this reason at `deadline`. `nil`: devices ring.
        var unreachable: CallEndCause.Unreachable?
        /// When the devices stop ringing.
        var deadline: MonotonicTime
    }

    /// A call whose legs talk, or (slow start) negotiate their first offer.
    package struct Answered: Equatable, Sendable {
        /// When the call was answered.
        let answeredAt: MonotonicTime
        /// The time by which the media paths of all legs must be secured.
        var setupDeadline: MonotonicTime
        /// The time from the start to the answer.
        let setup: Duration
        /// Every leg hears the mix of the others, and the gateway answers every offer itself.
        var isConference = false
        /// The operation in progress; `nil`: none.
        package internal(set) var operation: Operation?
        /// The number of the last playback in this call; 0 is that of early media.
        var lastPlayback: UInt32 = 0
    }

    /// Why the call wants to be woken.
    package enum Timer: Hashable, Sendable {
        case ringing
        case mediaSetup
        /// An operation has taken too long.
        case operation
        /// An end has not answered what it was offered.
        case offer(Leg)
        /// An end is to be told what it does not know of the other one.
        case news(Leg)
        /// An end gives no sign of life.
        case silence(Leg)
        /// An end that was completed has not gone.
        case completion(Leg)
    }

    package let id: CallID
    package internal(set) var legs: [CallLeg]
    package internal(set) var state = State.initial
    let configuration: Configuration
    private var lastLeg: Leg

    package init(id: CallID, parties: PerLeg<CallParty>, configuration: Configuration = Configuration()) {
        self.id = id
        self.configuration = configuration
        let (caller, callee) = (parties.caller.cut(to: configuration), parties.callee.cut(to: configuration))
        legs = [
            CallLeg(id: .caller, party: caller, isCalled: false, stage: .waiting, remote: callee.shown),
            CallLeg(id: .callee, party: callee, isCalled: true, stage: .ringing, remote: caller.shown),
        ]
        lastLeg = .callee
    }

    /// Makes a conference, in state `initial`. The joiner is its only leg until the legs of other calls are handed
    /// over.
    package init(id: CallID, joiner: CallParty, configuration: Configuration = Configuration()) {
        self.id = id
        self.configuration = configuration
        legs = [
            CallLeg(
                id: .caller, party: joiner.cut(to: configuration), isCalled: false, stage: .waiting,
                remote: CallLeg.Name(name: Self.conferenceName, number: Self.conferenceNumber(for: joiner.user)))
        ]
        lastLeg = .callee
    }

    /// A number for one more end. No end of the call has had it, or will have it but that one.
    package mutating func takeLeg() -> Leg {
        lastLeg = Leg(lastLeg.number + 1)
        return lastLeg
    }

    /// - Parameter leg: has a number from `takeLeg()`.
    mutating func add(_ leg: CallLeg) {
        precondition(
            leg.id > .callee && leg.id <= lastLeg && self[leg.id] == nil,
            "a number is taken for one end, and used for no other")
        legs.append(leg)
    }
}

// MARK: - Start

extension Call {
    /// Carries out the caller's request and rings the callee, who has at least one device. Without an offer in the
    /// request the callee offers, and the caller answers (spidr-wire §8.1, slow start).
    ///
    /// - Parameter mode: whether media goes from peer to peer, or through the gateway with these identities.
    /// - Throws: `descriptionTooLong`, `malformedDescription` or `unsupportedDescription` if the offer cannot be used.
    package mutating func start(
        _ request: CallStartRequest, media mode: MediaMode, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        try checkLength(of: request.sdp)
        var invitation = notification(.call, to: .callee)
        invitation.actions = [.answer, .reject, .forward]
        invitation.carry(request.content)

        var actions: [CallAction] = []
        var progress: (caller: LegMedia, sdp: String)?
        switch mode {
        case .direct:
            invitation.sdp = request.sdp.isEmpty ? nil : request.sdp
        case .anchored(let identities):
            do throws(SDPError) {
                var caller = LegMedia(
                    identity: identities.caller, policy: configuration.mediaPolicy,
                    preferences: request.mediaPreferences)
                var callee = LegMedia(identity: identities.callee, policy: configuration.mediaPolicy)
                if !request.sdp.isEmpty {
                    let offer = try caller.receive(offer: request.sdp, random: &random)
                    invitation.sdp = try callee.offer(mirroring: offer, random: &random)
                    actions.append(.prepareMedia(.callee, callee.credentials))
                    if request.acceptsEarlyMedia, configuration.earlyMedia != nil {
                        progress = caller.progressing(random: &random)
                    }
                }
                edit(.caller) { $0.media = caller }
                edit(.callee) { $0.media = callee }
            } catch {
                throw CallError(error)
            }
        }
        edit(.caller) { caller in
            caller.handlesReplacement = request.handlesReplacement
            caller.lastUtterance = Utterance(.start, request.sdp)
        }
        keep(.caller, at: request.device)
        state = .unanswered(Unanswered(startedAt: now, invitation: invitation, deadline: now + configuration.ringTime))
        if let progress { actions += giveEarlyMedia(progress.caller, progress.sdp) }
        return actions + ring(.callee, with: invitation)
    }

    /// Starts a call to a callee whom no device can ring. The call exists for `unreachableTime` all the same, because
    /// every client handles that path (spidr-wire §6.1), and the call can answer the audit with which some clients
    /// begin. It exists for the caller only.
    package mutating func calleeUnreachable(_ reason: CallEndCause.Unreachable, at now: MonotonicTime) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        let invitation = notification(.call, to: .callee)
        edit(.callee) { $0.party.devices = [] }
        state = .unanswered(
            Unanswered(
                startedAt: now, invitation: invitation, unreachable: reason,
                deadline: now + configuration.unreachableTime))
        return []
    }

    /// Why nobody rings in a call that is about to end because of it.
    var unreachable: CallEndCause.Unreachable? {
        guard case .unanswered(let unanswered) = state else { return nil }
        return unanswered.unreachable
    }

    /// Tells an end's devices of the call, and the caller if one of them cannot say itself that it rings.
    mutating func ring(_ leg: Leg, with invitation: Notification) -> [CallAction] {
        let devices = self[leg]?.party.devices ?? []
        return tell(leg, invitation) + (devices.contains { !$0.sendsRingingFeedback } ? rang() : [])
    }
}

// MARK: - Requests of the clients

extension Call {
    /// A device of the callee shows the call (spidr-wire §6.5); only the first is passed on.
    package mutating func ringing(by leg: Leg) throws(CallError) -> [CallAction] {
        guard try member(leg).stage == .ringing else { throw refusal(of: "ringing", to: leg) }
        return rang()
    }

    mutating func firstAnswer(
        by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        guard member.isCalled else { throw refusal(of: "callAnswer", to: leg) }
        guard member.stage == .ringing else { throw answeredAlready(leg) }
        guard !request.sdp.isEmpty else {
            throw .unsupportedDescription("an answer needs a description; send one in \"sdp\"")
        }
        guard request.acceptsReplacement == member.isReplacing(in: self) else {
            throw refusal(of: request.operation, to: leg)
        }
        let actions =
            switch state {
            case .unanswered(let unanswered) where unanswered.invitation.sdp == nil:
                try answerWithOffer(unanswered, by: leg, request, at: now, random: &random)
            case .unanswered(let unanswered): try answer(unanswered, by: leg, request, at: now, random: &random)
            case .answered: try transferAnswered(by: leg, request, at: now, random: &random)
            case .initial, .joining, .ended: throw .noSuchCall
            }
        // The others have learnt that they need not ring any more, and that is the last they are told.
        keep(leg, at: request.device)
        return actions
    }

    private mutating func answer(
        _ unanswered: Unanswered, by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime,
        random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        var update = notification(.respondCallUpdate, to: .caller)
        update.carry(request.content)
        update.sdp = request.sdp
        var actions: [CallAction] = []
        if var own = self[leg]?.media, var callers = self[.caller]?.media {
            do throws(SDPError) {
                let answer = try own.receive(answer: request.sdp, wanting: request.mediaPreferences)
                update.sdp = try callers.answer(
                    mirroring: answer, isPreliminary: !own.lostLines.isEmpty, random: &random)
            } catch {
                throw CallError(error)
            }
            actions.append(
                unanswered.hasProgressed ? .stopPlaying(to: .caller) : .prepareMedia(.caller, callers.credentials))
            edit(leg) { $0.media = own }
            edit(.caller) { $0.media = callers }
            actions += [.route(.caller, .leg(leg)), .route(leg, .leg(.caller))] + connect(.caller) + connect(leg)
        }
        edit(leg) { $0.talk(request) }
        edit(.caller) { $0.stage = .talking }
        noteTold(leg, of: .caller)
        noteTold(.caller, of: leg)
        let setup = now - unanswered.startedAt
        state = .answered(Answered(answeredAt: now, setupDeadline: now + configuration.mediaSetupTime, setup: setup))
        return actions + tell(.caller, update) + cancelAnswered(leg, by: request.device) + [.answered(setup: setup)]
            + tellNews(at: now, random: &random)
    }

    /// A device of a rung end declines for all of them (spidr-wire §6.4).
    ///
    /// - Parameter replacement: it declines a call in place of the one it has, with `rejectCallReplace`.
    package mutating func reject(by leg: Leg, replacement: Bool = false, at now: MonotonicTime) throws(CallError)
        -> [CallAction]
    {
        let member = try member(leg)
        guard member.isCalled, !replacement || member.isReplacing(in: self) || member.stage != .ringing else {
            throw refusal(of: replacement ? "rejectCallReplace" : "reject", to: leg)
        }
        guard member.stage == .ringing else { throw answeredAlready(leg) }
        if case .answered = state { return transferFailed(603, "Declined", farewell: .cancel) }
        return finish(.rejected(reasonText: nil), at: now)
    }

    /// An end hangs up (spidr-wire §6.7). Before the answer that is a cancellation by the caller, a rejection by the callee.
    ///
    /// - Parameter device: of the user, that asks for it; `nil`: it is not known which.
    package mutating func end(
        by leg: Leg, from device: SubscriptionID?, reasonText: String?, at now: MonotonicTime
    ) throws(CallError) -> [CallAction] {
        let member = try member(leg)
        let reason = reasonText.flatMap { $0.isEmpty ? nil : String($0.prefix(configuration.maximumTextLength)) }
        switch state {
        case .initial, .ended: throw .noSuchCall
        case .unanswered:
            return finish(member.isCalled ? .rejected(reasonText: reason) : .cancelled(reasonText: reason), at: now)
        case .joining: return finish(.cancelled(reasonText: reason), at: now)
        case .answered(let answered):
            return leave(answered, leg, member.stage, .ended(from: device, reasonText: reason), at: now)
        }
    }

    /// What the state query answers (spidr-wire §6.8).
    package func progress(for leg: Leg) throws(CallError) -> CallProgress {
        _ = try member(leg)
        if case .answered = state { return .answered }
        return .ringing
    }
}

// MARK: - Leaving

extension Call {
    /// An end goes; the call ends with it unless it is a conference with enough others.
    mutating func leave(
        _ answered: Answered, _ leg: Leg, _ stage: CallLeg.Stage, _ event: LegEvent, at now: MonotonicTime
    ) -> [CallAction] {
        if case .handover(var handover) = answered.operation {
            // Whoever takes the end over has to deal with it, or this call does if nobody takes it.
            handover.deferred.append(Deferred(leg: leg, event: event))
            var answered = answered
            answered.operation = .handover(handover)
            state = .answered(answered)
            return []
        }
        switch stage {
        case .completed: return forget(leg)
        case .ringing: return transferFailed(603, event.reasonText ?? "Declined", farewell: .cancel)
        case .waiting, .talking: break
        }
        if case .ended(let device, _) = event { takeLeave(of: device, at: leg) }
        guard answered.isConference, others(of: leg).count > 1 else { return finish(event.cause(of: leg), at: now) }
        let cause = event.cause(of: leg)
        let farewell = cause.farewell(to: leg, isCalled: self[leg]?.isCalled ?? false)
        return (farewell.map { say($0, to: leg, because: cause) } ?? []) + [.releaseLeg(leg)] + forget(leg)
    }

    /// The end is no part of the call any more. A call that nobody talks in is over.
    mutating func forget(_ leg: Leg) -> [CallAction] {
        guard let index = legs.firstIndex(where: { $0.id == leg }) else { return [] }
        let actions: [CallAction] = [.detach(leg, legs[index].party.session)]
        legs.remove(at: index)
        guard legs.isEmpty else { return actions }
        let record = record(.transferred(by: leg), at: nil)
        state = .ended(record)
        return actions + [.releaseMedia, .ended(record)]
    }
}

// MARK: - Parts

extension Call {
    package subscript(leg: Leg) -> CallLeg? { legs.first { $0.id == leg } }

    mutating func edit(_ leg: Leg, _ change: (inout CallLeg) -> Void) {
        guard let index = legs.firstIndex(where: { $0.id == leg }) else { return }
        change(&legs[index])
    }

    /// The end, if the call is there for clients.
    func member(_ leg: Leg) throws(CallError) -> CallLeg {
        switch state {
        case .initial, .ended: throw .noSuchCall
        case .unanswered, .joining, .answered: break
        }
        guard let member = self[leg], !member.isCalled || unreachable == nil else { throw .noSuchCall }
        return member
    }

    /// Everybody else who talks.
    func others(of leg: Leg) -> [CallLeg] { legs.filter { $0.id != leg && $0.isTalking } }

    /// Limits a description that is passed on unread to the length of one that is parsed.
    func checkLength(of sdp: String) throws(CallError) {
        guard sdp.utf8.count <= DescriptionLimits.bytes else {
            throw .malformedDescription("more than \(DescriptionLimits.bytes) bytes")
        }
    }

    func refusal(of operation: String, to leg: Leg) -> CallError {
        .notAllowed(operation: operation, state: legState(leg).rawValue)
    }

    func answeredAlready(_ leg: Leg) -> CallError { .alreadyAnswered(state: legState(leg)) }

    /// Tells the media plane what was agreed with a leg.
    mutating func connect(_ leg: Leg) -> [CallAction] {
        guard let agreement = self[leg]?.media?.agreement else { return [] }
        return [.connectMedia(leg, agreement)]
    }
}

extension CallParty {
    /// The party with its name cut to the length that is passed on.
    fileprivate func cut(to configuration: Call.Configuration) -> CallParty {
        var cut = self
        cut.name = String(name.prefix(configuration.maximumTextLength))
        return cut
    }
}
