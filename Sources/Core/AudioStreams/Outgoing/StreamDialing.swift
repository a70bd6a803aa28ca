package import Primitives

/// Why the socket of a stream is gone, or did not come about.
package enum StreamLoss: Hashable, Sendable {
    /// The program has closed the socket in good order, or the gateway has: the stream is over.
    case ended
    /// It may work again later.
    case transient
    /// It cannot work: the request is wrong, or the program does not want it.
    case final

    /// The program has closed the socket with this code; 1005: without one (RFC 6455 §7.4, and IANA's registry for 1012
    /// to 1014). A program that is going away, or in trouble, may come back; the others say that something is wrong.
    package init(closedWith code: Int) {
        self =
            switch code {
            case 1_000: .ended
            case 1_001, 1_005, 1_006, 1_011, 1_012, 1_013, 1_014: .transient
            default: .final
            }
    }
}

/// When the gateway connects to the program of a stream, tries again, and gives up.
///
///     connecting ── opened ──▶ open
///     connecting, open ── lost ──▶ waiting ── timeout ──▶ connecting
///     connecting, open ── lost, too late or for good ──▶ over
///
/// The waits double from one attempt to the next, and have jitter, so that the streams of a program that was gone do
/// not all come back at once. A socket counts as a success once it has been open for a while: a program that takes a
/// socket and loses it at once is given up like one that takes none.
package struct StreamDialing: Equatable, Sendable {
    /// What can be tuned.
    package struct Configuration: Equatable, Sendable {
        /// The permitted values of `limit`.
        package static let limits = Duration.zero...Duration.seconds(3_600)
        /// The wait before the second attempt; more than 0. The jitter takes up to half of each wait away.
        package var firstDelay: Duration
        /// The longest wait; not less than `firstDelay`.
        package var longestDelay: Duration
        /// How long a program is tried that has no socket; zero: once.
        package var limit: Duration
        /// A socket that was open for so long was a success.
        package var steadyTime: Duration

        /// Makes a configuration; a limit out of range is brought into it.
        package init(
            firstDelay: Duration = .milliseconds(500), longestDelay: Duration = .seconds(10),
            limit: Duration = .seconds(60), steadyTime: Duration = .seconds(10)
        ) {
            self.firstDelay = firstDelay
            self.longestDelay = max(firstDelay, longestDelay)
            self.limit = min(max(limit, Self.limits.lowerBound), Self.limits.upperBound)
            self.steadyTime = steadyTime
        }
    }

    /// What is to be done.
    package enum Action: Equatable, Sendable {
        /// Nothing until `deadline`.
        case wait
        /// The stream is over, as its program or the gateway wanted.
        case end
        /// The stream is over, since its program cannot be reached.
        case giveUp
    }

    /// How far the connection has come.
    package enum State: Equatable, Sendable {
        /// The gateway connects.
        case connecting
        /// There is a socket since then.
        case open(since: MonotonicTime)
        /// The gateway connects again at this time.
        case waiting(until: MonotonicTime)
        /// There will be no socket any more.
        case over
    }

    /// How far the connection has come.
    package private(set) var state = State.connecting
    private let configuration: Configuration
    /// Since when there is no socket that counts as a success.
    private var missingSince: MonotonicTime
    /// The wait after the next loss, before its jitter.
    private var delay: Duration

    /// Makes a connection that is being made.
    package init(at now: MonotonicTime, _ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        missingSince = now
        delay = configuration.firstDelay
    }

    /// Whether there is a socket.
    package var isOpen: Bool { if case .open = state { true } else { false } }

    /// When `timeout` has something to do; `nil`: never, as things stand.
    package var deadline: MonotonicTime? { if case .waiting(let time) = state { time } else { nil } }

    /// There is a socket.
    package mutating func opened(at now: MonotonicTime) {
        if state == .connecting { state = .open(since: now) }
    }

    /// The socket is gone, or did not come about.
    package mutating func lost(
        _ loss: StreamLoss, at now: MonotonicTime, random: inout some RandomSource
    ) -> Action {
        switch state {
        case .connecting: break
        case .open(let since):
            guard now - since >= configuration.steadyTime else { break }
            missingSince = now
            delay = configuration.firstDelay
        case .waiting: return .wait
        case .over: return .end
        }
        switch loss {
        case .ended: return over(.end)
        case .final: return over(.giveUp)
        case .transient: break
        }
        let next = now + jittered(delay, &random)
        guard next - missingSince <= configuration.limit else { return over(.giveUp) }
        delay = min(delay * 2, configuration.longestDelay)
        state = .waiting(until: next)
        return .wait
    }

    /// A timer has fired.
    ///
    /// - Returns: whether the gateway is to connect now. If the time of `deadline` has not come, nothing happens.
    package mutating func timeout(at now: MonotonicTime) -> Bool {
        guard let deadline, deadline <= now else { return false }
        state = .connecting
        return true
    }

    private mutating func over(_ action: Action) -> Action {
        state = .over
        return action
    }

    /// Between half of a wait and all of it.
    private func jittered(_ delay: Duration, _ random: inout some RandomSource) -> Duration {
        let half = max(0, delay.wholeNanoseconds / 2)
        return .nanoseconds(half + Int64(clamping: random.next() % UInt64(half + 1)))
    }
}
