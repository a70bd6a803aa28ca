import Primitives
import TestSupport
import Testing

import Gateway

/// The steps in which a gateway stops. The signal comes at second 100.
@Suite struct DrainTests {
    enum Input: Sendable {
        case stop
        case callsEnded
        case clientsTold
        /// The clock reaches the drain's own deadline.
        case timeout
    }

    struct Step: Sendable {
        var input: Input
        /// Since the signal.
        var second: Double
        var actions: [Drain.Action]

        init(_ input: Input, at second: Double, _ actions: [Drain.Action]) {
            (self.input, self.second, self.actions) = (input, second, actions)
        }
    }

    private static func time(_ second: Double) -> MonotonicTime {
        MonotonicTime(nanoseconds: UInt64((100 + second) * 1e9))
    }

    private func run(_ steps: [Step], announce: Int, calls: Drain.Calls, deadline: Int) -> Drain {
        var configuration = Drain.Configuration()
        (configuration.announce, configuration.calls, configuration.deadline) = (
            .seconds(announce), calls, .seconds(deadline)
        )
        var drain = Drain(configuration)
        for step in steps {
            let now = Self.time(step.second)
            let actions =
                switch step.input {
                case .stop: drain.stop(by: .signal, at: now)
                case .callsEnded: drain.callsEnded(in: drain.number, at: now)
                case .clientsTold: drain.clientsTold()
                case .timeout: drain.timeout(at: now)
                }
            #expect(actions == step.actions, "\(step)")
            guard case .timeout = step.input, !actions.isEmpty else { continue }
            let again = drain.timeout(at: now)
            #expect(again.isEmpty, "\(step) twice")
        }
        return drain
    }

    @Test(
        arguments: [
            // As long as nothing else is configured, everything happens at once.
            (
                0, .end, 10,
                [
                    Step(.stop, at: 0, [.announce, .endCalls]), Step(.clientsTold, at: 0.1, [.close]),
                    Step(.timeout, at: 10, []),
                ]
            ),
            (
                0, .end, 10,
                [
                    Step(.stop, at: 0, [.announce, .endCalls]), Step(.timeout, at: 6.9, []),
                    Step(.timeout, at: 7, [.close]),
                ]
            ),
            (
                4, .end, 10,
                [
                    Step(.stop, at: 0, [.announce]), Step(.callsEnded, at: 1, []), Step(.clientsTold, at: 1, []),
                    Step(.timeout, at: 3.9, []),
                    Step(.timeout, at: 4, [.endCalls]), Step(.clientsTold, at: 4.1, [.close]),
                ]
            ),
            (
                4, .wait, 100,
                [
                    Step(.stop, at: 0, [.announce]), Step(.timeout, at: 4, [.awaitCalls]),
                    Step(.callsEnded, at: 50, [.endCalls]),
                    Step(.clientsTold, at: 50, [.close]),
                ]
            ),
            // Calls that go on are ended in time for their clients to be told.
            (
                0, .wait, 100,
                [
                    Step(.stop, at: 0, [.announce, .awaitCalls]), Step(.timeout, at: 81.9, []),
                    Step(.timeout, at: 82, [.endCalls]),
                    Step(.timeout, at: 96.9, []), Step(.timeout, at: 97, [.close]),
                ]
            ),
            (
                5, .wait, 10,
                [
                    Step(.stop, at: 0, [.announce]), Step(.timeout, at: 5, [.awaitCalls, .endCalls]),
                    Step(.timeout, at: 7, [.close]),
                ]
            ),
            // The second signal is for those in a hurry; a third one finds it under way.
            (
                60, .wait, 600,
                [
                    Step(.stop, at: 0, [.announce]), Step(.stop, at: 1, [.endCalls]), Step(.stop, at: 2, []),
                    Step(.timeout, at: 16, [.close]),
                ]
            ),
            (
                0, .wait, 600,
                [
                    Step(.stop, at: 0, [.announce, .awaitCalls]), Step(.stop, at: 10, [.endCalls]),
                    Step(.callsEnded, at: 10, []),
                    Step(.clientsTold, at: 10, [.close]), Step(.stop, at: 11, []),
                ]
            ),
            (0, .end, 1, [Step(.stop, at: 0, [.announce, .endCalls]), Step(.timeout, at: 0.5, [.close])]),
        ] as [(Int, Drain.Calls, Int, [Step])])
    func `each step comes in its time`(_ announce: Int, _ calls: Drain.Calls, _ deadline: Int, _ steps: [Step]) {
        let drain = run(steps, announce: announce, calls: calls, deadline: deadline)
        #expect(drain.state == .done)
        #expect(drain.nextDeadline == nil)
    }

    @Test func `before the signal nothing happens`() {
        var drain = Drain(Drain.Configuration())
        let actions =
            drain.callsEnded(in: 0, at: Self.time(0)) + drain.clientsTold() + drain.timeout(at: Self.time(1_000))
        #expect(actions.isEmpty)
        #expect(drain.state == .serving)
    }

    // MARK: Cancelling

    private static var patient: Drain {
        var configuration = Drain.Configuration()
        (configuration.announce, configuration.calls, configuration.deadline) = (.seconds(4), .wait, .seconds(100))
        return Drain(configuration)
    }

    @Test(arguments: [0.0, 4])
    func `what an operator has started is cancelled while it announces or waits`(_ second: Double) throws {
        var drain = Self.patient
        #expect(throws: Drain.CancelFault.notStarted) { try drain.cancel() }
        _ = drain.stop(by: .administration, at: Self.time(0)) + drain.timeout(at: Self.time(second))
        #expect(try drain.cancel() == [.resume])
        #expect(drain.state == .serving && drain.nextDeadline == nil)
        let late = drain.callsEnded(in: 1, at: Self.time(5)) + drain.timeout(at: Self.time(1_000))
        #expect(late.isEmpty)
        #expect(throws: Drain.CancelFault.notStarted) { try drain.cancel() }
    }

    @Test func `a drain after one that was cancelled has its whole time, and waits for its own calls`() throws {
        var drain = Self.patient
        _ = drain.stop(by: .administration, at: Self.time(0)) + drain.timeout(at: Self.time(4))
        _ = try drain.cancel()
        let actions = drain.stop(by: .administration, at: Self.time(50)) + drain.timeout(at: Self.time(54))
        #expect(actions == [.announce, .awaitCalls] && drain.end == Self.time(150))
        let stale = drain.callsEnded(in: 1, at: Self.time(55))
        #expect(stale.isEmpty)
        let own = drain.callsEnded(in: drain.number, at: Self.time(56))
        #expect(own == [.endCalls])
    }

    @Test func `what a signal has started, and what ends calls, is not cancelled`() {
        var drain = Self.patient
        _ = drain.stop(by: .signal, at: Self.time(0))
        #expect(throws: Drain.CancelFault.ofSignal) { try drain.cancel() }
        #expect(drain.state == .announcing(until: Self.time(4)))
        var second = Self.patient
        _ = second.stop(by: .administration, at: Self.time(0)) + second.stop(by: .administration, at: Self.time(1))
        #expect(throws: Drain.CancelFault.callsEnding) { try second.cancel() }
        _ = second.clientsTold()
        #expect(throws: Drain.CancelFault.callsEnding) { try second.cancel() }
        #expect(second.state == .done)
    }

    /// Whatever happens in whatever order, it is over before the deadline, and each thing is done at most once.
    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func `every course ends in time`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        var configuration = Drain.Configuration()
        configuration.deadline = .seconds(Int.random(in: 1...600, using: &random))
        configuration.announce = configuration.deadline / Int.random(in: 2...20, using: &random)
        configuration.calls = Drain.Calls.allCases[Int.random(in: 0...1, using: &random)]
        var drain = Drain(configuration)
        var now = Self.time(0)
        var done = drain.stop(by: .signal, at: now)
        while let deadline = drain.nextDeadline {
            switch Int.random(in: 0...5, using: &random) {
            case 0: done += drain.stop(by: .signal, at: now)
            case 1: done += drain.callsEnded(in: drain.number, at: now)
            case 2: done += drain.clientsTold()
            default:
                now = max(now, deadline)
                done += drain.timeout(at: now)
            }
        }
        #expect(now - Self.time(0) < configuration.deadline)
        #expect(done.first == .announce && done.last == .close)
        #expect(!done.contains(.resume))
        for action in [Drain.Action.announce, .awaitCalls, .endCalls, .close] {
            #expect(done.count { $0 == action } <= 1)
        }
        #expect(done.contains(.endCalls))
    }
}
