import CallControl

/// The owner of an endpoint: who hears legs and speaks for them, as placements and the owners of calls reach it
/// (docs/adr/0009).
///
/// What is posted is handled in the order in which one sender posts it, and every function without `async` returns at
/// once.
protocol EndpointOwner: Sendable {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) async -> PlacementReply
    /// Tells a fact about one of its calls, which has an audience.
    func tell(_ event: CallEvent)
    /// A leg is over.
    func detach(_ session: SessionID)
    /// A leg rings no more, and goes on.
    func answered(_ session: SessionID)
    /// A leg is part of another call from now on.
    func move(_ session: SessionID, to leg: LegAddress)
}

extension RegistrationOwner: EndpointOwner {
    nonisolated func tell(_ event: CallEvent) { inbox.post(.tell(event)) }
    nonisolated func detach(_ session: SessionID) { inbox.post(.detach(session)) }
    nonisolated func answered(_ session: SessionID) { inbox.post(.answered(session)) }
    nonisolated func move(_ session: SessionID, to leg: LegAddress) { inbox.post(.move(session, to: leg)) }
}
