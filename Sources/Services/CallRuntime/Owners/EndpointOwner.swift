import CallControl

/// The owner of an endpoint, which hears legs and speaks for them (docs/adr/0009), as a router reaches it.
protocol EndpointOwner: Sendable {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) async -> PlacementReply
    /// Takes a message, and returns at once. The messages of one sender are handled in their order.
    func post(_ message: EndpointMessage)
}

extension RegistrationOwner: EndpointOwner {
    nonisolated func post(_ message: EndpointMessage) { inbox.post(.sent(message)) }
}
