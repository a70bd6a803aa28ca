package import NIOCore

/// What a client fetches of its channel by long polls (spidr-wire §4.5): each request is answered with one
/// notification, or held until there is one. One request is held at a time, the last one.
///
/// Clients send no acknowledgement. The next request says that its client has the notification before: by
/// `?since=<eventId>`; or by coming on the same connection. On another connection the answer before may have been lost,
/// and is given once more, which clients recognise by its `eventId` (spidr-wire §4.3).
package struct LongPoll {
    /// What is to be done.
    package enum Action: Equatable {
        /// Answer a request with a notification; `nil`: with an empty body.
        case answer(request: UInt64, ByteBuffer?)
        /// Answer a request: the channel is over, and all its notifications were fetched.
        case refuse(request: UInt64)
        /// The client has received everything up to this notification.
        case confirm(through: UInt64)
    }

    /// A notification that is not confirmed.
    private struct Notification {
        let number: UInt64
        let text: ByteBuffer
    }

    /// The last answer with a notification, which was the first of `notifications`.
    private struct Answer {
        let connection: SocketAddress?
        let isRepeated: Bool
    }

    /// What the client is to be given, or to confirm, in order.
    private var notifications: [Notification] = []
    /// The last answer; `nil`: there is none, or it is confirmed.
    private var answer: Answer?
    /// The request that waits for a notification; `nil`: none.
    private var held: (request: UInt64, connection: SocketAddress?)?
    /// The subscription has ended, and nothing more comes.
    private var isOver = false

    /// Makes the polls of a channel on which nothing was sent.
    package init() {}

    /// Whether a request waits.
    package var isHeld: Bool { held != nil }

    /// A request has come.
    ///
    /// - Parameters:
    ///   - connection: the peer of the connection on which it came; `nil`: unknown, and so another one.
    ///   - since: the last notification that the client says it has; `nil`: it does not say.
    package mutating func ask(
        _ request: UInt64, on connection: SocketAddress?, since: UInt64?
    ) -> [Action] {
        var actions = release()
        if let since {
            actions += confirm(since)
        } else if let answer, let first = notifications.first,
            answer.isRepeated || (connection != nil && answer.connection == connection)
        {
            actions += confirm(first.number)
        }
        if notifications.isEmpty, isOver { return actions + [.refuse(request: request)] }
        held = (request, connection)
        return actions + serve()
    }

    /// A notification has come.
    package mutating func notify(_ text: ByteBuffer, numbered number: UInt64) -> [Action] {
        notifications.append(Notification(number: number, text: text))
        return serve()
    }

    /// A request has waited for its time.
    package mutating func timeOut(_ request: UInt64) -> [Action] { held?.request == request ? release() : [] }

    /// The subscription has ended: what was notified before can still be fetched.
    package mutating func finish() -> [Action] {
        isOver = true
        guard let request = held?.request else { return [] }
        held = nil
        return [.refuse(request: request)]
    }

    /// Answers the request that waits, with an empty body.
    package mutating func release() -> [Action] {
        guard let request = held?.request else { return [] }
        held = nil
        return [.answer(request: request, nil)]
    }

    /// Answers the request that waits with the first notification, if there is one.
    private mutating func serve() -> [Action] {
        guard let (request, connection) = held, let first = notifications.first else { return [] }
        held = nil
        answer = Answer(connection: connection, isRepeated: answer != nil)
        return [.answer(request: request, first.text)]
    }

    /// The client has everything up to a notification that it was given. Another number means nothing.
    private mutating func confirm(_ number: UInt64) -> [Action] {
        guard let index = notifications.firstIndex(where: { $0.number == number }) else { return [] }
        notifications.removeFirst(index + 1)
        answer = nil
        return [.confirm(through: number)]
    }
}
