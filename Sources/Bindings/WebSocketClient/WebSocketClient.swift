package import Primitives
package import Sockets
internal import Synchronization

/// Connects to WebSocket servers (RFC 6455), and carries messages in both directions. It has a thread of its own, which
/// libwebsockets waits on; names are resolved on further threads, so that a resolver that hangs delays nobody else.
///
/// Redirects are not followed, and no proxy is used. Names are resolved here, and each address is judged by the guard
/// before a connection is made to it. The certificate of the server has to be for the name of the URL: a `wss:` URL
/// with an address in place of a name fails, since the library compares names alone.
package final class WebSocketClient: Sendable {
    /// The limits of a client.
    package struct Configuration: Sendable {
        /// The most connections at a time, 1 or more, those that are being opened included.
        package var connections = 1_000
        /// The time until a socket is open, with TLS and the opening handshake. That of the resolver counts only once
        /// it has answered.
        package var connectTimeout = Duration.seconds(10)
        /// The longest message of a server, in bytes.
        package var largestMessage = 524_288
        /// Which addresses may be connected to.
        package var addresses = AddressGuard()
        /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
        package var authorityFile: String?
        /// Whether URLs with `ws:` are permitted.
        package var allowsPlain = false

        /// Makes a configuration with the default of each property.
        package init() {}
    }

    /// Names a connection of this client.
    package struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    private let mailbox: WebSocketMailbox
    private let thread: WorkerThread
    private let tickets = Atomic<UInt64>(0)

    /// Starts the thread of a client.
    ///
    /// - Parameters:
    ///   - name: The name of the thread; Linux keeps 15 bytes of it.
    ///   - configuration: Its limits.
    /// - Throws: `SocketError` if no thread can be started.
    package init(name: String, configuration: Configuration = Configuration()) throws(SocketError) {
        let mailbox = WebSocketMailbox(configuration)
        self.mailbox = mailbox
        thread = try WorkerThread(name: name) { WebSocketLoop(configuration, mailbox).run() }
    }

    deinit { mailbox.send(.stop) }

    /// Connects to a server. `end` hears of it, at the latest by `closed`, which is called once.
    @discardableResult
    package func connect(_ request: WebSocketRequest, _ end: some WebSocketEnd) -> Ticket {
        let ticket = Ticket(number: tickets.wrappingAdd(1, ordering: .relaxed).newValue)
        let submission = WebSocketSubmission(number: ticket.number, request: request, end: end)
        if !mailbox.send(.submit(submission)) { end.closed(because: .shutDown) }
        return ticket
    }

    /// Gives a connection up, open or not, without a word to the server: its end is told `ended`.
    package func cancel(_ ticket: Ticket) { mailbox.send(.cancel(ticket.number)) }

    /// Gives all connections up, and waits for the end of the thread. Later requests fail with `shutDown`. Must not be
    /// called from an end.
    package func shutDown() {
        mailbox.send(.stop)
        thread.join()
    }
}
