internal import CCurl
internal import Glibc
internal import Primitives
internal import Sockets

/// The client's thread: takes requests, lets libcurl carry them, and hands out responses.
@safe
final class HTTPClientLoop {
    private let configuration: HTTPClient.Configuration
    private let mailbox: HTTPMailbox
    private let handedOut: @Sendable () -> Void
    private var hosts: [Substring: HTTPHost] = [:]
    private var waitingCount = 0
    private var transfers: [UInt64: HTTPTransfer] = [:]
    private var idleTransfers: [HTTPTransfer] = []
    private var nextSweep = MonotonicTime.zero
    /// Completions have been called since the last wait.
    private var hasHandedOut = false
    /// How often the thread has waited in vain since something happened.
    private var idleRounds = 0

    /// The longest wait of the thread. Requests that wait are looked through for lapsed ones this often.
    private static let sweepInterval = Duration.seconds(1)
    /// The most transfers that are kept for later requests.
    private static let idleLimit = 256
    /// With so many requests on their way, responses come all the time: the thread looks for new requests by itself,
    /// and nobody wakes it.
    private static let busyLimit = 16
    /// So many waits of a millisecond without any response end that.
    private static let idleRoundLimit = 20

    init(
        _ configuration: HTTPClient.Configuration, _ mailbox: HTTPMailbox, _ handedOut: @escaping @Sendable () -> Void
    ) {
        self.configuration = configuration
        self.mailbox = mailbox
        self.handedOut = handedOut
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
            idleRounds = hasHandedOut ? 0 : idleRounds + 1
            endRound()
            let isBusy = transfers.count >= Self.busyLimit && idleRounds < Self.idleRoundLimit
            if mailbox.waits(whileBusy: isBusy) { continue }
            // A failure of poll(2) leaves it to the next round.
            unsafe curl_multi_poll(mailbox.multi, nil, 0, isBusy ? 1 : 1_000, nil)
        }
        end()
    }

    private func complete(_ submission: HTTPSubmission, _ result: Result<HTTPResponse, HTTPFailure>) {
        submission.completion(result)
        hasHandedOut = true
    }

    private func endRound() {
        guard hasHandedOut else { return }
        hasHandedOut = false
        handedOut()
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
            complete(submission, .failure(.unusableURL("it has no host")))
            return
        }
        if let field = submission.request.fields.first(where: { !$0.isValid }) {
            complete(submission, .failure(.unusableField(field.name)))
            return
        }
        let host = host(origin)
        guard host.inFlight >= configuration.requestsInFlightPerHost else {
            start(submission, at: host)
            forgetIdle(host)
            return
        }
        guard waitingCount < configuration.waitingRequests else {
            complete(submission, .failure(.tooManyWaiting))
            return
        }
        host.append(submission)
        waitingCount += 1
    }

    private func host(_ origin: Substring) -> HTTPHost {
        if let host = hosts[origin] { return host }
        // The URL that it is a part of is not kept with it.
        let host = HTTPHost(Substring(String(origin)))
        hosts[host.origin] = host
        return host
    }

    /// Forgets a host of which nothing waits and nothing is on its way.
    private func forgetIdle(_ host: HTTPHost) {
        if host.inFlight == 0 { hosts[host.origin] = nil }
    }

    private func start(_ submission: HTTPSubmission, at host: HTTPHost) {
        let left = submission.deadline - MonotonicClock.now
        guard left > .zero else {
            complete(submission, .failure(.timedOut))
            return
        }
        let transfer = idleTransfers.popLast() ?? HTTPTransfer(configuration)
        transfer.host = host
        transfer.prepare(submission, left: left)
        host.inFlight += 1
        transfers[submission.number] = transfer
        let result = unsafe curl_multi_add_handle(mailbox.multi, transfer.handle)
        precondition(result == CURLM_OK, "an idle transfer can be added")
    }

    private func cancel(_ number: UInt64) {
        if let transfer = transfers[number] {
            let submission = remove(transfer, result: CURLE_ABORTED_BY_CALLBACK).0
            complete(submission, .failure(.cancelled))
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
            complete(submission, outcome)
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
        if let host = transfer.host {
            transfer.host = nil
            host.inFlight -= 1
            startWaiting(at: host)
        }
        return ended
    }

    private func startWaiting(at host: HTTPHost) {
        while host.inFlight < configuration.requestsInFlightPerHost {
            guard let next = host.popFirst() else { return forgetIdle(host) }
            waitingCount -= 1
            start(next, at: host)
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
        for host in hosts.values {
            let removed = host.remove(where: condition)
            waitingCount -= removed.count
            for submission in removed { complete(submission, .failure(failure)) }
        }
    }

    private func end() {
        let late = mailbox.close()
        for transfer in transfers.values {
            let (submission, _) = transfer.finish(CURLE_ABORTED_BY_CALLBACK)
            unsafe curl_multi_remove_handle(mailbox.multi, transfer.handle)
            complete(submission, .failure(.shutDown))
        }
        transfers = [:]
        removeWaiting(with: .shutDown) { _ in true }
        for case .submit(let submission) in late { complete(submission, .failure(.shutDown)) }
        endRound()
        // The handles go before libcurl's handle of them all.
        idleTransfers = []
    }
}
