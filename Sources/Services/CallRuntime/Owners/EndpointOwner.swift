import CallControl

/// The owner of an endpoint, which hears legs and speaks for them (docs/adr/0009), as placements and the owners of
/// calls see it.
///
/// Every function without `async` posts a message and returns at once. The messages of one sender are handled in their
/// order.
protocol EndpointOwner: Sendable {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) async -> PlacementReply
    /// Tells the endpoint an event of one of its calls.
    func tell(_ entry: LoggedEvent)
    /// A leg is over.
    func detach(_ session: SessionID)
    /// A leg was answered, and does not ring any more.
    func answered(_ session: SessionID)
    /// A leg is part of another call from now on.
    func move(_ session: SessionID, to leg: LegAddress)
}

extension RegistrationOwner: EndpointOwner {
    nonisolated func tell(_ entry: LoggedEvent) { inbox.post(.tell(entry)) }
    nonisolated func detach(_ session: SessionID) { inbox.post(.detach(session)) }
    nonisolated func answered(_ session: SessionID) { inbox.post(.answered(session)) }
    nonisolated func move(_ session: SessionID, to leg: LegAddress) { inbox.post(.move(session, to: leg)) }
}
