package import Primitives

/// How the gateway stops, step by step, so that clients which can go to another gateway are not refused.
///
///               stop                   time           last call over, time
///     serving ───────▶ announcing ───────────▶ waiting ────────────────▶ ending ─────────▶ done
///        ▲                 │   only with `wait` ─┘ │                       ▲    told, time
///        │                 ├────────── stop ───────┼───────────────────────┘
///        └─────────────────┴───────── cancel ──────┘
///
/// docs/operations.md says what each step means to clients. A second `stop` shortens everything to the ending of
/// calls. A drain that a signal has started is not cancelled: the sender of the signal waits for the end of the
/// process, and kills it when its own time is over.
package struct Drain: Equatable, Sendable {
    /// What becomes of the calls that exist when the gateway stops: the values of `drain.calls`.
    package enum Calls: String, CaseIterable, Sendable {
        /// The gateway ends them.
        case end
        /// They may end by themselves, as far as the deadline allows.
        case wait
    }

    /// Who wants the gateway to stop.
    package enum Origin: Equatable, Sendable {
        /// The system, by SIGTERM or SIGINT.
        case signal
        /// An operator, over the administration interface.
        case administration
    }

    /// Why a drain is not cancelled.
    package enum CancelFault: Error, Equatable {
        /// There is no drain.
        case notStarted
        /// A signal has started it.
        case ofSignal
        /// Calls are being ended, or have been.
        case callsEnding
    }

    /// The times of the drain.
    package struct Configuration: Equatable, Sendable {
        /// How long everything is still served after the signal, while `/ready` answers 503. 0 or more, at most half of
        /// `deadline`.
        package var announce = Duration.zero
        /// What becomes of the calls that exist.
        package var calls = Calls.end
        /// The time from the signal to the end of the process, 1 s or more.
        package var deadline = Duration.seconds(10)

        /// Makes a configuration with the default values.
        package init() {}
    }

    /// The steps in the drawing above.
    package enum State: Equatable, Sendable {
        /// The gateway serves, and no stop was requested.
        case serving
        /// Everything is served, but `/ready` answers 503.
        case announcing(until: MonotonicTime)
        /// No new work starts; calls go on.
        case waiting(until: MonotonicTime)
        /// Calls are being ended, and clients told.
        case ending(until: MonotonicTime)
        /// The ports close, and the process ends.
        case done
    }

    /// What the owner of the drain has to do.
    package enum Action: Equatable, Sendable {
        /// Tell load balancers that clients should go elsewhere.
        case announce
        /// Take back the announcement, and accept new calls and subscriptions again.
        case resume
        /// Accept no new calls and subscriptions, and report when the last call is over.
        case awaitCalls
        /// Accept nothing new, end the calls that exist, and report when clients have been told.
        case endCalls
        /// Close the ports and stop.
        case close
    }

    /// The current step.
    package private(set) var state = State.serving
    /// When the process must have ended; without meaning while it serves.
    package private(set) var end = MonotonicTime.zero
    /// Which drain it is, from 1; 0: there was none. One that was cancelled is followed by another one.
    package private(set) var number = 0
    private let configuration: Configuration
    private var origin = Origin.administration
    /// When calls must have been ended. The rest of the deadline is for closing sockets and threads.
    private var lastCallEnd = MonotonicTime.zero

    /// Makes the drain of a gateway that serves.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Starts the drain. A second call ends it quickly.
    package mutating func stop(by origin: Origin, at now: MonotonicTime) -> [Action] {
        switch state {
        case .serving:
            self.origin = origin
            number += 1
            end = now + configuration.deadline
            lastCallEnd = now + configuration.callTime
            state = .announcing(until: now + configuration.announce)
            return [.announce] + timeout(at: now)
        case .announcing, .waiting: return end(at: now)
        case .ending, .done: return []
        }
    }

    /// Cancels the drain.
    ///
    /// - Throws: ``CancelFault``; nothing changes then.
    package mutating func cancel() throws(CancelFault) -> [Action] {
        switch state {
        case .serving: throw .notStarted
        case .announcing, .waiting:
            guard origin != .signal else { throw .ofSignal }
            state = .serving
            return [.resume]
        case .ending, .done: throw .callsEnding
        }
    }

    /// Notes that no call is left.
    ///
    /// - Parameter number: the drain that waited for it. A report for one that was cancelled changes nothing.
    package mutating func callsEnded(in number: Int, at now: MonotonicTime) -> [Action] {
        guard number == self.number else { return [] }
        switch state {
        case .waiting: return end(at: now)
        case .serving, .announcing, .ending, .done: return []
        }
    }

    /// Notes that all clients know that their calls are over.
    package mutating func clientsTold() -> [Action] {
        switch state {
        case .ending: close()
        case .serving, .announcing, .waiting, .done: []
        }
    }

    /// When ``timeout(at:)`` must be called. `nil`: not at all.
    package var nextDeadline: MonotonicTime? {
        switch state {
        case .announcing(let time), .waiting(let time), .ending(let time): time
        case .serving, .done: nil
        }
    }

    /// Goes on to the next step if the time of the current one is over.
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
    /// How long clients may take to answer a close frame: a part of ``closingTime``.
    var closePatience: Duration { min(.seconds(2), deadline / 4) }

    /// The last part of the deadline, for closing sockets and threads.
    private var closingTime: Duration { min(deadline / 2, closePatience + .seconds(1)) }

    /// The first part of the deadline, in which calls go on or are ended.
    fileprivate var callTime: Duration { deadline - closingTime }

    /// How long it may take to tell clients that their calls are over. Nearly always that takes milliseconds. A client
    /// to which an answer is still being written is waited for up to 10 s.
    fileprivate var endingTime: Duration {
        switch calls {
        case .end: min(.seconds(15), callTime)
        case .wait: min(.seconds(15), callTime / 2)
        }
    }
}
