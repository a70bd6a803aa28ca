import CallControl
import Primitives

/// A call that ends may come from or go to, and the leg there of the user who has both calls.
struct Neighbour: Sendable {
    let owner: CallOwner
    let leg: Leg
}

/// What owners of calls tell each other (see `Call+Handover.swift`).
enum NeighbourMessage: Sendable {
    /// The sender wants whom `leg`, of the receiver, talks to.
    case requested(by: CallOwner, of: Leg)
    case offered(Handover, [Leg: RegistrationOwner])
    case refused(by: CallID)
    case taken(by: CallID, [HandedLeg], HandoverPurpose)
    case declined(by: CallID)
    case happened(LegEvent, Leg)
}

/// Why somebody else than was called is rung.
enum Diversion: String, Sendable {
    case transfer
    case forward
}

extension CallOwner {
    func handle(_ message: NeighbourMessage, at now: MonotonicTime) {
        var random = environment.random.generator
        switch message {
        case .requested(let taker, let leg):
            neighbours[taker.id] = Neighbour(owner: taker, leg: leg)
            event("handoverRequested", leg) { $0.handoverRequested(by: taker.id, of: leg, at: now, random: &random) }
        case .offered(let handover, let registrations):
            offeredRegistrations[handover.from] = registrations
            event("handoverOffered") { $0.handoverOffered(handover, at: now, random: &random) }
        case .refused(let call): event("handoverRefused") { $0.handoverRefused(by: call, at: now) }
        case .taken(let taker, let legs, let purpose):
            for leg in legs { registrations[leg.before] = nil }
            event("handoverTaken") { $0.handoverTaken(by: taker, legs, for: purpose, at: now) }
        case .declined(let taker):
            event("handoverDeclined") { $0.handoverDeclined(by: taker, at: now, random: &random) }
        case .happened(let happened, let leg): event("happened", leg) { $0.happened(happened, to: leg, at: now) }
        }
    }

    /// A neighbour that is gone has nothing to give and nothing to lose.
    func tellNeighbour(_ action: CallAction) {
        switch action {
        case .requestHandover(let call, _):
            guard let neighbour = neighbours[call],
                neighbour.owner.inbox.post(.neighbour(.requested(by: self, of: neighbour.leg)))
            else {
                inbox.post(.neighbour(.refused(by: call)))
                return
            }
        case .offerHandover(let call, let handover):
            let own = registrations.filter { entry in handover.legs.contains { $0.id == entry.key } }
            guard neighbours[call]?.owner.inbox.post(.neighbour(.offered(handover, own))) == true else {
                inbox.post(.neighbour(.declined(by: call)))
                return
            }
        case .refuseHandover(let call): neighbours[call]?.owner.inbox.post(.neighbour(.refused(by: id)))
        case .takeHandover(let call, let legs, let purpose): take(legs, of: call, for: purpose)
        case .declineHandover(let call):
            offeredRegistrations[call] = nil
            neighbours[call]?.owner.inbox.post(.neighbour(.declined(by: id)))
        case .passOn(let call, let leg, let event):
            neighbours[call]?.owner.inbox.post(.neighbour(.happened(event, leg)))
        default: preconditionFailure("only what concerns other calls")
        }
    }

    /// Media first: the other call releases what is left of its own afterwards.
    private func take(_ legs: [HandedLeg], of call: CallID, for purpose: HandoverPurpose) {
        for leg in legs {
            environment.media.send(.adopt(leg.before, from: call, as: leg.after), for: id)
            guard let registration = offeredRegistrations[call]?[leg.before] else { continue }
            registrations[leg.after] = registration
            registration.inbox.post(.move(leg.session, self, leg.after))
        }
        offeredRegistrations[call] = nil
        taken.append((call, legs, purpose))
    }

    /// The other calls hear last that ends were taken, so that their users hear first what has become of them.
    func tellGivers() {
        for (call, legs, purpose) in taken {
            neighbours[call]?.owner.inbox.post(.neighbour(.taken(by: id, legs, purpose)))
        }
        taken = []
    }
}
