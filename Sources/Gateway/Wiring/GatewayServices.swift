import CallRuntime
import Logging
import MediaServer
import Observability
import ServiceLifecycle
import SignalingServer
import Storage

/// Closes the database as the last of all.
struct DatabaseService: Service {
    let database: GatewayDatabase

    func run() async throws {
        await untilShutdown()
        try database.close()
    }
}

/// The media threads run since they were made; here they end.
struct MediaService: Service {
    let media: MediaServer

    func run() async {
        await untilShutdown()
        media.stop()
    }
}

struct SwitchboardService: Service {
    let switchboard: LocalSwitchboard

    func run() async {
        await cancelWhenGracefulShutdown {
            await switchboard.run()
        }
    }
}

/// Ends the calls while their sockets are still open. Started last, so that it is the first to be shut down and the others
/// wait for it.
struct DrainService: Service {
    let signaling: SignalingService
    let switchboard: LocalSwitchboard
    /// What is not told to clients by then they learn from the closing socket.
    let patience: Duration
    let logger: Logger

    func run() async {
        await untilShutdown()
        guard Task.isShuttingDownGracefully else { return }
        logger.info("draining", metadata: [LogKey.duration: "\(patience)"])
        signaling.beginDraining()
        let isDone = await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                await switchboard.drain()
                return !Task.isCancelled
            }
            group.addTask {
                // Cancelled as soon as the drain is done.
                try? await Task.sleep(for: patience)
                return false
            }
            let first = await group.next() ?? false
            group.cancelAll()
            return first
        }
        if !isDone { logger.warning("calls were still being ended when the drain time was over") }
    }
}

/// Returns when the group shuts down, gracefully or because another service failed.
private func untilShutdown() async {
    // The error only says that it was the latter.
    try? await gracefulShutdown()
}
