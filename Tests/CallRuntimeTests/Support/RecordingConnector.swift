import AudioStreams
import CallRuntime
import Sockets

/// Connects to nobody, and remembers who was to be connected to. A test tells what becomes of each socket.
final class RecordingConnector: StreamConnector {
    struct Attempt: Sendable {
        let link: StreamLink
        let destination: StreamDestination
        let subprotocol: String?
        let tell: @Sendable (StreamNews) -> Void
    }

    private let state = Lock((attempts: [Attempt](), cancelled: Set<Int>()))

    var attempts: [Attempt] { state.withLock { $0.attempts } }
    /// Which of them were given up.
    var cancelled: Set<Int> { state.withLock { $0.cancelled } }

    func connect(
        _ link: StreamLink, to destination: StreamDestination, subprotocol: String?,
        telling tell: @escaping @Sendable (StreamNews) -> Void
    ) -> @Sendable () -> Void {
        let index = state.withLock { state in
            state.attempts.append(
                Attempt(link: link, destination: destination, subprotocol: subprotocol, tell: tell))
            return state.attempts.count - 1
        }
        return { [self] in
            let attempt = state.withLock { state -> Attempt? in
                state.cancelled.insert(index).inserted ? state.attempts[index] : nil
            }
            attempt?.tell(.lost(.ended, "the gateway has closed the socket"))
        }
    }
}
