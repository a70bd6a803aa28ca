/// The mailbox of an owner: messages that any thread posts come out in order, to the one loop that reads them.
struct Inbox<Message: Sendable>: Sendable {
    let messages: AsyncStream<Message>
    private let continuation: AsyncStream<Message>.Continuation

    init() {
        (messages, continuation) = AsyncStream.makeStream(of: Message.self)
    }

    /// Posts a message; returns at once.
    ///
    /// - Returns: `false` if the message will not be read, because the loop has ended.
    @discardableResult
    func post(_ message: Message) -> Bool {
        if case .terminated = continuation.yield(message) { return false }
        return true
    }

    /// Ends the loop, after it has read what was posted before.
    func finish() { continuation.finish() }
}
