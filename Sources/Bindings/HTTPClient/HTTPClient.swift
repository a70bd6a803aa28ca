package import Primitives
internal import Sockets
internal import Synchronization

/// Sends requests to other servers, many at a time, over HTTP/2 where a server has it. It has a thread of its own.
///
/// Redirects are not followed, no proxy is used, and nothing is kept between requests but connections. Each address is
/// judged by the guard when a connection is made to it.
package final class HTTPClient: Sendable {
    /// The limits of a client.
    package struct Configuration: Sendable {
        /// The most connections to one host at a time, 1…100. With 1, requests wait for a server without HTTP/2.
        package var connectionsPerHost = 1
        /// The most requests to one host that have left and have no response yet, 1…1,000. Others wait.
        package var requestsInFlightPerHost = 100
        /// The most requests that wait, for all hosts together.
        package var waitingRequests = 10_000
        /// The time until a connection, with TLS, must be there; more than 0.
        package var connectTimeout = Duration.seconds(10)
        /// The most bytes of a response, header fields and content each.
        package var largestResponse = 65_536
        /// Whether a response whose content is longer counts all the same, without its content. Otherwise it is a
        /// failure.
        package var cutsContent = false
        /// Which addresses may be connected to.
        package var addresses = AddressGuard()
        /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
        package var authorityFile: String?
        /// Whether URLs with `http:` may be asked.
        package var allowsPlainHTTP = false

        /// Makes a configuration with the default of each property.
        package init() {}
    }

    /// Names a request of this client.
    package struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// Called once for a request, on the client's thread: it must not block.
    package typealias Completion = @Sendable (Result<HTTPResponse, HTTPFailure>) -> Void

    private let mailbox: HTTPMailbox
    private let thread: WorkerThread
    private let tickets = Atomic<UInt64>(0)

    /// Starts the thread of a client.
    ///
    /// - Parameters:
    ///   - name: The name of the thread; Linux keeps 15 bytes of it.
    ///   - configuration: Its limits.
    ///   - handedOut: Called on the client's thread after the completions that were called together, so that an owner
    ///     who takes note of many responses is woken once.
    /// - Throws: `SocketError` if no thread can be started.
    package init(
        name: String, configuration: Configuration = Configuration(), handedOut: @escaping @Sendable () -> Void = {}
    ) throws {
        let mailbox = HTTPMailbox()
        self.mailbox = mailbox
        thread = try WorkerThread(name: name) { HTTPClientLoop(configuration, mailbox, handedOut).run() }
    }

    deinit { mailbox.send(.stop) }

    /// Sends a request, and calls `completion` once: with the response, whatever its status, or with the reason why
    /// there is none.
    @discardableResult
    package func send(_ request: HTTPRequest, completion: @escaping Completion) -> Ticket {
        let ticket = nextTicket()
        submit(request, as: ticket, completion)
        return ticket
    }

    /// Sends requests, and calls the completion of each once.
    package func send(_ requests: [(request: HTTPRequest, completion: Completion)]) {
        guard !requests.isEmpty else { return }
        let now = MonotonicClock.now
        let messages = requests.map { request, completion in
            HTTPMailbox.Message.submit(
                HTTPSubmission(
                    number: nextTicket().number, request: request, deadline: now + request.timeout,
                    completion: completion))
        }
        if mailbox.send(contentsOf: messages) { return }
        for (_, completion) in requests { completion(.failure(.shutDown)) }
    }

    /// Sends a request and waits for the response, whatever its status. A task that is cancelled gives the request up.
    ///
    /// - Throws: the reason why there is no response.
    package func response(to request: HTTPRequest) async throws(HTTPFailure) -> HTTPResponse {
        let ticket = nextTicket()
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                submit(request, as: ticket) { continuation.resume(returning: $0) }
                // The handler may have run before the request was there to be given up.
                if Task.isCancelled { cancel(ticket) }
            }
        } onCancel: {
            cancel(ticket)
        }
        return try result.get()
    }

    /// Gives a request up: its completion is called with `cancelled`, unless it was called before.
    package func cancel(_ ticket: Ticket) { mailbox.send(.cancel(ticket.number)) }

    /// Gives all requests up, closes all connections, and waits for the end of the thread. Later requests fail with
    /// `shutDown`. Must not be called from a completion.
    package func shutDown() {
        mailbox.send(.stop)
        thread.join()
    }

    private func nextTicket() -> Ticket {
        Ticket(number: tickets.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    private func submit(_ request: HTTPRequest, as ticket: Ticket, _ completion: @escaping Completion) {
        let deadline = MonotonicClock.now + request.timeout
        let submission = HTTPSubmission(
            number: ticket.number, request: request, deadline: deadline, completion: completion)
        if !mailbox.send(.submit(submission)) { completion(.failure(.shutDown)) }
    }
}
