import CallControl

/// The owner of an endpoint, which hears legs and speaks for them (docs/adr/0009), as a router reaches it.
protocol EndpointOwner: Sendable {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) async -> PlacementReply
    /// Takes a message, and returns at once. The messages of one sender are handled in their order.
    ///
    /// - Returns: `false` if the message will not be read, because the owner has retired.
    func post(_ message: EndpointMessage) -> Bool
}

extension RegistrationOwner: EndpointOwner {
    nonisolated func post(_ message: EndpointMessage) -> Bool { inbox.post(.sent(message)) }
}
