import AdminServer
import CallRuntime
import Logging
import Observability
import Primitives
import ServiceLifecycle
import SignalingServer
import Synchronization

/// Does what a ``Drain`` decides, while sockets are still open. It is started last, so that it is shut down first and
/// the other services wait for it.
final class DrainService: Service {
    private enum Event: Sendable {
        case stop
        case callsEnded
        case clientsTold
        case timeout
    }

    private let signaling: SignalingService
    private let switchboard: LocalSwitchboard
    private let configuration: Drain.Configuration
    private let clock: any RuntimeClock
    private let logger: Logger
    private let events: AsyncStream<Event>
    private let inbox: AsyncStream<Event>.Continuation
    private let hasStarted = Atomic(false)
    private let shown = Mutex(DrainStep.serving)

    /// How far the drain is, for whoever asks.
    var step: DrainStep { shown.withLock { $0 } }

    init(
        signaling: SignalingService, switchboard: LocalSwitchboard, configuration: Drain.Configuration,
        clock: any RuntimeClock, logger: Logger
    ) {
        self.signaling = signaling
        self.switchboard = switchboard
        self.configuration = configuration
        self.clock = clock
        self.logger = logger
        (events, inbox) = AsyncStream.makeStream()
    }

    /// Notes a signal. Returns `true` for the first one: all services are to be shut down then.
    func stop() -> Bool {
        guard hasStarted.exchange(true, ordering: .acquiringAndReleasing) else { return true }
        inbox.yield(.stop)
        return false
    }

    func run() async {
        await untilShutdown()
        guard Task.isShuttingDownGracefully else { return }
        await withDiscardingTaskGroup { group in
            var drain = Drain(configuration)
            let first = drain.stop(at: clock.now)
            show(drain.state)
            perform(first, by: drain.nextDeadline, in: &group)
            // Ends with the drain, or with the task when the deadline has passed.
            for await event in events where drain.state != .done {
                let actions =
                    switch event {
                    case .stop: drain.stop(at: clock.now)
                    case .callsEnded: drain.callsEnded(at: clock.now)
                    case .clientsTold: drain.clientsTold()
                    case .timeout: drain.timeout(at: clock.now)
                    }
                show(drain.state)
                perform(actions, by: drain.nextDeadline, in: &group)
            }
            group.cancelAll()
        }
    }

    private func show(_ state: Drain.State) {
        let step: DrainStep =
            switch state {
            case .serving: .serving
            case .announcing: .announcing
            case .waiting: .waiting
            case .ending: .ending
            case .done: .done
            }
        shown.withLock { $0 = step }
    }

    /// Carries out actions.
    ///
    /// - Parameter deadline: when the drain must be woken if nothing happens before.
    private func perform(_ actions: [Drain.Action], by deadline: MonotonicTime?, in group: inout DiscardingTaskGroup) {
        for action in actions {
            switch action {
            case .announce:
                logger.info("draining", metadata: [LogKey.action: "not ready any more"])
                signaling.announceDraining()
            case .awaitCalls:
                logger.info("draining", metadata: [LogKey.action: "no new calls"])
                group.addTask { [switchboard, inbox] in
                    await switchboard.drainGracefully()
                    inbox.yield(.callsEnded)
                }
            case .endCalls:
                logger.info("draining", metadata: [LogKey.action: "calls are ended"])
                signaling.startDraining()
                group.addTask { [switchboard, inbox] in
                    await switchboard.drain()
                    inbox.yield(.clientsTold)
                }
            case .close:
                inbox.finish()
            }
        }
        // An action that does not change the deadline wakes the drain once more than needed.
        guard let deadline else { return }
        group.addTask { [clock, inbox] in
            // Fails only when cancelled. Then the drain need not be woken.
            do { try await clock.sleep(until: deadline) } catch { return }
            inbox.yield(.timeout)
        }
    }
}
