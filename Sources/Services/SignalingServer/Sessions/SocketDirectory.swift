package import CallControl
package import CallRuntime
import GatewayAPI
import NIOCore
package import Registration
import Sockets
import Synchronization

/// Finds the open socket of an identifier, and writes notifications to it.
package final class SocketDirectory: ChannelPort {
    private let sockets = Lock<[SocketID: any NotificationSocket]>([:])
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

    func insert(_ socket: any NotificationSocket) {
        sockets.withLock { $0[socket.id] = socket }
    }

    func remove(_ socket: SocketID) {
        sockets.withLock { $0[socket] = nil }
    }

    private func find(_ socket: SocketID) -> (any NotificationSocket)? {
        sockets.withLock { $0[socket] }
    }
}
