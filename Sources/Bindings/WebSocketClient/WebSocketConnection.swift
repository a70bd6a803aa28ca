internal import CWebSockets
internal import Primitives
internal import Sockets

/// One connection. It is the context of libwebsockets' callbacks, which run while the client's thread is inside the
/// library.
@safe
final class WebSocketConnection {
    let number: UInt64
    let end: any WebSocketEnd
    /// When the socket has to be open.
    let deadline: MonotonicTime
    /// The addresses that were not tried yet.
    var addresses: ArraySlice<IPAddress> = []
    /// Why the connection ends; `nil`: nothing is known.
    private(set) var failure: WebSocketFailure?

    private let request: WebSocketRequest
    private let largestMessage: Int
    private let mailbox: WebSocketMailbox
    private let ended: EndedConnections
    /// libwebsockets' handle; `nil`: there is none yet, or no longer one.
    private var socket: OpaquePointer?
    private var isOpen = false
    /// The end wants it closed, and the timer runs for that.
    private var isEnding = false
    /// The certificate of the server did not stand the check.
    private var isUntrusted = false
    /// What `end` has given, and was not sent yet.
    private var queue: ArraySlice<WebSocketMessage> = []
    private var close: WebSocketOutput.Close?
    /// `end` may have something that was not taken.
    private var isWoken = false
    private var reads = true
    /// The parts of a message that have come.
    private var message: [UInt8] = []
    private var isBinary = false

    init(
        _ submission: WebSocketSubmission, until deadline: MonotonicTime, largestMessage: Int,
        mailbox: WebSocketMailbox, ended: EndedConnections
    ) {
        number = submission.number
        end = submission.end
        request = submission.request
        self.deadline = deadline
        self.largestMessage = largestMessage
        self.mailbox = mailbox
        self.ended = ended
        unsafe socket = nil
    }

    var hasSocket: Bool { unsafe socket != nil }

    /// Whether another address of the host may do what this one did not.
    var triesNextAddress: Bool {
        guard !isOpen, !addresses.isEmpty else { return false }
        switch failure {
        case .notConnected, .timedOut: return true
        default: return false
        }
    }

    /// Connects to the next address, which gets its part of the time that is left.
    func connect(in context: OpaquePointer, left: Duration) {
        let left = left / max(1, addresses.count)
        guard let address = addresses.popFirst() else { return }
        (failure, isUntrusted) = (nil, false)
        let own = unsafe Unmanaged.passUnretained(self).toOpaque()
        let made = unsafe clws_connect(
            context, own, address.description, Int32(request.url.port), request.url.authority, request.url.path,
            request.subprotocol ?? "", request.url.isSecure ? 1 : 0)
        guard let made = unsafe made else {
            // Its callbacks, if any, have come already.
            unsafe socket = nil
            if failure == nil { failure = .notConnected("the library could not start it") }
            return ended.append(number)
        }
        unsafe socket = made
        unsafe clws_set_timer(made, max(1, left.wholeNanoseconds / 1_000))
    }

    /// Ends the connection without a word to the server. Returns whether there is one.
    func kill(because reason: WebSocketFailure) -> Bool {
        guard let socket = unsafe socket else { return false }
        if failure == nil { failure = reason }
        unsafe clws_kill(socket)
        return true
    }

    /// The end may have something to send, or takes messages again.
    func wake() {
        guard isOpen, failure == nil, let socket = unsafe socket else { return }
        if end.isOverfull {
            _ = kill(because: .notReading)
            return
        }
        if end.isEnding, !isEnding {
            isEnding = true
            unsafe clws_set_timer(socket, Self.endTime)
        }
        isWoken = true
        unsafe setReading(end.mayRead, socket)
        unsafe lws_callback_on_writable(socket)
    }

    /// How long a server may keep a socket from being closed, in microseconds.
    private static let endTime: Int64 = 5_000_000

    // MARK: Callbacks

    /// Handles what the library tells. A result other than 0 ends the connection.
    func handle(
        _ reason: lws_callback_reasons, _ socket: OpaquePointer, _ bytes: UnsafeMutableRawPointer?, _ count: Int
    ) -> Int32 {
        switch reason {
        case LWS_CALLBACK_CLIENT_APPEND_HANDSHAKE_HEADER: return unsafe addFields(socket, bytes, count)
        case LWS_CALLBACK_CLIENT_HTTP_REDIRECT:
            failure = .refused(status: count)
            return -1
        case LWS_CALLBACK_CLIENT_CONNECTION_ERROR:
            unsafe noteFailure(socket, UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
            return 0
        case LWS_CALLBACK_CLIENT_ESTABLISHED:
            unsafe opened(socket)
            return 0
        case LWS_CALLBACK_CLIENT_RECEIVE:
            return unsafe receive(socket, UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count))
        case LWS_CALLBACK_CLIENT_WRITEABLE: return unsafe write(socket)
        case LWS_CALLBACK_WS_PEER_INITIATED_CLOSE:
            let code = unsafe UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : min(count, 2))
            let value = unsafe code.count == 2 ? Int(code[0]) << 8 | Int(code[1]) : 1_005
            if failure == nil { failure = .closed(code: value) }
            return 0
        case LWS_CALLBACK_OPENSSL_PERFORM_SERVER_CERT_VERIFICATION:
            // The count is the verdict of OpenSSL, which stands.
            if count == 0 { isUntrusted = true }
            return 0
        case LWS_CALLBACK_TIMER:
            // The timer is for the opening, for a server that is not read, and for the end. libwebsockets 4.1 fires one
            // that is cancelled at once, so that of the opening goes on.
            guard !isOpen || isEnding else {
                unsafe keepAlive(socket)
                return 0
            }
            if failure == nil { failure = isOpen ? .notReading : .timedOut }
            return -1
        case LWS_CALLBACK_WSI_DESTROY:
            unsafe self.socket = nil
            ended.append(number)
            // Where a timer has ended the connection, the library waits for other sockets next.
            unsafe lws_cancel_service(lws_get_context(socket))
            return 0
        default: return 0
        }
    }

    private func addFields(
        _ socket: OpaquePointer, _ place: UnsafeMutableRawPointer?, _ room: Int
    ) -> Int32 {
        guard let place = unsafe place else { return -1 }
        // Where the next field goes, and where the room ends, which each field moves.
        let start = unsafe place.load(as: UnsafeMutablePointer<UInt8>.self)
        for field in request.fields {
            let next = unsafe place.load(as: UnsafeMutablePointer<UInt8>.self)
            let left = unsafe room - (next - start)
            let result = unsafe clws_add_field(
                socket, place, left, field.name + ":", field.value, field.value.utf8.count)
            guard result == 0 else {
                failure = .unusableField(field.name)
                return -1
            }
        }
        return 0
    }

    private func noteFailure(_ socket: OpaquePointer, _ text: UnsafeRawBufferPointer) {
        guard failure == nil else { return }
        let reason = unsafe String(decoding: text, as: UTF8.self)
        let status = Int(unsafe clws_status(socket))
        if status >= 300 {
            failure = .refused(status: status)
        } else if isUntrusted {
            failure = .untrusted(reason)
        } else {
            failure = .notConnected(reason)
        }
    }

    private func opened(_ socket: OpaquePointer) {
        isOpen = true
        isWoken = true
        end.opened { [mailbox, number] in mailbox.send(.wake(number)) }
        unsafe lws_callback_on_writable(socket)
    }

    // MARK: Messages

    private func receive(_ socket: OpaquePointer, _ part: UnsafeRawBufferPointer) -> Int32 {
        if unsafe lws_is_first_fragment(socket) != 0 {
            message.removeAll(keepingCapacity: true)
            isBinary = unsafe lws_frame_is_binary(socket) != 0
        }
        guard failure != .tooLarge else { return 0 }
        guard message.count + part.count <= largestMessage else {
            // libwebsockets 4.1 writes behind its buffer if the connection ends here, in the middle of a frame.
            failure = .tooLarge
            message = []
            unsafe setReading(false, socket)
            unsafe lws_callback_on_writable(socket)
            return 0
        }
        unsafe message.append(contentsOf: part)
        guard unsafe lws_is_final_fragment(socket) != 0 else { return 0 }
        // The library has checked that text is UTF-8.
        let whole = isBinary ? WebSocketMessage.binary(message) : .text(String(decoding: message, as: UTF8.self))
        message = []
        if !end.receive(whole) { unsafe setReading(false, socket) }
        return 0
    }

    private func setReading(_ reads: Bool, _ socket: OpaquePointer) {
        guard reads != self.reads else { return }
        self.reads = reads
        unsafe lws_rx_flow_control(socket, reads ? 1 : 0)
        // What the server has sent meanwhile, and its pongs, come only now.
        if reads { unsafe lws_validity_confirmed(socket) } else { unsafe keepAlive(socket) }
    }

    /// Keeps a server that is not read from being taken for gone: its pongs wait behind what it has said. It is sent
    /// pings, whose time starts anew before an answer would be missed. One that takes nothing more is not reading.
    private func keepAlive(_ socket: OpaquePointer) {
        guard !reads, failure == nil else { return }
        unsafe lws_validity_confirmed(socket)
        // The end has the timer for itself.
        if !isEnding { unsafe clws_set_timer(socket, Self.keepAliveTime) }
    }

    /// Longer than until a ping, and shorter than until the library misses its pong (`clws_connect`), in microseconds.
    private static let keepAliveTime: Int64 = 30_000_000

    /// Sends one message, or closes the socket behind the last one.
    private func write(_ socket: OpaquePointer) -> Int32 {
        guard isOpen else { return 0 }
        if failure == .tooLarge {
            unsafe clws_set_close_reason(socket, 1_009, nil, 0)
            return -1
        }
        if queue.isEmpty, close == nil {
            isWoken = false
            let output = end.take()
            queue = output.messages[...]
            close = output.close
            unsafe setReading(end.mayRead || close != nil, socket)
        }
        guard let next = queue.popFirst() else {
            guard let close else { return 0 }
            if failure == nil { failure = .ended }
            unsafe clws_set_close_reason(socket, Int32(close.code), close.words, close.words.utf8.count)
            return -1
        }
        guard unsafe send(next, on: socket) else { return -1 }
        if !queue.isEmpty || isWoken || close != nil { unsafe lws_callback_on_writable(socket) }
        return 0
    }

    private func send(_ message: WebSocketMessage, on socket: OpaquePointer) -> Bool {
        var padded = [UInt8](repeating: 0, count: Int(clws_padding()))
        let start = padded.count
        let isBinary: Int32
        switch message {
        case .text(let text):
            padded.append(contentsOf: text.utf8)
            isBinary = 0
        case .binary(let bytes):
            padded.append(contentsOf: bytes)
            isBinary = 1
        }
        let count = padded.count - start
        return unsafe padded.withUnsafeMutableBufferPointer { buffer in
            unsafe clws_write(socket, buffer.baseAddress, count, isBinary) >= 0
        }
    }
}
