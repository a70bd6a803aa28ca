/// An owner's mailbox: messages posted from any thread come out in order, to the one loop that reads them.
struct Inbox<Message: Sendable>: Sendable {
    let messages: AsyncStream<Message>
    private let continuation: AsyncStream<Message>.Continuation

    init() {
        (messages, continuation) = AsyncStream.makeStream(of: Message.self)
    }

    /// Returns at once; `false` if nobody will read the message any more.
    @discardableResult
    func post(_ message: Message) -> Bool {
        if case .terminated = continuation.yield(message) { return false }
        return true
    }

    /// What was posted before is still read; then the loop ends.
    func finish() { continuation.finish() }
}
