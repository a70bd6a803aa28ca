import CallRuntime
import Logging
import MediaServer
import Observability
import Primitives
import Push
import PushClient
import PushDelivery
import RecordingServer
import ServiceLifecycle
import SignalingServer
import Sockets
import Storage
import StreamClient
import WebhookDelivery

/// Closes the database, after all other services have ended.
struct DatabaseService: Service {
    let database: GatewayDatabase
    /// Keeps other gateways from the database; `nil`: no other can have it.
    let lock: FileLock?

    func run() async throws {
        defer { lock?.release() }
        await untilShutdown()
        try database.close()
    }
}

/// Removes what is old from the journal, which writes whenever something is added.
struct JournalService: Service {
    let journal: JournalStore

    func run() async {
        await cancelWhenGracefulShutdown { await journal.run() }
    }
}

/// Ends what belongs to accounts and applications that were removed, on the command line or otherwise, within two
/// seconds.
struct AccountService: Service {
    let switchboard: LocalSwitchboard
    let push: PushDirectory
    let applications: ApplicationRegister
    let clock: any RuntimeClock
    let logger: Logger

    private static let interval = Duration.seconds(2)

    func run() async {
        await cancelWhenGracefulShutdown {
            while true {
                // Fails only if the task is cancelled.
                do { try await clock.sleep(until: clock.now + Self.interval) } catch { return }
                await applications.refresh()
                do throws(StorageError) {
                    try await switchboard.dismissRemovedUsers()
                    try await push.dismissRemovedUsers()
                } catch {
                    logger.warning("accounts could not be read", metadata: [LogKey.error: "\(error)"])
                }
            }
        }
    }
}

/// Writes logins to the database while users may log in. At shutdown it writes those that are left.
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

/// Writes the events of calls to the event log while there are calls. At shutdown it writes those that are left.
struct CallEventService: Service {
    /// `nil`: events are not kept.
    let file: CallEventFile?

    func run() async {
        guard let file else { return await untilShutdown() }
        await withGracefulShutdownHandler {
            await file.run()
        } onGracefulShutdown: {
            file.finish()
        }
    }
}

/// Sends the events that webhooks are owed. What is left at shutdown is sent by the next process.
struct WebhookService: Service {
    let webhooks: WebhookDirectory

    func run() async {
        await cancelWhenGracefulShutdown { await webhooks.run() }
    }
}

/// Reports what is recorded. At shutdown what is left is written; the media threads have ended before.
struct RecordingService: Service {
    let library: RecordingLibrary
    let switchboard: LocalSwitchboard

    func run() async {
        await withTaskGroup { group in
            group.addTask { await library.run(telling: switchboard) }
            await untilShutdown()
            library.finish()
        }
    }
}

/// Ends the sockets of streams that the gateway has opened, once the media threads have said what they have to say.
struct StreamService: Service {
    let dialer: StreamDialer

    /// How long what was sent last may take to leave.
    private static let patience = Duration.milliseconds(200)

    func run() async {
        await untilShutdown()
        // Fails only if the task is cancelled.
        try? await Task.sleep(for: Self.patience)
        dialer.shutDown()
    }
}

/// Ends the streams of events before the listeners stop, which wait for their requests.
struct PublicEventService: Service {
    let log: PublicEventLog

    func run() async {
        await untilShutdown()
        log.finish()
    }
}

/// Ends the media threads. They run from the moment they are made.
struct MediaService: Service {
    let media: MediaServer

    func run() async {
        await untilShutdown()
        media.stop()
    }
}

extension PushClient: PushSender {}

/// Sends the pushes that devices are owed. At shutdown it waits a little for those that are on their way; what is left
/// is sent by the next process.
struct PushService: Service {
    let delivery: PushDelivery
    let client: PushClient
    let switchboard: LocalSwitchboard
    let clock: any RuntimeClock

    private static let patience = Duration.seconds(2)

    func run() async {
        await withTaskGroup { group in
            group.addTask { await delivery.run(telling: switchboard) }
            await untilShutdown()
            let end = clock.now + Self.patience
            while delivery.isBusy, clock.now < end {
                // Fails only if the task is cancelled.
                do { try await clock.sleep(until: clock.now + .milliseconds(20)) } catch { break }
            }
            group.cancelAll()
        }
        client.shutDown()
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
