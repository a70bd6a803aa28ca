internal import CCurl
internal import Glibc
internal import Primitives
internal import Sockets

/// The client's thread: takes requests, lets libcurl carry them, and hands out responses.
@safe
final class HTTPClientLoop {
    /// What one host has of the requests.
    private struct Host {
        /// Requests that wait, the oldest first.
        var waiting: [HTTPSubmission] = []
        /// The requests at the start of `waiting` that are gone.
        var taken = 0
        /// Requests that libcurl carries.
        var inFlight = 0

        var waitingCount: Int { waiting.count - taken }

        mutating func popFirst() -> HTTPSubmission? {
            guard taken < waiting.count else { return nil }
            defer {
                taken += 1
                // The room of what is gone is given back once it is half of the array.
                if taken * 2 >= waiting.count {
                    waiting.removeFirst(taken)
                    taken = 0
                }
            }
            return waiting[taken]
        }

        /// Removes requests that meet a condition, and returns them.
        mutating func remove(where condition: (HTTPSubmission) -> Bool) -> [HTTPSubmission] {
            waiting.removeFirst(taken)
            taken = 0
            let removed = waiting.filter(condition)
            if !removed.isEmpty { waiting.removeAll(where: condition) }
            return removed
        }
    }

    private let configuration: HTTPClient.Configuration
    private let mailbox: HTTPMailbox
    private var hosts: [Substring: Host] = [:]
    private var waitingCount = 0
    private var transfers: [UInt64: HTTPTransfer] = [:]
    private var idleTransfers: [HTTPTransfer] = []
    private var nextSweep = MonotonicTime.zero

    /// The longest wait of the thread. Requests that wait are looked through for lapsed ones this often.
    private static let sweepInterval = Duration.seconds(1)
    /// The most transfers that are kept for later requests.
    private static let idleLimit = 256

    init(_ configuration: HTTPClient.Configuration, _ mailbox: HTTPMailbox) {
        self.configuration = configuration
        self.mailbox = mailbox
        let multi = unsafe mailbox.multi
        unsafe ccurl_multi_set_number(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        unsafe ccurl_multi_set_number(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost)
        unsafe ccurl_multi_set_number(
            multi, CURLMOPT_MAX_CONCURRENT_STREAMS, configuration.requestsInFlightPerHost)
        unsafe ccurl_multi_set_number(multi, CURLMOPT_MAXCONNECTS, 64)
    }

    /// Runs until the client is shut down.
    func run() {
        blockBrokenPipeSignal()
        while handleMessages() {
            var running: Int32 = 0
            unsafe curl_multi_perform(mailbox.multi, &running)
            finishTransfers()
            sweep()
            // A failure of poll(2) leaves it to the next round.
            unsafe curl_multi_poll(mailbox.multi, nil, 0, 1_000, nil)
        }
        end()
    }

    /// libcurl leaves the signal alone where it may not use signals, and OpenSSL may write to a broken connection.
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
            case .cancel(let number): cancel(number)
            case .stop: goesOn = false
            }
        }
        return goesOn
    }

    // MARK: Requests

    private func submit(_ submission: HTTPSubmission) {
        guard let origin = submission.request.origin else {
            submission.completion(.failure(.unusableURL("it has no host")))
            return
        }
        if let field = submission.request.fields.first(where: { !$0.isValid }) {
            submission.completion(.failure(.unusableField(field.name)))
            return
        }
        let inFlight = hosts[origin]?.inFlight ?? 0
        guard inFlight >= configuration.requestsInFlightPerHost else {
            start(submission, at: origin)
            return
        }
        guard waitingCount < configuration.waitingRequests else {
            submission.completion(.failure(.tooManyWaiting))
            return
        }
        hosts[origin, default: Host()].waiting.append(submission)
        waitingCount += 1
    }

    private func start(_ submission: HTTPSubmission, at origin: Substring) {
        let left = submission.deadline - MonotonicClock.now
        guard left > .zero else {
            submission.completion(.failure(.timedOut))
            return
        }
        let transfer = idleTransfers.popLast() ?? HTTPTransfer(configuration)
        transfer.origin = origin
        transfer.prepare(submission, left: left)
        hosts[origin, default: Host()].inFlight += 1
        transfers[submission.number] = transfer
        let result = unsafe curl_multi_add_handle(mailbox.multi, transfer.handle)
        precondition(result == CURLM_OK, "an idle transfer can be added")
    }

    private func cancel(_ number: UInt64) {
        if let transfer = transfers[number] {
            let submission = remove(transfer, result: CURLE_ABORTED_BY_CALLBACK).0
            submission.completion(.failure(.cancelled))
            return
        }
        removeWaiting(with: .cancelled) { $0.number == number }
    }

    // MARK: Ends

    private func finishTransfers() {
        var result = CURLE_OK
        while let handle = unsafe ccurl_next_ended(mailbox.multi, &result) {
            guard let context = unsafe ccurl_get_context(handle) else { preconditionFailure("a transfer of this loop") }
            let transfer = unsafe Unmanaged<HTTPTransfer>.fromOpaque(context).takeUnretainedValue()
            let (submission, outcome) = remove(transfer, result: result)
            submission.completion(outcome)
        }
    }

    /// Takes a transfer from libcurl, and starts what waits for its place.
    private func remove(_ transfer: HTTPTransfer, result: CURLcode)
        -> (HTTPSubmission, Result<HTTPResponse, HTTPFailure>)
    {
        let ended = transfer.finish(result)
        unsafe curl_multi_remove_handle(mailbox.multi, transfer.handle)
        transfers[ended.0.number] = nil
        if idleTransfers.count < Self.idleLimit { idleTransfers.append(transfer) }
        let origin = transfer.origin
        hosts[origin]?.inFlight -= 1
        startWaiting(at: origin)
        return ended
    }

    private func startWaiting(at origin: Substring) {
        while let host = hosts[origin], host.inFlight < configuration.requestsInFlightPerHost {
            guard let next = hosts[origin]?.popFirst() else {
                if host.inFlight == 0 { hosts[origin] = nil }
                return
            }
            waitingCount -= 1
            start(next, at: origin)
        }
    }

    /// Gives up requests that have waited for all of their time.
    private func sweep() {
        guard waitingCount > 0 else { return }
        let now = MonotonicClock.now
        guard now >= nextSweep else { return }
        nextSweep = now + Self.sweepInterval
        removeWaiting(with: .timedOut) { $0.deadline <= now }
    }

    private func removeWaiting(with failure: HTTPFailure, where condition: (HTTPSubmission) -> Bool) {
        guard waitingCount > 0 else { return }
        for origin in hosts.keys {
            let removed = hosts[origin]?.remove(where: condition) ?? []
            waitingCount -= removed.count
            for submission in removed { submission.completion(.failure(failure)) }
        }
    }

    private func end() {
        let late = mailbox.close()
        for transfer in transfers.values {
            let (submission, _) = transfer.finish(CURLE_ABORTED_BY_CALLBACK)
            unsafe curl_multi_remove_handle(mailbox.multi, transfer.handle)
            submission.completion(.failure(.shutDown))
        }
        transfers = [:]
        removeWaiting(with: .shutDown) { _ in true }
        for case .submit(let submission) in late { submission.completion(.failure(.shutDown)) }
        // The handles go before libcurl's handle of them all.
        idleTransfers = []
    }
}
