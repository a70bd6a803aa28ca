package import CallControl
package import CallRuntime
package import Audio
internal import AudioStreams
internal import Cryptography
internal import DTLS
internal import HTTPClient
internal import ICE
package import Logging
internal import MediaPlane
package import Observability
package import Primitives
internal import SDP
internal import Sockets
internal import Synchronization

/// The media plane: a fixed number of threads, the workers, each with its own UDP port and its own calls.
///
/// The number of a call determines its worker. No table is shared, and all legs of a call are on one thread. A leg that
/// moves to another call moves to the worker of that call. Its packets follow it from the socket that its peer goes on
/// using.
package final class MediaServer: MediaPort {
    /// Addresses, ports and limits of the media plane.
    package struct Configuration: Equatable, Sendable {
        /// Addresses to listen on; each worker has one socket per address. `0.0.0.0` and `::` are allowed.
        package var bind: [IPAddress]
        /// Addresses that candidates have instead of those in `bind`, for containers and NAT; empty for those in
        /// `bind`.
        package var advertise: [IPAddress]
        /// The UDP port of the first worker; each further worker uses the next port. 0 lets the kernel choose.
        package var firstPort: UInt16
        /// The TCP port of the first worker, for peers whose network blocks UDP (RFC 6544); each further worker uses
        /// the next port. 0 lets the kernel choose, `nil` offers no TCP candidates.
        package var tcpPort: UInt16?
        /// The most TCP connections that one worker keeps at a time, at most 65,535. A browser opens one per local
        /// address.
        package var maximumConnectionsPerWorker: Int
        /// A TCP connection is closed if no valid connectivity check has come over it this long after it was opened.
        package var firstCheckTimeout: Duration
        /// The number of workers, at least 1; one per core is best.
        package var workers: Int
        /// A leg is considered disconnected after this long without a valid connectivity check or protected packet (RFC
        /// 7675 §5.1).
        package var consentTimeout: Duration
        /// The folder of the sound files; `nil` if no files can be played.
        package var mediaFolder: String?
        /// The sounds that are fetched from other servers.
        package var sounds = RemoteSounds.Configuration()
        /// The country whose telephone tones are played.
        package var toneRegion = ToneCadence.Region.itu
        /// Whether DTMF digits are detected in the G.711 audio of peers that have not negotiated telephone events,
        /// where that audio is transcoded.
        package var detectsInbandDTMF = false
        /// Whether a worker with many packets leaves its sockets alone for up to half a millisecond, so that one
        /// wake-up serves several packets; see `WakeUpPacing`.
        package var pacesWakeUps = true
        /// From this load of its worker on a new call is refused, in percent of a processor, 1...100; `nil`: calls are
        /// refused by their number only. See `WorkerLoad`.
        package var maximumLoad: Int?
        /// The most calls that one worker takes at a time.
        package var maximumCallsPerWorker: Int

        /// Makes a configuration; each parameter is the property of that name.
        ///
        /// Defaults: candidates for the addresses in `bind`, UDP port 7000 and no TCP, one worker, 30 s for consent,
        /// 4,000 calls and 2,000 TCP connections per worker, 5 s for the first check of a connection. Files, tones,
        /// DTMF detection, pacing and the limit of the load are set afterwards.
        package init(
            bind: [IPAddress], advertise: [IPAddress] = [], firstPort: UInt16 = 7_000, tcpPort: UInt16? = nil,
            workers: Int = 1,
            consentTimeout: Duration = .seconds(30), maximumCallsPerWorker: Int = 4_000,
            maximumConnectionsPerWorker: Int = 2_000,
            firstCheckTimeout: Duration = .seconds(5)
        ) {
            self.bind = bind
            self.advertise = advertise
            self.firstPort = firstPort
            self.tcpPort = tcpPort
            self.workers = workers
            self.consentTimeout = consentTimeout
            self.maximumCallsPerWorker = maximumCallsPerWorker
            self.maximumConnectionsPerWorker = maximumConnectionsPerWorker
            self.firstCheckTimeout = firstCheckTimeout
        }
    }

    private let endpoints: [WorkerEndpoint]
    private let layout: WorkerLayout
    private let fingerprint: Fingerprint
    private let maximumCallsPerWorker: Int
    private let maximumLoad: Int?
    private let library: MediaLibrary
    private let sounds: RemoteSounds
    /// Fetches sounds; `nil`: none are fetched.
    private let soundClient: HTTPClient?
    private let streams = AnnouncedStreams()
    private let metrics: GatewayMetrics
    private let environment: MediaWorker.Environment
    private let events: @Sendable (CallID, MediaEvent) -> Void
    private let isStopping = Atomic<Bool>(false)

    /// Makes a certificate, binds the sockets and starts the threads.
    ///
    /// - Parameters:
    ///   - configuration: At least one worker and one address; a configuration without workers traps.
    ///   - metrics: Counters that the workers share.
    ///   - logger: The log of all workers.
    ///   - recorder: Takes the audio of recordings.
    ///   - events: Receives what happens to the media of calls. It is called on the thread of a worker, or of the
    ///     caller whose command is refused, and must return at once.
    /// - Throws: `socket` if an address cannot be bound or a thread cannot be started, `security` if OpenSSL refuses.
    package init(
        configuration: Configuration, metrics: GatewayMetrics, logger: Logger,
        recorder: any AudioRecorder = NoRecorder(),
        events: @escaping @Sendable (CallID, MediaEvent) -> Void
    ) throws(MediaServerError) {
        precondition(configuration.workers > 0, "the configuration is checked before it gets here")
        let context: DTLSContext
        do {
            context = try DTLSContext(certificate: Certificate(commonName: "orbweaver"))
        } catch {
            throw .security("\(error)")
        }
        fingerprint = Fingerprint(.sha256, digest: context.certificate.fingerprint(.sha256))
        maximumCallsPerWorker = configuration.maximumCallsPerWorker
        maximumLoad = configuration.maximumLoad
        library = MediaLibrary(folder: configuration.mediaFolder)
        let client = try Self.soundClient(configuration.sounds)
        soundClient = client
        sounds = RemoteSounds(configuration.sounds, in: library) { request async throws(HTTPFailure) in
            guard let client else { throw HTTPFailure.shutDown }
            return try await client.response(to: request)
        }
        self.metrics = metrics
        self.events = events
        var endpoints: [WorkerEndpoint] = []
        for index in 0..<configuration.workers {
            endpoints.append(
                try WorkerEndpoint(
                    index: WorkerIndex(UInt16(index)), bind: configuration.bind, advertise: configuration.advertise,
                    port: Self.port(configuration.firstPort, ofWorker: index),
                    tcpPort: configuration.tcpPort.map { Self.port($0, ofWorker: index) }))
        }
        layout = WorkerLayout(workers: configuration.workers, socketsPerWorker: configuration.bind.count)
        let environment = MediaWorker.Environment(
            context: context, consentTimeout: configuration.consentTimeout,
            streamLimits: StreamTable.Limits(
                connections: configuration.maximumConnectionsPerWorker,
                firstCheckTimeout: configuration.firstCheckTimeout),
            library: library, toneRegion: configuration.toneRegion,
            detectsInbandDTMF: configuration.detectsInbandDTMF, streams: streams,
            pacesWakeUps: configuration.pacesWakeUps, maximumLoad: configuration.maximumLoad, layout: layout,
            metrics: metrics, logger: logger, recorder: recorder, events: events)
        self.environment = environment
        Self.checkBuffers(of: endpoints, logger)
        metrics.mediaRoom.set(100)
        for endpoint in endpoints { try endpoint.start(environment, among: endpoints) }
        self.endpoints = endpoints
    }

    /// The addresses and UDP ports of the workers, in their order.
    package var localAddresses: [SocketAddress] { endpoints.flatMap(\.localAddresses) }
    /// The addresses and TCP ports on which the workers accept connections; empty without TCP.
    package var listenerAddresses: [SocketAddress] { endpoints.flatMap(\.listenerAddresses) }

    /// Makes the number of a call from random bits, so that its worker is that of `other`, if there is one and it takes
    /// new calls, or else one with little load.
    package func identifier(_ random: UInt64, near other: CallID?) -> CallID {
        if let other, !isFull(endpoint(of: other)) {
            return CallID(layout.number(random, onTheWorkerOf: other.rawValue))
        }
        let place = WorkerChoice.place(among: endpoints.map(\.candidate), random: random >> 32)
        return CallID(layout.number(random, onTheWorkerOf: UInt64(place)))
    }

    /// Reserves media for a leg of a call: the candidates of its worker, and the certificate's fingerprint. A new call
    /// is refused where calls that exist would suffer.
    ///
    /// - Throws: `MediaUnavailable`.
    package func reserve(_ call: CallID, isNew: Bool) throws(MediaUnavailable) -> MediaReservation {
        guard !isStopping.load(ordering: .relaxed) else { throw .stopping }
        let endpoint = endpoint(of: call)
        guard endpoint.callCount < maximumCallsPerWorker, !endpoint.isOverloaded else { throw .full }
        if isNew, isFull(endpoint) { throw .full }
        return MediaReservation(candidates: endpoint.candidates, fingerprint: fingerprint)
    }

    /// Whether a worker takes no new calls, those counted that have come since it was measured.
    private func isFull(_ endpoint: WorkerEndpoint) -> Bool {
        maximumLoad.map { endpoint.candidate.expected >= $0 } ?? false
    }

    /// Passes a command to the worker of a call, in the order of the calls to this function.
    ///
    /// If the worker is overloaded, `events` is told so at once: the leg has failed, or the playback has ended. DTMF
    /// digits are dropped and counted. Commands that end or release are always taken.
    package func send(_ command: MediaCommand, for call: CallID) {
        switch command {
        case .stopPlaying, .releaseLeg, .release: endpoint(of: call).send(.call(call, command))
        case .prepare(let leg, _), .prepareHeadless(let leg, _), .connect(let leg, _), .route(let leg, _):
            if !offer(command, for: call) { events(call, .failed(leg, .overloaded)) }
        case .adopt(let leg, let former, let name):
            guard offer(command, for: call) else { return events(call, .failed(name, .overloaded)) }
            // Each of the two calls has this command in its own order. The taker waits for the leg, so this message is
            // always taken.
            endpoint(of: former).send(.giveLeg(leg, of: former, to: call, as: name))
        case .play(_, let number, let leg):
            if !offer(command, for: call) { events(call, .playbackEnded(number, leg)) }
        case .say(let leg, let speech):
            if !offer(command, for: call) { environment.refuse(speech, of: leg, in: call) }
        case .sendDigits(let digits, _):
            if !offer(command, for: call) { metrics.mediaDigitsDropped.increment(by: UInt64(digits.digits.utf8.count)) }
        }
    }

    /// Says so if the kernel grants smaller buffers than a full worker needs.
    private static func checkBuffers(of endpoints: [WorkerEndpoint], _ logger: Logger) {
        // A socket that cannot be asked was closed, and says so when it is used.
        guard let granted = try? endpoints.first?.sockets.first?.receiveBufferBytes,
            granted < WorkerEndpoint.receiveBufferBytes
        else { return }
        logger.warning(
            "the kernel grants media sockets a receive buffer of \(granted) bytes, and full workers need \(WorkerEndpoint.receiveBufferBytes): raise net.core.rmem_max"
        )
    }

    private static func soundClient(
        _ configuration: RemoteSounds.Configuration
    ) throws(MediaServerError) -> HTTPClient? {
        guard configuration.folder != nil else { return nil }
        do {
            return try HTTPClient(name: "sounds", configuration: configuration.client)
        } catch {
            throw .socket("\(error)")
        }
    }

    private func offer(_ command: MediaCommand, for call: CallID) -> Bool {
        if endpoint(of: call).offer(.call(call, command)) { return true }
        metrics.mediaCommandsRefused.increment()
        return false
    }

    /// Makes a stream known to the workers. One of them takes it with the command that names it.
    package func add(_ stream: MediaStream, as name: StreamID) { streams.add(stream, as: name) }

    /// Forgets a stream that no worker has taken.
    package func remove(_ stream: StreamID) { _ = streams.take(stream) }

    /// Reads a sound file into the media library.
    ///
    /// - Throws: `MediaFileError` if it cannot be played.
    package func load(file: String) async throws(MediaFileError) { try await library.load(file) }

    /// Fetches sounds of other servers into the media library, unless those that are there are current.
    ///
    /// - Throws: `MediaFileError` if one cannot be fetched or played.
    package func load(urls: [String], for application: ApplicationName) async throws(MediaFileError) {
        try await sounds.load(urls, for: application)
    }

    /// The media statistics of a call; `nil` if its worker does not have it or is overloaded, or if the server stops.
    package func statistics(of call: CallID) async -> CallMediaStatistics? {
        guard !isStopping.load(ordering: .relaxed) else { return nil }
        return await withCheckedContinuation { continuation in
            if !endpoint(of: call).offer(.describe(call, continuation)) {
                metrics.mediaCommandsRefused.increment()
                continuation.resume(returning: nil)
            }
        }
    }

    /// Stops the workers, and waits for their threads, which wait for the legs that move between them. It is called
    /// after all calls have been released.
    package func stop() {
        isStopping.store(true, ordering: .relaxed)
        soundClient?.shutDown()
        for endpoint in endpoints { endpoint.send(.stop) }
        for endpoint in endpoints { endpoint.join() }
    }

    private static func port(_ first: UInt16, ofWorker index: Int) -> UInt16 { first == 0 ? 0 : first + UInt16(index) }

    private func endpoint(of call: CallID) -> WorkerEndpoint {
        endpoints[Int(layout.worker(ofCall: call.rawValue).rawValue)]
    }
}

/// Why the media server cannot be started.
package enum MediaServerError: Error, Equatable {
    /// A socket could not be bound, or a thread could not be started; the text says which and why.
    case socket(String)
    /// OpenSSL refused to make a certificate or a context; the text is its reason.
    case security(String)
}
