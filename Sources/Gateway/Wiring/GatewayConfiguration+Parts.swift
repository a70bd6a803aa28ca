import ApplicationServer
import CallControl
import CallRuntime
import Cryptography
import Foundation
import Logging
import MediaServer
import NIOSSL
import Observability
import Primitives
import RecordingServer
import Registration
import SDP
import SignalingServer
import Sockets
import Storage
import StreamClient
import WebhookDelivery

/// The configuration of each part, with what depends on the machine filled in.
extension GatewayConfiguration {
    /// The journal in the database, which in development ends with the process.
    func openJournal(
        in database: GatewayDatabase, clock: some RuntimeClock, logger: Logger,
        onSetAside: @escaping @Sendable (Int) -> Void
    ) throws(StorageError) -> JournalStore {
        var limits = journal
        // A client that comes back at the last moment is still sent everything.
        limits.notificationAge = switchboard.registration.queue.maximumAge * 2
        return try database.openJournal(limits, clock: clock, logger: logger, onSetAside: onSetAside)
    }

    /// The webhooks of applications. Each is sent what its application may hear of, and may answer with a command.
    func makeWebhooks(
        database: GatewayDatabase, journal: JournalStore, calls: any ApplicationCalls, clock: some RuntimeClock,
        metrics: GatewayMetrics, logger: Logger
    ) throws -> WebhookDirectory {
        do {
            return try WebhookDirectory(
                webhooks, repository: database.webhooks, log: journal.publicEvents,
                answers: WebhookResponder(calls, journal: journal) { [applications = database.applications] identity in
                    // The receiver has answered; whoever has to decide does so in another way.
                    do throws(StorageError) {
                        let found = try await applications.application(identity.name)
                        guard let found, found.identity == identity else { return [] }
                        return found.profile.scopes
                    } catch {
                        return nil
                    }
                }, journal: journal, clock: clock, metrics: metrics, logger: logger)
        } catch let error as SocketError {
            throw GatewayFailure(startingPush: error)
        }
    }

    /// What connects to the programs of streams.
    func makeStreamDialer() throws -> StreamDialer {
        do throws(SocketError) {
            return try StreamDialer(streams)
        } catch {
            throw GatewayFailure(startingStreams: error)
        }
    }

    /// The recordings of applications.
    func openRecordings(
        in database: GatewayDatabase, journal: any Journal, clock: some RuntimeClock, random: some RandomSource,
        metrics: GatewayMetrics, logger: Logger
    ) throws -> RecordingLibrary {
        do {
            return try RecordingLibrary(
                recordings, repository: database.recordings, journal: journal, clock: clock, random: random,
                metrics: metrics, logger: logger)
        } catch let error as SocketError {
            throw GatewayFailure(startingRecordings: error)
        }
    }

    /// When clients are asked how much they have received: long before what they do not confirm is too much or too old.
    var confirmation: (count: Int, delay: Duration) {
        let queue = switchboard.registration.queue
        return (count: max(1, queue.replayLimit / 2), delay: min(.seconds(10), queue.maximumAge / 4))
    }

    func listeners() throws -> [SignalingConfiguration.Listener] {
        var listeners = [
            SignalingConfiguration.Listener(
                host: listen.host, port: Int(listen.port), tls: try serverTLS(),
                readsProxyHeaders: listen.proxyProtocol == .required)
        ]
        if let port = listen.plainPort { listeners.append(.init(host: listen.plainHost, port: Int(port))) }
        return listeners
    }

    func serverTLS() throws -> TLSConfiguration? {
        guard tls.mode == .on else { return nil }
        if let certificate = tls.certificate, let key = tls.key {
            return try .gateway(certificate: certificate, key: key)
        }
        precondition(isDevelopment, "check() refuses TLS without a certificate")
        let names =
            ["DNS:localhost"]
            + (try NetworkInterfaces.addresses()).map(\.address).filter { !$0.isLinkLocal }.map { "IP:\($0)" }
        return try .selfSigned(Certificate(commonName: "Orbweaver development", alternativeNames: names))
    }

    /// The secret shared with TURN servers: the first line of the file. `nil`: none is configured.
    func sharedTURNSecret() throws(ConfigurationError) -> SignalingConfiguration.TURN? {
        guard let path = turnSecretPath else { return nil }
        let text: String
        do {
            text = try String(contentsOfFile: path, encoding: .utf8)
        } catch {
            throw ConfigurationError(problems: [ConfigurationProblem(nil, "turn.secret_file: \(path) cannot be read")])
        }
        let secret = String(text.prefix { !$0.isNewline })
        guard !secret.isEmpty else {
            throw ConfigurationError(problems: [
                ConfigurationProblem(nil, "turn.secret_file: the first line of \(path) is empty")
            ])
        }
        return SignalingConfiguration.TURN(secret: Redacted(secret), timeToLive: turnTimeToLive)
    }

    /// The file that events of calls are appended to, opened. `nil`: none is configured.
    func callEventFile(logger: Logger) throws(ConfigurationError) -> CallEventFile? {
        guard let path = eventLogPath else { return nil }
        do throws(StorageError) {
            return try CallEventFile(path, logger: logger)
        } catch {
            throw ConfigurationError(problems: [ConfigurationProblem(nil, "calls.event_log: \(error)")])
        }
    }

    /// The realms whose callMe tokens are accepted.
    func callMeRealms() throws(ConfigurationError) -> [CallMeRealm] {
        guard let path = callMeRealmsPath else { return [] }
        let problem: String
        do {
            let realms = try CallMeRealm.realms(parsing: String(contentsOfFile: path, encoding: .utf8))
            if !realms.isEmpty { return realms }
            problem = "there is no realm in \(path)"
        } catch let error as RealmFileError {
            problem = "\(path), \(error)"
        } catch {
            problem = "\(path) cannot be read"
        }
        throw ConfigurationError(problems: [ConfigurationProblem(nil, "anonymous.realms_file: \(problem)")])
    }

    /// The keys of bearer tokens; `nil`: tokens are not accepted.
    func tokenKeyFile(clock: some RuntimeClock, logger: Logger) throws(ConfigurationError) -> TokenKeyFile? {
        guard let path = tokenKeysPath else { return nil }
        do throws(TokenKeySetError) {
            return try TokenKeyFile(path, clock: clock, logger: logger)
        } catch {
            throw ConfigurationError(problems: [ConfigurationProblem(nil, "auth.token_keys: \(path) \(error)")])
        }
    }

    /// The configuration of the switchboard, completed by other settings that concern it.
    var resolvedSwitchboard: LocalSwitchboard.Configuration {
        var resolved = switchboard
        resolved.call.mediaPolicy = transcoding == .on ? .engine : .relay
        resolved.call.mediaPolicy.preferences = resolvedMediaPreferences
        if !mediaPreferences.audioCodecs.isEmpty {
            // The gateway itself does not offer codecs that are not to be used, either.
            resolved.call.mediaPolicy.transcodable.removeAll {
                $0.carriesMedia && !mediaPreferences.audioCodecs.contains(where: $0.isNamed)
            }
        }
        return resolved
    }

    private var resolvedMediaPreferences: MediaPreferences {
        var resolved = mediaPreferences
        // `warnings` names what is removed.
        _ = resolved.opus.removeOutOfRange()
        if let opusSet { resolved.opus = opusSet.parameters.overridden(by: resolved.opus) }
        return resolved
    }

    func resolvedMedia() throws -> MediaServer.Configuration {
        let interfaces = try NetworkInterfaces.addresses().map {
            MediaAddresses.Interface(address: $0.address, isLoopback: $0.isLoopback, isUp: $0.isUp)
        }
        let addresses = MediaAddresses(
            bind: media.bind, advertise: media.advertise, interfaces: interfaces, includesLoopback: isDevelopment)
        guard !addresses.bind.isEmpty, !addresses.advertise.isEmpty else {
            let message =
                "this machine has no address but loopback: name the addresses for media in media.bind, or start with --dev"
            throw ConfigurationError(problems: [ConfigurationProblem(nil, message)])
        }
        var media = media
        media.bind = addresses.bind
        media.advertise = addresses.advertise
        media.detectsInbandDTMF = inbandDTMF == .on
        media.pacesWakeUps = pacing == .on
        media.maximumLoad = maximumLoad
        media.workers = workerCount
        return media
    }

    var workerCount: Int { mediaWorkers ?? ProcessInfo.processInfo.activeProcessorCount }
}
