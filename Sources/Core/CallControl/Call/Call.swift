package import Primitives
package import SDP

/// A call between a caller and the devices of a callee (spidr-wire §6).
///
///     initial ── start ──▶ unanswered ── answer ──▶ answered
///        │                    │                        │
///        │ calleeUnreachable  │ reject, end, timeout,  │ end, media failure,
///        │                    │ a party left, drain    │ a party left, drain
///        ▼                    ▼                        ▼
///      ended ◀────────────────┴────────────────────────┘
///
/// Inputs of clients throw when they do not fit and change nothing; events that do not fit are ignored. What either
/// end sees of it is its `LegState`. See docs/call-states.md for the table.
package struct Call: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// How long the callee's devices ring.
        package var ringTime: Duration
        /// From the answer until both legs of an anchored call have keys. The media plane has timers of its own, which
        /// say more exactly what went wrong; this one is longer and stands behind them.
        package var mediaSetupTime: Duration
        /// Characters of a reason or a name that are passed on (spidr-wire §6.7).
        package var maximumTextLength: Int
        package var mediaPolicy: MediaPolicy

        package init(
            ringTime: Duration = .seconds(60), mediaSetupTime: Duration = .seconds(60), maximumTextLength: Int = 256,
            mediaPolicy: MediaPolicy = .relay
        ) {
            self.ringTime = ringTime
            self.mediaSetupTime = mediaSetupTime
            self.maximumTextLength = maximumTextLength
            self.mediaPolicy = mediaPolicy
        }
    }

    package enum State: Equatable, Sendable {
        case initial
        case unanswered(Unanswered)
        case answered(Answered)
        case ended(CallRecord)
    }

    package struct Unanswered: Equatable, Sendable {
        let startedAt: MonotonicTime
        /// What each device of the callee is told, those that come late included.
        let invitation: Notification
        /// The caller has been told that a device rings.
        var hasRung = false
        /// `nil` if media goes from peer to peer.
        var media: AnchoredMedia?
    }

    package struct Answered: Equatable, Sendable {
        let answeredAt: MonotonicTime
        let setup: Duration
        var media: AnchoredMedia?
        /// What each end hears in place of the other.
        var playing = PerLeg<Playing?>(caller: nil, callee: nil)
        var lastPlayback: UInt32 = 0
    }

    /// Why the call wants to be woken.
    package enum Timer: Hashable, Sendable {
        case ringing
        case mediaSetup
    }

    package let id: CallID
    package internal(set) var parties: PerLeg<CallParty>
    package internal(set) var state = State.initial
    let configuration: Configuration

    package init(id: CallID, parties: PerLeg<CallParty>, configuration: Configuration = Configuration()) {
        self.id = id
        self.configuration = configuration
        self.parties = parties
        for leg in Leg.allCases { self.parties[leg].name = String(parties[leg].name.prefix(configuration.maximumTextLength)) }
    }
}

// MARK: - Start

extension Call {
    /// The caller's request, with at least one device of the callee to ring. Throws if the offer cannot be used.
    package mutating func start(
        _ request: CallStartRequest, media mode: MediaMode, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        guard !request.sdp.isEmpty else { throw .unsupportedDescription("a call without an offer is not possible; send one in \"sdp\"") }
        var invitation = notification(.call, to: .callee)
        invitation.actions = [.answer, .reject]
        invitation.customParameters = request.customParameters

        var actions: [CallAction] = []
        var anchored: AnchoredMedia?
        switch mode {
        case .direct:
            invitation.sdp = request.sdp
        case .anchored(let identities):
            do throws(SDPError) {
                let (media, offer) = try AnchoredMedia.offering(
                    request.sdp, identities: identities, policy: configuration.mediaPolicy, random: &random)
                invitation.sdp = offer
                actions.append(.prepareMedia(.callee, media.credentials(of: .callee)))
                anchored = media
            } catch {
                throw CallError(error)
            }
        }
        let devices = parties.callee.devices
        state = .unanswered(Unanswered(startedAt: now, invitation: invitation, media: anchored))
        actions.append(.notify(.callee, devices.map(\.subscription), invitation))
        return actions + (devices.contains { !$0.sendsRingingFeedback } ? rang() : [])
    }

    /// There is nobody to ring. The call exists for a moment all the same, because that is the path every client
    /// handles (spidr-wire §6.1).
    package mutating func calleeUnreachable(_ reason: CallEndCause.Unreachable, at now: MonotonicTime) -> [CallAction] {
        guard state == .initial else { preconditionFailure("a call starts once") }
        return finish(.unreachable(reason), at: now)
    }
}

// MARK: - Requests of the clients

extension Call {
    /// A device of the callee shows the call (spidr-wire §6.5); only the first is passed on.
    package mutating func ringing(by leg: Leg) throws(CallError) -> [CallAction] {
        guard case .unanswered = try living(), leg == .callee else { throw refusal(of: "ringing", to: leg) }
        return rang()
    }

    /// A device of the callee answers; the first one wins (spidr-wire §6.3, §6.6).
    package mutating func answer(
        by leg: Leg, _ request: CallAnswerRequest, at now: MonotonicTime, random: inout some RandomSource
    ) throws(CallError) -> [CallAction] {
        let current = try living()
        guard leg == .callee else { throw refusal(of: "callAnswer", to: leg) }
        guard case .unanswered(let unanswered) = current else { throw .alreadyAnswered }
        guard !request.sdp.isEmpty else { throw .unsupportedDescription("an answer needs a description; send one in \"sdp\"") }
        var update = notification(.respondCallUpdate, to: .caller)
        update.customParameters = request.customParameters
        var actions: [CallAction] = []
        var media = unanswered.media
        do throws(SDPError) {
            update.sdp = try media?.answer(request.sdp, random: &random) ?? request.sdp
        } catch {
            throw CallError(error)
        }
        if let media {
            actions.append(.prepareMedia(.caller, media.credentials(of: .caller)))
            actions += Leg.allCases.compactMap { leg in media.legs[leg].negotiated.map { .connectMedia(leg, $0) } }
        }
        let setup = now - unanswered.startedAt
        state = .answered(Answered(answeredAt: now, setup: setup, media: media))
        return actions + tell(.caller, update) + tell(.callee, notification(.callCancel, to: .callee)) + [.answered(setup: setup)]
    }

    /// A device of the callee declines for all of them (spidr-wire §6.4).
    package mutating func reject(by leg: Leg, at now: MonotonicTime) throws(CallError) -> [CallAction] {
        let current = try living()
        guard leg == .callee else { throw refusal(of: "reject", to: leg) }
        guard case .unanswered = current else { throw .alreadyAnswered }
        return finish(.rejected(reasonText: nil), at: now)
    }

    /// Either end hangs up (spidr-wire §6.7). Before the answer that is a cancellation by the caller, a rejection by the callee.
    package mutating func end(by leg: Leg, reasonText: String?, at now: MonotonicTime) throws(CallError) -> [CallAction] {
        let reason = reasonText.flatMap { $0.isEmpty ? nil : String($0.prefix(configuration.maximumTextLength)) }
        switch (try living(), leg) {
        case (.answered, _): return finish(.completed(by: leg, reasonText: reason), at: now)
        case (_, .caller): return finish(.cancelled(reasonText: reason), at: now)
        case (_, .callee): return finish(.rejected(reasonText: reason), at: now)
        }
    }

    /// The client asks whether the call is still there (spidr-wire §6.9), answered or not.
    package func audit() throws(CallError) { _ = try living() }

    /// What the state query answers (spidr-wire §6.8).
    package func progress() throws(CallError) -> CallProgress {
        if case .answered = try living() { .answered } else { .ringing }
    }
}

// MARK: - Events

extension Call {
    /// A leg's media path has come this far.
    package mutating func mediaAdvanced(_ leg: Leg, to step: MediaProgress) {
        switch state {
        case .unanswered(var unanswered):
            unanswered.media?.advance(leg, to: step)
            state = .unanswered(unanswered)
        case .answered(var answered):
            answered.media?.advance(leg, to: step)
            state = .answered(answered)
        case .initial, .ended:
            break
        }
    }

    /// A leg's media path is lost. Before the answer that says nothing: any of the callee's devices may have checked its
    /// path early, and gone away again.
    package mutating func mediaFailed(_ leg: Leg, _ fault: MediaFault, at now: MonotonicTime) -> [CallAction] {
        guard case .answered = state else { return [] }
        return finish(.mediaFailed(leg, fault), at: now)
    }

    /// The gateway is stopping.
    package mutating func drain(at now: MonotonicTime) -> [CallAction] {
        switch state {
        case .unanswered, .answered: finish(.drained, at: now)
        case .initial, .ended: []
        }
    }

    /// The time of `nextDeadline` has come; too early a call does nothing.
    package mutating func timeout(at now: MonotonicTime) -> [CallAction] {
        guard let deadline = nextDeadline, deadline.time <= now else { return [] }
        switch (deadline.reason, state) {
        case (.ringing, _): return finish(.unanswered, at: now)
        case (.mediaSetup, .answered(let answered)):
            return finish(.mediaFailed(answered.media?.unsecuredLeg ?? .caller, .setupTimeout), at: now)
        case (.mediaSetup, _): return []
        }
    }

    package var nextDeadline: Deadline<Timer>? {
        switch state {
        case .initial, .ended: nil
        case .unanswered(let unanswered): Deadline(unanswered.startedAt + configuration.ringTime, .ringing)
        case .answered(let answered):
            answered.media?.unsecuredLeg == nil ? nil : Deadline(answered.answeredAt + configuration.mediaSetupTime, .mediaSetup)
        }
    }
}

// MARK: - Parts

extension Call {
    /// The state, if the call is there for clients.
    func living() throws(CallError) -> State {
        switch state {
        case .initial, .ended: throw .noSuchCall
        case .unanswered, .answered: state
        }
    }

    func refusal(of operation: String, to leg: Leg) -> CallError {
        .notAllowed(operation: operation, state: legState(leg).rawValue)
    }
}
