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

    /// Writes frames as a `notificationMessage` each, to be sent later. Nothing is sent where the socket is closed, or
    /// the client protocol has no word for the frame. Each event loop is woken once for all of its sockets.
    package func transmission(of frames: [AddressedFrame]) -> @Sendable () -> Void {
        let found = state.withLock { state in frames.map { state.sockets[$0.socket] } }
        var texts = NotificationTexts()
        var made: [LoopTransmission] = []
        for (addressed, socket) in zip(frames, found) {
            guard let socket, let text = texts.text(of: addressed.frame) else { continue }
            let message = LoopTransmission.Message(
                socket: socket, text: ByteBuffer(bytes: text), number: addressed.frame.eventID)
            // There are few loops, and mostly one.
            if let index = made.firstIndex(where: { $0.eventLoop === socket.eventLoop }) {
                made[index].messages.append(message)
            } else {
                made.append(LoopTransmission(eventLoop: socket.eventLoop, messages: [message]))
            }
        }
        let transmissions = made
        return { for transmission in transmissions { transmission.send() } }
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

/// What is sent to the sockets of one event loop, in order.
private struct LoopTransmission: Sendable {
    struct Message: Sendable {
        let socket: any NotificationSocket
        let text: ByteBuffer
        /// The `eventId`.
        let number: UInt64
    }

    let eventLoop: any EventLoop
    var messages: [Message]

    /// Sends all of it behind what the event loop was given before.
    func send() {
        eventLoop.execute {
            for message in messages { message.socket.transmit(message.text, numbered: message.number) }
        }
    }
}
