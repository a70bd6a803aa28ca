internal import CWebSockets
internal import Glibc
internal import Primitives
internal import Sockets

/// The client's thread: takes wishes, and lets libwebsockets carry the connections.
@safe
final class WebSocketLoop {
    private let configuration: WebSocketClient.Configuration
    private let mailbox: WebSocketMailbox
    private var connections: [UInt64: WebSocketConnection] = [:]
    /// The connections whose sockets are gone since the last look.
    private let ended = EndedConnections()
    /// How many hosts are being resolved, each on a thread of its own.
    private var resolving = 0
    /// The most at a time. A name server may take its time.
    private static let maximumResolving = 64

    init(_ configuration: WebSocketClient.Configuration, _ mailbox: WebSocketMailbox) {
        self.configuration = configuration
        self.mailbox = mailbox
    }

    /// Runs until the client is shut down.
    func run() {
        blockBrokenPipeSignal()
        while handleMessages() {
            settle()
            // It waits for sockets, timers, and to be woken. A failure of poll(2) leaves it to the next round.
            _ = unsafe lws_service(mailbox.context, 0)
            settle()
        }
        end()
    }

    /// OpenSSL may write to a broken connection.
    private func blockBrokenPipeSignal() {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGPIPE)
        unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Returns whether the client goes on.
    private func handleMessages() -> Bool {
        var goesOn = true
        for message in mailbox.take() {
            switch message {
            case .submit(let submission): submit(submission)
            case .resolved(let number, let found):
                resolving -= 1
                resolved(number, found)
            case .wake(let number): connections[number]?.wake()
            case .cancel(let number): cancel(number)
            case .stop: goesOn = false
            }
        }
        return goesOn
    }

    // MARK: A connection

    private func submit(_ submission: WebSocketSubmission) {
        let (number, end) = (submission.number, submission.end)
        guard connections.count < configuration.connections, resolving < Self.maximumResolving else {
            return end.closed(because: .tooMany)
        }
        guard submission.request.url.isSecure || configuration.allowsPlain else {
            return end.closed(because: .insecure)
        }
        if let field = submission.request.fields.first(where: { !Self.isField($0.name, $0.value) }) {
            return end.closed(because: .unusableField(field.name))
        }
        connections[number] = WebSocketConnection(
            submission, until: MonotonicClock.now + configuration.connectTimeout,
            largestMessage: configuration.largestMessage, mailbox: mailbox, ended: ended)
        do throws(SocketError) {
            try HostResolver.resolve(submission.request.url.host) { [mailbox] found in
                mailbox.send(.resolved(number, found))
            }
            resolving += 1
        } catch {
            finish(number, .notConnected("\(error)"))
        }
    }

    private func resolved(_ number: UInt64, _ found: Result<[IPAddress], WebSocketFailure>) {
        guard let connection = connections[number] else { return }
        switch found {
        case .success(let addresses):
            let permitted = addresses.filter { configuration.addresses.permits($0) }
            guard !permitted.isEmpty else { return finish(number, .refusedAddress(addresses[addresses.count - 1])) }
            connection.addresses = permitted[...]
            connectNext(connection)
        case .failure(let failure): finish(number, failure)
        }
    }

    /// Tries the next address of a connection, as long as there is time.
    private func connectNext(_ connection: WebSocketConnection) {
        let left = connection.deadline - MonotonicClock.now
        guard left > .zero else { return finish(connection.number, .timedOut) }
        unsafe connection.connect(in: mailbox.context, left: left)
    }

    private func cancel(_ number: UInt64) {
        guard let connection = connections[number] else { return }
        if connection.kill(because: .ended) { return }
        // Its host is not resolved yet.
        finish(number, .ended)
    }

    /// Looks at the connections whose sockets are gone: the next address is tried, or their ends are told.
    private func settle() {
        while let number = ended.takeFirst() {
            guard let connection = connections[number], !connection.hasSocket else { continue }
            if connection.triesNextAddress {
                connectNext(connection)
            } else {
                finish(number, connection.failure ?? .lost)
            }
        }
    }

    private func finish(_ number: UInt64, _ failure: WebSocketFailure) {
        guard let connection = connections.removeValue(forKey: number) else { return }
        connection.end.closed(because: failure)
    }

    /// Whether a header field can be sent: the name is a token, and the value has no control characters, with which it
    /// would end the field (RFC 9110 §5.1, §5.5).
    private static func isField(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { isTokenCharacter($0) }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func isTokenCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }

    // MARK: The end

    private func end() {
        for message in mailbox.close() {
            if case .submit(let submission) = message { submission.end.closed(because: .shutDown) }
        }
        // The callbacks of what is still open come from here.
        unsafe lws_context_destroy(mailbox.context)
        for number in connections.keys { finish(number, .shutDown) }
    }
}

/// The numbers of connections whose sockets are gone, in their order. Confined to the client's thread.
final class EndedConnections {
    private var numbers: [UInt64] = []

    func append(_ number: UInt64) { numbers.append(number) }

    func takeFirst() -> UInt64? { numbers.isEmpty ? nil : numbers.removeFirst() }
}
