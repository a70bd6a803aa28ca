import CallControl
import Primitives

/// What the owners of calls send to each other (see `Call+Handover.swift`). Calls and users are named, so that the
/// receiver need not be in the same process.
enum PeerCallMessage: Sendable {
    /// The sender asks for the legs that talk to this leg of the receiver.
    case requested(by: CallID, of: LegID)
    /// The sender offers legs.
    case offered(Handover)
    /// The sender refuses to hand over legs.
    case refused(by: CallID)
    /// The sender has taken the legs that were offered.
    case taken(by: CallID, [HandedOverLeg], HandoverPurpose)
    /// The sender declines the legs that were, or will be, offered.
    case declined(by: CallID)
    /// An event that came for a leg of the receiver during its handover.
    case legEvent(LegEvent, LegID)
}

extension CallOwner {
    /// Handles a message of another call.
    func handle(_ message: PeerCallMessage, at now: MonotonicTime) {
        var random = environment.random.generator
        switch message {
        case .requested(let taker, let leg):
            event("handoverRequested", leg) { $0.handoverRequested(by: taker, of: leg, at: now, random: &random) }
        case .offered(let handover):
            offered[handover.from] = Dictionary(uniqueKeysWithValues: handover.legs.map { ($0.id, $0.party) })
            event("handoverOffered") { $0.handoverOffered(handover, at: now, random: &random) }
        case .refused(let call): event("handoverRefused") { $0.handoverRefused(by: call, at: now) }
        case .taken(let taker, let legs, let purpose):
            for leg in legs {
                givenOwners[leg.before] = owner(of: leg.before)
                endpoints[leg.before] = nil
                given[leg.before] = LegAddress(call: taker, leg: leg.after)
            }
            event("handoverTaken") { $0.handoverTaken(by: taker, legs, for: purpose, at: now) }
        case .declined(let taker):
            event("handoverDeclined") { $0.handoverDeclined(by: taker, at: now, random: &random) }
        case .legEvent(let legEvent, let leg): event("happened", leg) { $0.handle(legEvent, for: leg, at: now) }
        }
    }

    /// The call that has a leg once no handover of this call is undecided, and the leg's number there.
    ///
    /// A handover takes a few messages between owners. A request that comes during a handover waits for its end, so
    /// that the client need not repeat the request.
    func place(of leg: LegID) async -> LegAddress {
        if call?.isHandingOver == true { await withCheckedContinuation { undecided.append($0) } }
        return given[leg] ?? LegAddress(call: id, leg: leg)
    }

    /// Who owns a leg, and the leg's name there, also if another call has taken the leg: the media of the leg may not
    /// know that yet. `nil`: there is no such leg.
    func owner(of leg: LegID) -> (session: SessionID, endpoint: EndpointAddress)? {
        guard let session = call?[leg]?.party.session, let endpoint = endpoints[leg] else { return givenOwners[leg] }
        return (session, endpoint)
    }

    /// After each step: requests that wait for a handover go on if it is decided.
    func settleHandover() {
        guard !undecided.isEmpty, call?.isHandingOver != true else { return }
        for continuation in undecided { continuation.resume() }
        undecided = []
    }

    /// Carries out an action that concerns another call. If that call is gone, a request for its legs counts as
    /// refused, and an offer of legs as declined.
    func tellPeerCall(_ action: PeerCallAction) {
        switch action {
        case .requestHandover(let call, _):
            guard let keeper = keepers[call], tell(call, .requested(by: id, of: keeper)) else {
                inbox.post(.sent(.peerCall(.refused(by: call))))
                return
            }
        case .offerHandover(let call, let handover):
            if !tell(call, .offered(handover)) { inbox.post(.sent(.peerCall(.declined(by: call)))) }
        case .refuseHandover(let call): _ = tell(call, .refused(by: id))
        case .takeHandover(let call, let legs, let purpose): take(legs, of: call, for: purpose)
        case .declineHandover(let call):
            offered[call] = nil
            _ = tell(call, .declined(by: id))
        case .passOn(let call, let leg, let event): _ = tell(call, .legEvent(event, leg))
        }
    }

    /// - Returns: `false` if that call is gone.
    private func tell(_ call: CallID, _ message: PeerCallMessage) -> Bool {
        environment.router.post(.peerCall(message), to: call)
    }

    /// Takes legs over. Their media comes first: the other call then releases what it has left.
    private func take(_ legs: [HandedOverLeg], of call: CallID, for purpose: HandoverPurpose) {
        for leg in legs {
            environment.media.send(.adopt(leg.before, from: call, as: leg.after), for: id)
            guard let endpoint = offered[call]?[leg.before].map(EndpointAddress.init(of:)) else { continue }
            endpoints[leg.after] = endpoint
            environment.router.post(.move(leg.session, to: LegAddress(call: id, leg: leg.after)), to: endpoint)
        }
        offered[call] = nil
        taken.append((call, legs, purpose))
    }

    /// Tells the other calls that legs were taken. This is done last, so that the users of the legs learn first what
    /// has become of them.
    func tellGivers() {
        for (call, legs, purpose) in taken { _ = tell(call, .taken(by: id, legs, purpose)) }
        taken = []
    }
}
