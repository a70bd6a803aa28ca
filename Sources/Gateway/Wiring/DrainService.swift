import AdminServer
import CallRuntime
import Logging
import Observability
import Primitives
import ServiceLifecycle
import SignalingServer

/// Owns the ``Drain``, and does what it decides while sockets are still open. Other services are told to shut down once
/// calls are ended, when nothing can be taken back any more. This service is started last, so that it is shut down
/// first and the others wait for it.
actor DrainService: Service {
    private enum Job: Sendable {
        /// For the drain of this number.
        case awaitCalls(Int)
        case endCalls
        case wake(at: MonotonicTime)
        /// The services are shut down.
        case stop
    }

    private let signaling: SignalingService
    private let switchboard: LocalSwitchboard
    private let clock: any RuntimeClock
    private let logger: Logger
    private let jobs: AsyncStream<Job>
    private let todo: AsyncStream<Job>.Continuation
    private var drain: Drain
    private let ending: AsyncStream<MonotonicTime>.Continuation

    /// Yields once, when the services are to be shut down: the time at which the process must have ended.
    nonisolated let endings: AsyncStream<MonotonicTime>

    init(
        signaling: SignalingService, switchboard: LocalSwitchboard, configuration: Drain.Configuration,
        clock: any RuntimeClock, logger: Logger
    ) {
        self.signaling = signaling
        self.switchboard = switchboard
        self.clock = clock
        self.logger = logger
        drain = Drain(configuration)
        (jobs, todo) = AsyncStream.makeStream()
        (endings, ending) = AsyncStream.makeStream()
    }

    /// How far the drain is, for whoever asks.
    var step: DrainStep {
        switch drain.state {
        case .serving: .serving
        case .announcing: .announcing
        case .waiting: .waiting
        case .ending: .ending
        case .done: .done
        }
    }

    /// Starts the drain, or ends it quickly if it is under way.
    func stop(by origin: Drain.Origin) { perform(drain.stop(by: origin, at: clock.now)) }

    /// Cancels the drain. When this returns, everything is served again.
    ///
    /// - Throws: ``Drain/CancelFault``.
    func cancel() throws(Drain.CancelFault) { perform(try drain.cancel()) }

    /// Serves until the drain is over, and the services are shut down.
    func run() async {
        await withGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                // Ends with the drain, or with the task when the deadline has passed.
                for await job in jobs { group.addTask { await self.carryOut(job) } }
                group.cancelAll()
            }
        } onGracefulShutdown: {
            self.todo.yield(.stop)
        }
        await untilShutdown()
    }

    private func carryOut(_ job: Job) async {
        switch job {
        case .awaitCalls(let number):
            await switchboard.lastCallEnded()
            perform(drain.callsEnded(in: number, at: clock.now))
        case .endCalls:
            await switchboard.drain()
            perform(drain.clientsTold())
        case .wake(let time):
            // Fails only when cancelled. Then the drain need not be woken.
            do { try await clock.sleep(until: time) } catch { return }
            perform(drain.timeout(at: clock.now))
        case .stop:
            stop(by: .signal)
        }
    }

    private func perform(_ actions: [Drain.Action]) {
        for action in actions {
            switch action {
            case .announce:
                logger.info("draining", metadata: [LogKey.action: "not ready any more"])
                signaling.announceDraining()
            case .resume:
                logger.info("draining", metadata: [LogKey.action: "cancelled"])
                switchboard.acceptNewWork()
                signaling.withdrawDraining()
            case .awaitCalls:
                logger.info("draining", metadata: [LogKey.action: "no new calls"])
                switchboard.refuseNewWork()
                todo.yield(.awaitCalls(drain.number))
            case .endCalls:
                logger.info("draining", metadata: [LogKey.action: "calls are ended"])
                switchboard.refuseNewWork()
                signaling.startDraining()
                ending.yield(drain.end)
                ending.finish()
                todo.yield(.endCalls)
            case .close:
                todo.finish()
            }
        }
        // An action that does not change the deadline wakes the drain once more than needed.
        if !actions.isEmpty, let deadline = drain.nextDeadline { todo.yield(.wake(at: deadline)) }
    }
}
