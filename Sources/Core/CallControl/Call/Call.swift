package import Primitives
import SDP

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
    /// Where a call stands in the diagram above.
    ///
    /// - `initial`: made, and not started; only `start`, `calleeUnreachable` and `join` lead out of it.
    /// - `unanswered`: started; the callee's devices ring, or the call is about to end because no device can.
    /// - `joining`: a conference that waits for the legs of two calls.
    /// - `answered`: the legs talk, or (slow start) negotiate their first offer.
    /// - `ended`: over, for the reason in the record; final.
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
        /// What every device of the callee is told, including devices that subscribe while the call rings.
        var invitation: CallEvent.Invitation
        /// What the caller has been told.
        var progress = Progress.silent
        /// How often the call has been forwarded to another address.
        var forwards = 0
        /// The caller listed `earlymedia`.
        var acceptsEarlyMedia = false
        /// The caller hears the callee, an application, before the answer.
        var isHeardEarly = false
        /// No device rings, and the call ends for this reason at `deadline`; `nil`: devices ring, or are woken.
        var unreachable: CallEndCause.Unreachable?
        /// How long each callee rings.
        var ringTime: Duration
        /// When the devices stop ringing.
        var deadline: MonotonicTime

        /// What the caller of a call that is not answered has been told.
        ///
        ///     silent ── it has a description ahead of the answer ──▶ earlyMedia
        ///        └───────────────── a device rings ──▶ rung ◀────────────┘
        enum Progress: Equatable, Sendable {
            /// Nothing yet.
            case silent
            /// It has a description ahead of the answer, and hears what that brings.
            case earlyMedia
            /// A device rings.
            case rung(withEarlyMedia: Bool)
        }
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

    /// The name of the call within the gateway; no client sees it.
    package let id: CallID
    /// The legs of the call, the caller first until it leaves. A leg that has left is not among them.
    package internal(set) var legs: [CallLeg]
    /// Where the call stands. Only `move(to:)` leads from one state to another.
    package private(set) var state = State.initial
    /// The times, limits and policies of this call.
    let configuration: Configuration
    /// The highest LegID that has been given out.
    private var lastLeg: LegID

    /// Makes a call between a caller and a callee, in state `initial`. Their names are cut to `maximumTextLength`.
    package init(id: CallID, parties: PerLeg<CallParty>, configuration: Configuration = Configuration()) {
        self.id = id
        self.configuration = configuration
        let (caller, callee) = (parties.caller.cut(to: configuration), parties.callee.cut(to: configuration))
        legs = [
            CallLeg(id: .caller, party: caller, isCalled: false, stage: .waiting, remote: .user(callee.shown)),
            CallLeg(id: .callee, party: callee, isCalled: true, stage: .ringing, remote: .user(caller.shown)),
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
                remote: .conference(domain: String(joiner.user.domain)))
        ]
        lastLeg = .callee
    }

    /// Takes the LegID for one more leg. A number is given out once, so that no two legs of the call ever share one.
    package mutating func takeLeg() -> LegID {
        lastLeg = LegID(lastLeg.number + 1)
        return lastLeg
    }

    /// - Parameter leg: has a number from `takeLeg()`.
    mutating func add(_ leg: CallLeg) {
        precondition(
            leg.id > .callee && leg.id <= lastLeg && self[leg.id] == nil,
            "a number is taken for one leg, and used for no other")
        legs.append(leg)
    }
}

// MARK: - State

extension Call {
    /// Moves the call along an edge of the diagram above `Call`.
    mutating func move(to next: State) {
        assert(state.leads(to: next), "the diagram has no edge from \(state) to \(next)")
        state = next
    }

    /// The call while it rings; `nil` in any other state. A change stays within the state.
    var unanswered: Unanswered? {
        get { if case .unanswered(let unanswered) = state { unanswered } else { nil } }
        set { if case .unanswered = state, let newValue { state = .unanswered(newValue) } }
    }

    /// The conference that is being joined; `nil` in any other state. A change stays within the state.
    var joining: Joining? {
        get { if case .joining(let joining) = state { joining } else { nil } }
        set { if case .joining = state, let newValue { state = .joining(newValue) } }
    }

    /// The answered call; `nil` in any other state. A change stays within the state.
    var answered: Answered? {
        get { if case .answered(let answered) = state { answered } else { nil } }
        set { if case .answered = state, let newValue { state = .answered(newValue) } }
    }

    /// The call is answered from now on: its legs talk, or (slow start) negotiate their first offer.
    ///
    /// - Parameters:
    ///   - start: when the call was started, or the conference asked for.
    ///   - content: parameters and bodies of the request that established the call.
    mutating func establish(
        since start: MonotonicTime, asConference isConference: Bool = false, content: CustomContent,
        at now: MonotonicTime
    ) -> [CallAction] {
        let setup = now - start
        move(
            to: .answered(
                Answered(
                    answeredAt: now, setupDeadline: now + configuration.mediaSetupTime, setup: setup,
                    isConference: isConference)))
        return note(nil, .established(.init(setup: setup, content: content)))
    }
}

extension Call.State {
    /// Whether the diagram above `Call` has an edge from this state to another one.
    fileprivate func leads(to next: Self) -> Bool {
        switch (self, next) {
        case (.initial, .unanswered), (.initial, .joining): true
        case (.unanswered, .answered), (.joining, .answered): true
        case (.unanswered, .ended), (.joining, .ended), (.answered, .ended): true
        case (.initial, _), (.unanswered, _), (.joining, _), (.answered, _), (.ended, _): false
        }
    }
}

extension Call.Unanswered.Progress {
    /// The caller has a description ahead of the answer (early media).
    var hasEarlyMedia: Bool {
        switch self {
        case .earlyMedia, .rung(withEarlyMedia: true): true
        case .silent, .rung(withEarlyMedia: false): false
        }
    }

    /// The progress once the caller has a description ahead of the answer.
    var withEarlyMedia: Self {
        switch self {
        case .silent, .earlyMedia: .earlyMedia
        case .rung: .rung(withEarlyMedia: true)
        }
    }

    /// The progress once a device rings; `nil` if the caller knows that one does.
    var rung: Self? {
        switch self {
        case .silent: .rung(withEarlyMedia: false)
        case .earlyMedia: .rung(withEarlyMedia: true)
        case .rung: nil
        }
    }
}

// MARK: - Start

extension Call {
    /// Carries out the caller's request and rings the callee, who has at least one device, awake or asleep. Without an
    /// offer in the request the callee offers, and the caller answers (spidr-wire §8.1, slow start).
    ///
    /// - Parameter mode: whether media goes from peer to peer, or through the gateway with these identities.
    /// - Throws: `descriptionTooLong`, `malformedDescription` or `unsupportedDescription` if the offer cannot be used.
    package mutating func start(
        _ request: CallStartRequest, media mode: MediaMode, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        try checkLength(of: request.sdp)
        var invitation = CallEvent.Invitation(content: request.content, mayForward: !request.isConnector)

        var isOffered = false
        var progress: (caller: LegTransport, sdp: String)?
        switch mode {
        case .direct:
            invitation.description = request.sdp.isEmpty ? nil : request.sdp
            for leg in [LegID.caller, .callee] { edit(leg) { $0.transport = .direct } }
        case .anchored(let identities):
            var caller = transport(for: legs[0].party, identities.caller, preferences: request.mediaPreferences)
            var callee = transport(for: legs[1].party, identities.callee)
            if caller.isHeadless || !request.sdp.isEmpty,
                let offer = try caller.receive(offer: request.sdp, random: &random)
            {
                invitation.description = try callee.offer(mirroring: offer, random: &random)
                isOffered = true
                if request.acceptsEarlyMedia, configuration.earlyMedia != nil {
                    progress = caller.progressing(random: &random)
                }
            }
            edit(.caller) { $0.transport = caller }
            edit(.callee) { $0.transport = callee }
        }
        edit(.caller) { caller in
            caller.handlesReplacement = request.handlesReplacement
            caller.isConnector = request.isConnector
            caller.exchange.sent.record(DescriptionIdentity(.start, request.sdp), as: .start)
        }
        keep(.caller, at: request.device)
        let ringTime = min(request.ringTime ?? configuration.ringTime, configuration.ringTime)
        move(
            to: .unanswered(
                Unanswered(
                    startedAt: now, invitation: invitation, acceptsEarlyMedia: request.acceptsEarlyMedia,
                    ringTime: ringTime, deadline: now + ringTime)))
        var actions = introduced(.caller, as: .dialled) + introduced(.callee, as: .called)
        if isOffered { actions += prepareOffered(.callee) }
        if let progress { actions += giveEarlyMedia(progress.caller, progress.sdp) }
        return actions + ring(.callee, with: invitation)
    }

    /// Starts a call to a callee whom no device can ring. The call exists for `unreachableTime` all the same, because
    /// every client handles that path (spidr-wire §6.1), and the call can answer the audit that some clients
    /// send first. It exists for the caller only.
    package mutating func calleeUnreachable(_ reason: CallEndCause.Unreachable, at now: MonotonicTime) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        edit(.callee) { callee in
            callee.party.devices = []
            callee.move(to: .unreached)
        }
        move(
            to: .unanswered(
                Unanswered(
                    startedAt: now, invitation: CallEvent.Invitation(), unreachable: reason,
                    ringTime: configuration.unreachableTime, deadline: now + configuration.unreachableTime)))
        return introduced(.caller, as: .dialled) + introduced(.callee, as: .called)
    }

    /// Why no device rings, in a call that is about to end for that reason.
    var unreachable: CallEndCause.Unreachable? { unanswered?.unreachable }

    /// Invites the devices of a leg, and wakes those that are asleep; or invites its application.
    mutating func ring(_ leg: LegID, with invitation: CallEvent.Invitation) -> [CallAction] {
        var invitation = invitation
        invitation.decisionMilliseconds = self[leg]?.party.decisionMilliseconds
        let devices = self[leg]?.party.devices ?? []
        let isAsleep = devices.isEmpty && self[leg]?.party.sleeping.isEmpty == false
        return (isAsleep ? [] : tell(leg, .invited(devices: devices, invitation: invitation)))
            + wake(leg, with: invitation) + assumeRinging(leg, devices, with: invitation)
    }

    /// Devices that cannot report that they ring are assumed to ring as soon as they are invited, unless they are to
    /// replace a call.
    mutating func assumeRinging(
        _ leg: LegID, _ devices: [Device], with invitation: CallEvent.Invitation
    ) -> [CallAction] {
        let silent = devices.filter { !$0.sendsRingingFeedback }
        guard invitation.replaces == nil, !silent.isEmpty else { return [] }
        return silent.flatMap { note(leg, .rings(device: $0.subscription)) } + rang()
    }
}

// MARK: - Parts

extension Call {
    /// Whether the call has ended.
    var isOver: Bool { if case .ended = state { true } else { false } }

    /// The leg of this number; `nil` if it is not part of the call, or has left it.
    package subscript(leg: LegID) -> CallLeg? { legs.first { $0.id == leg } }

    /// Changes a leg; ignored if the leg has left the call.
    ///
    /// - Returns: What `change` returns; `nil` if the leg has left the call.
    @discardableResult
    mutating func edit<Outcome>(_ leg: LegID, _ change: (inout CallLeg) -> Outcome) -> Outcome? {
        guard let index = legs.firstIndex(where: { $0.id == leg }) else { return nil }
        return change(&legs[index])
    }

    /// The leg, if clients may know of the call. Throws `noSuchCall` otherwise.
    func member(_ leg: LegID) throws(CallError) -> CallLeg {
        switch state {
        case .initial, .ended: throw .noSuchCall
        case .unanswered, .joining, .answered: break
        }
        guard let member = self[leg], member.stage != .unreached else { throw .noSuchCall }
        return member
    }

    /// All other legs that talk.
    func others(of leg: LegID) -> [CallLeg] { legs.filter { $0.id != leg && $0.isTalking } }

    /// Limits a description that is passed on unread to the length of one that is parsed.
    func checkLength(of sdp: String) throws(CallError) {
        guard sdp.utf8.count <= DescriptionLimits.bytes else {
            throw .descriptionTooLong(limit: DescriptionLimits.bytes)
        }
    }

    /// The error for an operation that does not fit the state, as this leg sees it.
    func refusal(of operation: CallError.Operation, to leg: LegID) -> CallError {
        .notAllowed(operation, .state(legState(leg)))
    }

    /// The error for a leg that rings no more.
    func answeredAlready(_ leg: LegID) -> CallError { .alreadyAnswered(state: legState(leg)) }

    /// Tells the media plane what was agreed with the leg.
    mutating func connect(_ leg: LegID) -> [CallAction] {
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
