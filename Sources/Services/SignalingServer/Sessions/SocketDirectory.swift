package import CallControl
package import CallRuntime
import GatewayAPI
import NIOCore
import Registration
import Sockets
import Synchronization

/// Finds the open socket of an identifier, and writes notifications to it.
package final class SocketDirectory: ChannelPort {
    private struct State {
        var sockets: [SocketID: any NotificationSocket] = [:]
        /// The WebSockets whose end has not been dealt with.
        var webSockets = 0
        /// Finished once there are none.
        var waiting: [AsyncStream<Never>.Continuation] = []
    }

    private let state = Lock(State())
    private let lastID = Atomic<UInt64>(0)

    /// Makes an empty directory.
    package init() {}

    /// Writes a frame as a `notificationMessage`, to be sent later. Nothing is sent if the socket is closed, or the
    /// client protocol has no word for the frame.
    package func transmission(of frame: NotificationFrame, to socket: SocketID) -> @Sendable () -> Void {
        guard let socket = find(socket), let message = NotificationMessage(frame) else { return {} }
        let text = ByteBuffer(bytes: WireJSON.encode(wrapping: message))
        return { socket.transmit(text, numbered: frame.eventID) }
    }

    /// Closes a socket with a code, behind everything transmitted before.
    package func close(_ socket: SocketID, _ code: ChannelCloseCode) {
        find(socket)?.close(code)
    }

    /// A new identifier; no identifier is given twice.
    func makeID() -> SocketID {
        SocketID(lastID.add(1, ordering: .relaxed).newValue)
    }

    /// Adds the socket of a poll, which is no connection.
    func insert(_ socket: PollSocket) {
        state.withLock { $0.sockets[socket.id] = socket }
    }

    /// Adds a WebSocket. ``hasEnded()`` is to be called once its end was dealt with.
    func insert(_ socket: ClientSocket) {
        state.withLock { state in
            state.sockets[socket.id] = socket
            state.webSockets += 1
        }
    }

    func remove(_ socket: SocketID) {
        state.withLock { $0.sockets[socket] = nil }
    }

    /// The end of a WebSocket was dealt with.
    func hasEnded() {
        let waiting = state.withLock { state in
            state.webSockets -= 1
            guard state.webSockets == 0 else { return [AsyncStream<Never>.Continuation]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.finish() }
    }

    /// Closes every WebSocket, and returns once the end of each was dealt with.
    func endWebSockets() async {
        let (ended, continuation) = AsyncStream.makeStream(of: Never.self)
        let open = state.withLock { state in
            if state.webSockets > 0 { state.waiting.append(continuation) } else { continuation.finish() }
            return state.sockets.values.compactMap { $0 as? ClientSocket }
        }
        for socket in open { socket.close(.goingAway) }
        // Not in this task: if that is cancelled, it waits all the same, for no longer than a socket may take to close.
        await Task { for await _ in ended {} }.value
    }

    private func find(_ socket: SocketID) -> (any NotificationSocket)? {
        state.withLock { $0.sockets[socket] }
    }
}
