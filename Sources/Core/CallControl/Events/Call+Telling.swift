/// How a call makes its facts known.
extension Call {
    /// A fact about a leg that all its devices are told.
    func tell(_ leg: LegID, _ fact: CallEvent.Fact) -> [CallAction] {
        guard let audience = audience(at: leg) else { return [] }
        return [.event(CallEvent(leg, fact, to: audience))]
    }

    /// A fact about a leg that only some subscriptions of its user are told. Without any, the fact is for devices that
    /// are asleep.
    func tell(_ leg: LegID, only subscriptions: [SubscriptionID], _ fact: CallEvent.Fact) -> [CallAction] {
        guard var audience = audience(at: leg) else { return [] }
        audience.devices = subscriptions
        return [.event(CallEvent(leg, fact, to: audience))]
    }

    /// A fact that no device is told. `leg`: the leg that it concerns; `nil`: the whole call.
    func note(_ leg: LegID?, _ fact: CallEvent.Fact) -> [CallAction] { [.event(CallEvent(leg, fact))] }

    /// The devices of a leg, with what the leg knows of the call; `nil` if the leg has left.
    private func audience(at id: LegID) -> CallEvent.Audience? {
        guard let leg = self[id] else { return nil }
        return CallEvent.Audience(
            devices: leg.party.devices.map(\.subscription), session: leg.party.session, local: leg.party.shown,
            remote: leg.remote, isCalled: leg.isCalled, isConference: isConference)
    }

    /// Whether the call is a conference, or about to become one.
    private var isConference: Bool {
        switch state {
        case .joining: true
        case .answered(let answered): answered.isConference
        case .initial, .unanswered, .ended: false
        }
    }

    /// The leg is part of the call from now on.
    func introduced(_ id: LegID, as arrival: CallEvent.Participant.Arrival) -> [CallAction] {
        guard let leg = self[id] else { return [] }
        return note(
            id,
            .joined(
                CallEvent.Participant(
                    user: leg.party.user, application: leg.party.application?.name,
                    applicationNumber: leg.party.application?.number, name: leg.party.name,
                    session: leg.party.session, devices: leg.party.devices, arrival: arrival, isCalled: leg.isCalled,
                    remote: leg.remote, holds: leg.holds, progress: leg.media?.progress, trace: leg.party.trace)))
    }
}
