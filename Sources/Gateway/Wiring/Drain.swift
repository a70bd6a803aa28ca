package import Primitives

/// How the gateway stops, step by step, so that nobody is turned away who could have gone elsewhere.
///
///               stop                   time           last call over, time
///     serving ───────▶ announcing ───────────▶ waiting ────────────────▶ ending ─────────▶ done
///                          │   only with `wait` ─┘ │                       ▲    told, time
///                          └────────── stop ───────┴───────────────────────┘
///
/// What each step means to clients is in docs/operations.md. A second `stop` shortens everything to the ending of calls.
package struct Drain: Equatable, Sendable {
    /// What becomes of the calls there are.
    package enum Calls: String, CaseIterable, Sendable {
        /// The gateway ends them.
        case end
        /// They may end by themselves.
        case wait
    }

    package struct Configuration: Equatable, Sendable {
        /// From the signal on, everything is served for this long while `/ready` says no. 0 or more, at most half of `deadline`.
        package var announce = Duration.zero
        package var calls = Calls.end
        /// From the signal to the end of the process, 1 s or more.
        package var deadline = Duration.seconds(10)

        package init() {}
    }

    package enum State: Equatable, Sendable {
        case serving
        /// Not ready any more, but serving.
        case announcing(until: MonotonicTime)
        /// Nothing new begins; calls go on.
        case waiting(until: MonotonicTime)
        /// Calls are being ended, and clients told.
        case ending(until: MonotonicTime)
        case done
    }

    package enum Action: Equatable, Sendable {
        /// Say to load balancers that clients should go elsewhere.
        case announce
        /// Take no new calls and subscriptions, and tell when the last call is over.
        case awaitCalls
        /// Take nothing new, end the calls there are, and tell when clients have been told.
        case endCalls
        /// Close the ports and stop.
        case close
    }

    package private(set) var state = State.serving
    private let configuration: Configuration
    /// When calls must have been ended; what is left of the deadline is for closing sockets and threads.
    private var lastCallEnd = MonotonicTime.zero

    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Somebody asks for the end; the second time, for a quick one.
    package mutating func stop(at now: MonotonicTime) -> [Action] {
        switch state {
        case .serving:
            lastCallEnd = now + configuration.callTime
            state = .announcing(until: now + configuration.announce)
            return [.announce] + timeout(at: now)
        case .announcing, .waiting: return end(at: now)
        case .ending, .done: return []
        }
    }

    /// No call is left.
    package mutating func callsEnded(at now: MonotonicTime) -> [Action] {
        switch state {
        case .waiting: end(at: now)
        case .serving, .announcing, .ending, .done: []
        }
    }

    /// All clients know that the calls they had are over.
    package mutating func clientsTold() -> [Action] {
        switch state {
        case .ending: close()
        case .serving, .announcing, .waiting, .done: []
        }
    }

    package var nextDeadline: MonotonicTime? {
        switch state {
        case .announcing(let time), .waiting(let time), .ending(let time): time
        case .serving, .done: nil
        }
    }

    package mutating func timeout(at now: MonotonicTime) -> [Action] {
        guard let nextDeadline, now >= nextDeadline else { return [] }
        switch state {
        case .announcing:
            switch configuration.calls {
            case .end: return end(at: now)
            case .wait:
                state = .waiting(until: lastCallEnd - configuration.endingTime)
                return [.awaitCalls] + timeout(at: now)
            }
        case .waiting: return end(at: now)
        case .ending: return close()
        case .serving, .done: return []
        }
    }

    private mutating func end(at now: MonotonicTime) -> [Action] {
        state = .ending(until: min(now + configuration.endingTime, lastCallEnd))
        return [.endCalls]
    }

    private mutating func close() -> [Action] {
        state = .done
        return [.close]
    }
}

extension Drain.Configuration {
    /// How long clients may take to answer a close frame, a part of ``closingTime``.
    var closePatience: Duration { min(.seconds(2), deadline / 4) }

    /// The last part of the deadline, for closing sockets and threads.
    private var closingTime: Duration { min(deadline / 2, closePatience + .seconds(1)) }

    /// The first part of the deadline, in which calls go on or are ended.
    fileprivate var callTime: Duration { deadline - closingTime }

    /// How long it may take to tell clients that their calls are over. Nearly always it takes milliseconds; one that lets an answer of ours
    /// wait is waited for up to 10 s.
    fileprivate var endingTime: Duration {
        switch calls {
        case .end: min(.seconds(15), callTime)
        case .wait: min(.seconds(15), callTime / 2)
        }
    }
}
