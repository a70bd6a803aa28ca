import CallControl
import Synchronization

/// The owner of an endpoint, which hears legs and speaks for them (docs/adr/0009), as a router reaches it.
protocol EndpointOwner: Sendable {
    /// Answers a question of a placement.
    func reply(to question: UserQuestion) async -> PlacementReply
    /// Takes a message, and returns at once. The messages of one sender are handled in their order.
    ///
    /// - Returns: `false` if the message concerns nobody, because the owner has retired.
    func post(_ message: EndpointMessage) -> Bool
}

extension RegistrationOwner: EndpointOwner {
    /// A loop that was cut off, because the process ends, has not retired: what it does not read concerns users all the
    /// same, and the next process tells them what is owed (docs/adr/0013).
    nonisolated func post(_ message: EndpointMessage) -> Bool {
        inbox.post(.sent(message)) || !hasRetired.load(ordering: .acquiring)
    }
}
