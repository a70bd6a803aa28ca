import CallControl
import CallRuntime
import NIOCore
import Observability
import Registration

/// The socket of a channel whose client asks by long polls. To its registration it is a socket like any other; it is
/// open as long as the client comes back.
///
/// Everything happens on one event loop.
final class PollSocket: NotificationSocket {
    /// What a request is answered.
    enum Outcome: Equatable, Sendable {
        /// A notification.
        case notification(ByteBuffer)
        /// Nothing has come in time; the client asks again.
        case nothing
        /// The channel is over.
        case gone
    }

    /// How long a request waits, and how long the client may be away between two requests.
    struct Times: Sendable {
        var hold: TimeAmount
        var absence: TimeAmount
    }

    /// What is the event loop's alone.
    private struct State {
        var poll = LongPoll()
        var requests: [UInt64: EventLoopPromise<Outcome>] = [:]
        var lastRequest: UInt64 = 0
        var timer: Scheduled<Void>?
        var hasLeft = false
    }

    let id: SocketID
    let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>
    private let times: Times
    /// Is told the number up to which the client has received everything.
    private let confirmed: @Sendable (UInt64) -> Void
    /// Is called once, when the client does not come back, or has no more to fetch.
    private let left: @Sendable () -> Void

    /// Makes a socket, whose client has just come.
    init(
        id: SocketID, on eventLoop: any EventLoop, times: Times,
        confirmed: @escaping @Sendable (UInt64) -> Void, left: @escaping @Sendable () -> Void
    ) {
        self.id = id
        self.eventLoop = eventLoop
        self.times = times
        self.confirmed = confirmed
        self.left = left
        state = NIOLoopBoundBox.makeBoxSendingValue(State(), eventLoop: eventLoop)
    }

    /// Waits for the next notification.
    ///
    /// - Parameters:
    ///   - connection: the peer of the request's connection; `nil`: unknown.
    ///   - since: the last notification that the client says it has; `nil`: it does not say.
    func ask(on connection: SocketAddress?, since: UInt64?) async -> Outcome {
        let answer = eventLoop.flatSubmit { [self] in
            let promise = eventLoop.makePromise(of: Outcome.self)
            guard !state.value.hasLeft else {
                // The client was taken for gone at this very moment; it asks again, and finds another socket.
                promise.succeed(.nothing)
                return promise.futureResult
            }
            state.value.lastRequest += 1
            let request = state.value.lastRequest
            state.value.requests[request] = promise
            perform(state.value.poll.ask(request, on: connection, since: since))
            return promise.futureResult
        }
        // Fails only when the loop has shut down, and the connection with it.
        return (try? await answer.get()) ?? .nothing
    }

    func transmit(_ text: ByteBuffer, numbered number: UInt64) {
        perform(state.value.poll.notify(text, numbered: number))
    }

    func close(_ code: ChannelCloseCode) {
        eventLoop.execute { [self] in
            switch code {
            case .normal: perform(state.value.poll.finish())
            case .goingAway, .policyViolation:
                perform(state.value.poll.release())
                leave()
            }
        }
    }

    private func perform(_ actions: [LongPoll.Action]) {
        for action in actions {
            switch action {
            case .answer(let request, let text): answer(request, text.map { .notification($0) } ?? .nothing)
            case .refuse(let request): answer(request, .gone)
            case .confirm(let number): confirmed(number)
            }
        }
        arm()
    }

    private func answer(_ request: UInt64, _ outcome: Outcome) {
        state.value.requests.removeValue(forKey: request)?.succeed(outcome)
    }

    /// Sets the timer of the request that waits, or of the client that is to come back.
    private func arm() {
        state.value.timer?.cancel()
        guard !state.value.hasLeft else { return }
        let request = state.value.poll.isHeld ? state.value.lastRequest : nil
        state.value.timer = eventLoop.scheduleTask(in: request == nil ? times.absence : times.hold) { [weak self] in
            guard let self else { return }
            if let request { perform(state.value.poll.timeOut(request)) } else { leave() }
        }
    }

    private func leave() {
        guard !state.value.hasLeft else { return }
        state.value.hasLeft = true
        state.value.timer?.cancel()
        left()
    }
}
