import CallControl
import CallRuntime
import NIOCore
import NIOWebSocket
import Observability
import Registration

/// What a channel's notifications are sent to. Both functions return at once.
protocol NotificationSocket: Sendable {
    /// The name of the socket.
    var id: SocketID { get }
    /// The event loop on which it sends.
    var eventLoop: any EventLoop { get }
    /// Sends a notification; to be called on the event loop.
    ///
    /// - Parameter number: its `eventId`.
    func transmit(_ text: ByteBuffer, numbered number: UInt64)
    /// Closes the socket, behind everything that the event loop was given for it before; to be called on any thread.
    func close(_ code: ChannelCloseCode)
}

/// Reaches one open WebSocket. What is sent through here keeps its order: everything goes through the event loop's
/// queue, even from the loop itself.
struct ClientSocket: NotificationSocket {
    let id: SocketID
    let channel: any Channel
    var eventLoop: any EventLoop { channel.eventLoop }
    private let handler: NIOLoopBound<WebSocketHandler>

    /// Makes a socket; to be called on the channel's event loop.
    init(id: SocketID, channel: any Channel, handler: WebSocketHandler) {
        self.id = id
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    func transmit(_ text: ByteBuffer, numbered number: UInt64) {
        handler.value.transmit(text, numbered: number)
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
