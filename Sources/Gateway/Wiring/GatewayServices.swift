import CallRuntime
import MediaServer
import ServiceLifecycle
import SignalingServer
import Storage

/// Closes the database, after all other services have ended.
struct DatabaseService: Service {
    let database: GatewayDatabase

    func run() async throws {
        await untilShutdown()
        try database.close()
    }
}

/// Writes logins down as long as users may log in, and then what is left.
struct LoginJournalService: Service {
    /// `nil`: a restart forgets all logins.
    let journal: LoginJournal?

    func run() async {
        guard let journal else { return await untilShutdown() }
        await withGracefulShutdownHandler {
            await journal.run()
        } onGracefulShutdown: {
            journal.finish()
        }
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

/// Returns when the service group shuts down, gracefully or because another service failed.
func untilShutdown() async {
    // The error only says that another service failed.
    try? await gracefulShutdown()
}
