import AdminServer
import CallControl
import CallRuntime
import Logging
import MediaServer
import Observability
import Registration
import SignalingServer
import Sockets
import Storage

/// What the administration interface asks of the gateway as a whole.
struct RunningGateway: GatewayControls {
    let configuration: GatewayConfiguration
    /// The connections that each listener takes; see `listen.max_connections`.
    let maxConnections: Int
    let startedAt: Int64
    let metrics: GatewayMetrics
    let users: WatchedUsers
    let authenticator: Authenticator
    /// `nil`: no bearer tokens are accepted.
    let tokens: TokenAuthenticator?
    let applications: ApplicationRegister
    let journal: JournalStore
    let administration: any Administration
    let drain: DrainService
    let level: LogLevelSwitch

    func health() async -> GatewayHealth {
        let isReadable = await users.areReadable()
        let isFailing = journal.isFailing
        let (open, limit) = (DescriptorLimit.inUse, DescriptorLimit.current)
        return GatewayHealth(
            version: GatewayVersion.current, startedAt: startedAt, drain: await drain.step,
            checks: [
                .init(
                    "database", isHealthy: isReadable,
                    isReadable ? "Users can be read." : "Users cannot be read; nobody new can log in."),
                .init(
                    "journal", isHealthy: !isFailing,
                    isFailing
                        ? "Nothing can be kept, for want of storage; requests that change something are refused."
                        : "What is promised is kept."),
                .init("openFiles", isHealthy: open < limit / 10 * 9, "\(open) of \(limit) files and sockets are open."),
            ])
    }

    func limits() async -> [LimitInForce] {
        let (calls, registration) = (configuration.switchboard, configuration.switchboard.registration)
        let maximumLoad = configuration.maximumLoad ?? 100
        return [
            LimitInForce("calls.maximum", calls.maximumCalls, inUse: administration.callsInProgress.count),
            LimitInForce("calls.max_per_user", registration.maximumLegs),
            LimitInForce("calls.max_ringing_per_user", registration.maximumRinging),
            LimitInForce("media.max_calls_per_worker", configuration.media.maximumCallsPerWorker),
            LimitInForce(
                "media.max_load", maximumLoad, inUse: (100 - Int(metrics.mediaRoom.value)) * maximumLoad / 100),
            LimitInForce("media.workers", configuration.workerCount, inUse: configuration.workerCount),
            LimitInForce(
                "registration.max_subscriptions", calls.maximumSubscriptions,
                inUse: Int(metrics.subscriptionsActive.value)),
            LimitInForce("registration.max_per_user", registration.maximumSubscriptions),
            LimitInForce("registration.queue_length", registration.queue.capacity),
            LimitInForce("anonymous.maximum", calls.guests.maximumGuests),
            LimitInForce("listen.max_connections", maxConnections, inUse: Int(metrics.connectionsActive.value)),
            LimitInForce("listen.max_connections_per_address", configuration.signaling.maxConnectionsPerAddress),
            LimitInForce("listen.max_body_bytes", configuration.signaling.maxBodyBytes),
            LimitInForce("process.open_files", DescriptorLimit.current, inUse: DescriptorLimit.inUse),
        ]
    }

    var settings: [SettingInForce] {
        ConfigurationKey.all.map { SettingInForce($0.path, $0.shownValue(in: configuration)) }
    }

    var logLevel: Logger.Level { level.level }
    func setLogLevel(_ level: Logger.Level) { self.level.set(level) }
    func accountsChanged() async {
        tokens?.accountsChanged()
        await authenticator.accountsChanged()
    }
    func applicationsChanged() async { await applications.refresh() }
    var drainStep: DrainStep { get async { await drain.step } }
    func startDrain() async { await drain.stop(by: .administration) }
    func cancelDrain() async throws(AdminError) {
        do throws(Drain.CancelFault) {
            try await drain.cancel()
        } catch {
            switch error {
            case .notStarted: throw AdminError(.drainNotStarted, "There is no drain to cancel; the gateway serves.")
            case .ofSignal:
                throw AdminError(
                    .drainNotCancellable,
                    "A signal has started the drain: whoever sent it waits for the end of the process, and kills it "
                        + "otherwise.")
            case .callsEnding:
                throw AdminError(
                    .drainNotCancellable, "Calls are being ended, and parts of the process with them; start it again.")
            }
        }
    }
}
