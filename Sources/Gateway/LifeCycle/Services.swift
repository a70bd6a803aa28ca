import CallRuntime
import Logging
import MediaServer
import Observability
import Primitives
import ServiceLifecycle
import SignalingServer

/// The media workers run from their creation; this stops them, last of all.
struct MediaService: Service {
    let media: MediaServer

    func run() async throws {
        try await gracefulShutdown()
        media.stop()
    }
}

struct SwitchboardService: Service {
    let switchboard: LocalSwitchboard

    func run() async throws {
        await cancelWhenGracefulShutdown { await switchboard.run() }
    }
}

/// The first to hear of the shutdown: `/ready` says no, and calls end over sockets that are still open.
struct DrainService: Service {
    let signaling: SignalingService
    let switchboard: LocalSwitchboard
    let logger: Logger

    func run() async throws {
        try await gracefulShutdown()
        logger.info("draining")
        signaling.beginDraining()
        await switchboard.drain()
    }
}

/// Says where the gateway listens, once it does.
struct Announcement: Service {
    let signaling: SignalingService
    let media: MediaServer
    let logger: Logger
    let isDevelopment: Bool

    func run() async throws {
        guard let ports = await signaling.ports() else { return try await gracefulShutdown() }
        logger.info(
            "listening",
            metadata: [
                LogKey.port: "\(ports.map(String.init).joined(separator: " "))",
                LogKey.address: "\(media.localAddresses.map(\.description).joined(separator: " "))",
            ])
        if isDevelopment, let plain = ports.last {
            print("Orbweaver is running. Open http://127.0.0.1:\(plain)/ (users alice, bob, carol, dave @dev.local, password dev).")
        }
        try await gracefulShutdown()
    }
}
