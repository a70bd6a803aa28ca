package import CallControl
package import Primitives

/// The requests of one user that are in flight, and the answers that a client is still digesting.
///
/// A request is answered before anything that it causes is notified (spidr-wire §4.3). A browser receives the two over
/// different connections: it knows a new session, or that its operation is pending, only some time after the answer was
/// sent (spidr-wire §12.1). Until then it is told nothing about that session.
///
///     start ──▶ open ── answer ──▶ digested ── time is over, or a request about a new session ──▶ forgotten
package struct RequestGate: Equatable, Sendable {
    private struct Request: Equatable, Sendable {
        var number: UInt64
        var started: MonotonicTime
    }

    /// An answer that a client is digesting, until `end`.
    private struct Digestion: Equatable, Sendable {
        var answer: AnsweredRequest
        var end: MonotonicTime
    }

    /// In the order in which they started; their numbers increase.
    private var open: [Request] = []
    private var digestions: [Digestion] = []
    private var lastNumber: UInt64
    private let patience: Duration
    private let answerTime: Duration
    private let sessionTime: Duration

    /// Makes a gate without requests.
    ///
    /// - Parameters:
    ///   - firstNumber: the number of the first request; random, so that the tickets of two gates of one user do not
    ///     collide.
    ///   - patience: the time after which a request that has not been answered holds nothing back any more.
    ///   - answerTime: how long a client digests the answer to a request about a session that it knows.
    ///   - sessionTime: how long a client digests an answer that names a new session, unless it makes a request about
    ///     that session earlier.
    package init(firstNumber: UInt64, patience: Duration, answerTime: Duration, sessionTime: Duration) {
        lastNumber = firstNumber &- 1
        self.patience = patience
        self.answerTime = answerTime
        self.sessionTime = sessionTime
    }

    /// Whether requests are in flight.
    package var hasRequests: Bool { !open.isEmpty }
    /// The number of the newest request in flight; `nil`: there is none.
    package var newest: UInt64? { open.last?.number }

    /// When the oldest request in flight has taken too long; `nil`: there is none.
    package var patienceEnd: MonotonicTime? { open.first.map { $0.started + patience } }

    /// When the next answer has been digested; `nil`: there is none to digest.
    package var digestionEnd: MonotonicTime? { digestions.lazy.map(\.end).min() }

    /// A request has started.
    ///
    /// - Returns: its number.
    package mutating func start(at now: MonotonicTime) -> UInt64 {
        lastNumber &+= 1
        open.append(Request(number: lastNumber, started: now))
        return lastNumber
    }

    /// A client makes a request about a session, and so has digested the answer that named it.
    package mutating func mention(_ session: SessionID) {
        digestions.removeAll { $0.answer.isNew && $0.answer.session == session }
    }

    /// A request has been answered. An unknown number is ignored: that request took too long.
    ///
    /// - Parameter answer: what the answer is about; `nil` if the client needs no time for it.
    package mutating func answer(_ number: UInt64, _ answer: AnsweredRequest?, at now: MonotonicTime) {
        forgetDigested(at: now)
        let isKnown = open.contains { $0.number == number }
        open.removeAll { $0.number == number }
        guard isKnown, let answer, case let time = answer.isNew ? sessionTime : answerTime, time > .zero else { return }
        digestions.append(Digestion(answer: answer, end: now + time))
    }

    /// Whether a notification has to wait.
    ///
    /// - Parameters:
    ///   - request: the newest request that was in flight when the notification was made; `nil`: none. It is answered
    ///     first, as are all older ones.
    ///   - session: the session that the notification is about; `nil`: none.
    ///   - subscription: the subscription that is to be notified.
    package func holds(_ request: UInt64?, about session: SessionID?, for subscription: SubscriptionID) -> Bool {
        if let request, let oldest = open.first?.number, oldest <= request { return true }
        guard let session, !digestions.isEmpty else { return false }
        return digestions.contains { $0.answer.concerns(session) && ($0.answer.device ?? subscription) == subscription }
    }

    /// Forgets requests that took too long, and answers that have been digested.
    package mutating func timeout(at now: MonotonicTime) {
        if let patienceEnd, patienceEnd <= now { open.removeAll { $0.started + patience <= now } }
        forgetDigested(at: now)
    }

    private mutating func forgetDigested(at now: MonotonicTime) {
        if let digestionEnd, digestionEnd <= now { digestions.removeAll { $0.end <= now } }
    }
}

/// A request about a session that has been answered, and whose answer a client has to digest.
package struct AnsweredRequest: Hashable, Sendable {
    /// The session that the request is about.
    package var session: SessionID
    /// Further sessions that the request changes, as a join does.
    package var others: [SessionID]
    /// The answer tells the client the name of the session for the first time.
    package var isNew: Bool
    /// The device that made the request; `nil`: it did not name itself, so that all devices of the user count.
    package var device: SubscriptionID?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(_ session: SessionID, isNew: Bool = false, others: [SessionID] = [], from device: SubscriptionID?) {
        self.session = session
        self.others = others
        self.isNew = isNew
        self.device = device
    }

    /// Whether the request was about this session, or changes it.
    fileprivate func concerns(_ session: SessionID) -> Bool { self.session == session || others.contains(session) }
}
