package import Primitives

/// How long a program that opens its stream itself is waited for when it is gone, and when it is given up.
///
///     open ── lost ──▶ missing ── opened ──▶ open
///     missing ── timeout ──▶ over
///     open ── lost, for good ──▶ over
///
/// The rules are those of ``StreamDialing``, except that it is the program that connects: a socket counts as a success
/// once it has been open for a while, so that a program that comes back again and again, and loses each socket at once,
/// is given up like one that does not come.
package struct ProgramAbsence: Equatable, Sendable {
    private enum State: Equatable {
        /// There is a socket since then.
        case open(since: MonotonicTime)
        /// The program is given up at this time, unless it is back.
        case missing(until: MonotonicTime)
        /// The program has ended the stream, or is given up.
        case over
    }

    private var state: State
    private var configuration: StreamDialing.Configuration
    /// Since when there is no socket that counts as a success.
    private var missingSince: MonotonicTime

    /// The program has opened a socket, the first one.
    package init(openedAt now: MonotonicTime, _ configuration: StreamDialing.Configuration) {
        state = .open(since: now)
        self.configuration = configuration
        missingSince = now
    }

    /// When `timeout` has something to do; `nil`: never, as things stand.
    package var deadline: MonotonicTime? { if case .missing(let time) = state { time } else { nil } }

    /// The program has opened another socket. What it asks for with this one holds from now on.
    package mutating func opened(at now: MonotonicTime, _ configuration: StreamDialing.Configuration) {
        switch state {
        case .missing: break
        case .open, .over: missingSince = now
        }
        state = .open(since: now)
        self.configuration = configuration
    }

    /// The socket is gone.
    ///
    /// - Returns: whether the program is waited for. What cannot work is given up at the next `timeout`.
    package mutating func lost(_ loss: StreamLoss, at now: MonotonicTime) -> Bool {
        guard case .open(let since) = state else { return false }
        if now - since >= configuration.steadyTime { missingSince = now }
        switch loss {
        case .ended:
            state = .over
            return false
        case .final: state = .missing(until: now)
        case .transient: state = .missing(until: max(now, missingSince + configuration.limit))
        }
        return true
    }

    /// A timer has fired.
    ///
    /// - Returns: whether the program is given up now. If the time of `deadline` has not come, nothing happens.
    package mutating func timeout(at now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        state = .over
        return true
    }
}
