internal import CWebSockets
internal import Primitives
internal import Sockets

/// A wish on its way to the client's thread.
struct WebSocketSubmission: Sendable {
    /// The number of its ticket.
    var number: UInt64
    var request: WebSocketRequest
    var end: any WebSocketEnd
}

/// What the client's thread is asked to do. Any thread puts in, and the client's thread takes out.
@safe
final class WebSocketMailbox: @unchecked Sendable {  // lws_cancel_service may be called from any thread
    enum Message: Sendable {
        case submit(WebSocketSubmission)
        /// The addresses of the host of this connection are known.
        case resolved(UInt64, Result<[IPAddress], WebSocketFailure>)
        /// The end of this connection may have something to send.
        case wake(UInt64)
        case cancel(UInt64)
        case stop
    }

    private struct State {
        var messages: [Message] = []
        var isOpen = true
    }

    /// libwebsockets' context. Only the client's thread uses it, except to be woken. It lives until `close`.
    let context: OpaquePointer
    private let state = Lock(State())

    init(_ configuration: WebSocketClient.Configuration) {
        let made = unsafe clws_create_context(
            { socket, reason, _, bytes, count in
                guard let socket = unsafe socket, let context = unsafe lws_get_opaque_user_data(socket) else {
                    return 0
                }
                let connection = unsafe Unmanaged<WebSocketConnection>.fromOpaque(context).takeUnretainedValue()
                return unsafe connection.handle(reason, socket, bytes, count)
            }, configuration.authorityFile ?? "", UInt32(clamping: configuration.connections))
        guard let made = unsafe made else { preconditionFailure("memory for WebSockets") }
        unsafe context = made
    }

    /// Puts a message in, and wakes the thread. Returns whether there is anybody to read it.
    @discardableResult
    func send(_ message: Message) -> Bool {
        state.withLock { state in
            guard state.isOpen else { return false }
            state.messages.append(message)
            // Under the lock: the context exists while the mailbox is open.
            if state.messages.count == 1 { unsafe lws_cancel_service(context) }
            return true
        }
    }

    /// Takes all messages out.
    func take() -> [Message] {
        state.withLock { state in
            guard !state.messages.isEmpty else { return [] }
            defer { state.messages = [] }
            return state.messages
        }
    }

    /// Takes all messages out for the last time. Later ones are refused, and nobody wakes the thread any more.
    func close() -> [Message] {
        state.withLock { state in
            state.isOpen = false
            defer { state.messages = [] }
            return state.messages
        }
    }
}
