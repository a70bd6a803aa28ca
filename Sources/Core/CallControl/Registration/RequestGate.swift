package import Primitives

/// The requests of one user that are in flight, and the answers that a client is still digesting.
///
/// A request is answered before anything it causes is notified (spidr-wire §4.3). A browser hears of both over two connections:
/// it knows a new session, or that its operation is pending, only some time after the answer has left (spidr-wire §12.1). Until
/// then it hears nothing of that session.
///
///     begin ──▶ open ── answer ──▶ digested ── time is over, or a request about a new session ──▶ forgotten
package struct RequestGate: Equatable, Sendable {
    private struct Request: Equatable, Sendable {
        var number: UInt64
        var began: MonotonicTime
    }

    private struct Digestion: Equatable, Sendable {
        var answer: AnsweredRequest
        var end: MonotonicTime
    }

    /// In the order they began; numbers go up.
    private var open: [Request] = []
    private var digestions: [Digestion] = []
    private var lastNumber: UInt64
    private let patience: Duration
    private let answerTime: Duration
    private let sessionTime: Duration

    /// - Parameters:
    ///   - firstNumber: The number of the first request; random, so that the tickets of two gates of one user do not meet.
    ///   - patience: A request that is not answered within this time holds nothing back any more.
    ///   - answerTime: How long a client digests the answer to a request about a session that it knows.
    ///   - sessionTime: How long a client digests the answer that names a new session, if it makes no request about it earlier.
    package init(firstNumber: UInt64, patience: Duration, answerTime: Duration, sessionTime: Duration) {
        lastNumber = firstNumber &- 1
        self.patience = patience
        self.answerTime = answerTime
        self.sessionTime = sessionTime
    }

    /// Whether requests are in flight.
    package var hasRequests: Bool { !open.isEmpty }
    package var newest: UInt64? { open.last?.number }

    /// When the oldest request has had its time.
    package var patienceEnd: MonotonicTime? { open.first.map { $0.began + patience } }

    /// When the next answer has been digested.
    package var digestionEnd: MonotonicTime? { digestions.lazy.map(\.end).min() }

    package mutating func begin(at now: MonotonicTime) -> UInt64 {
        lastNumber &+= 1
        open.append(Request(number: lastNumber, began: now))
        return lastNumber
    }

    /// A client makes a request about a session, and so has digested the answer that named it.
    package mutating func mention(_ session: SessionID) {
        digestions.removeAll { $0.answer.isNew && $0.answer.session == session }
    }

    /// An unknown number is ignored: its request has run out of patience.
    ///
    /// - Parameter answer: What the answer is about; `nil` if the client needs no time for it.
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
    ///   - request: The newest request that had begun before the notification; it and all older ones are answered first.
    ///   - session: The session that the notification is about.
    ///   - subscription: The device that is to be notified.
    package func holds(_ request: UInt64?, about session: SessionID?, for subscription: SubscriptionID) -> Bool {
        if let request, let oldest = open.first?.number, oldest <= request { return true }
        guard let session, !digestions.isEmpty else { return false }
        return digestions.contains { $0.answer.concerns(session) && ($0.answer.device ?? subscription) == subscription }
    }

    package mutating func timeout(at now: MonotonicTime) {
        if let patienceEnd, patienceEnd <= now { open.removeAll { $0.began + patience <= now } }
        forgetDigested(at: now)
    }

    private mutating func forgetDigested(at now: MonotonicTime) {
        if let digestionEnd, digestionEnd <= now { digestions.removeAll { $0.end <= now } }
    }
}

/// A request about a session that has been answered, and whose answer a client has to digest.
package struct AnsweredRequest: Hashable, Sendable {
    package var session: SessionID
    /// Further sessions that the request changes, as a join does.
    package var others: [SessionID]
    /// The answer names the session to the client for the first time.
    package var isNew: Bool
    /// The device that made the request; `nil` if it did not name itself: then all devices of the user count.
    package var device: SubscriptionID?

    package init(_ session: SessionID, isNew: Bool = false, others: [SessionID] = [], from device: SubscriptionID?) {
        self.session = session
        self.others = others
        self.isNew = isNew
        self.device = device
    }

    fileprivate func concerns(_ session: SessionID) -> Bool { self.session == session || others.contains(session) }
}
