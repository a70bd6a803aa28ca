import CallControl
import CallRuntime
import NIOCore
import NIOWebSocket
import Observability
import Registration

/// What a channel's notifications are sent to. Both functions return at once, and keep their order.
protocol NotificationSocket: Sendable {
    /// The name of the socket.
    var id: SocketID { get }
    /// Sends a notification.
    ///
    /// - Parameter number: its `eventId`.
    func transmit(_ text: ByteBuffer, numbered number: UInt64)
    /// Closes the socket, behind everything that was transmitted before.
    func close(_ code: ChannelCloseCode)
}

/// Reaches one open WebSocket from any thread. What is sent through here keeps its order: everything goes through the
/// event loop's queue, even from the loop itself.
struct ClientSocket: NotificationSocket {
    let id: SocketID
    let channel: any Channel
    private let handler: NIOLoopBound<WebSocketHandler>

    /// Makes a socket; to be called on the channel's event loop.
    init(id: SocketID, channel: any Channel, handler: WebSocketHandler) {
        self.id = id
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func transmit(_ text: ByteBuffer, numbered number: UInt64) {
        channel.eventLoop.execute { handler.value.transmit(text, numbered: number) }
    }

    func close(_ code: ChannelCloseCode) {
        channel.eventLoop.execute {
            switch code {
            case .normal: handler.value.close(.normalClosure, because: .subscriptionEnded)
            case .goingAway: handler.value.close(.goingAway, because: .goingAway)
            case .policyViolation: handler.value.close(.policyViolation, because: .replaced)
            }
        }
    }
}
