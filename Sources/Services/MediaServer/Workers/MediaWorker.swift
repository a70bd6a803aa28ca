internal import Audio
internal import CallControl
internal import CallRuntime
internal import Cryptography
internal import DTLS
internal import Logging
internal import MediaPlane
internal import Observability
internal import Primitives
internal import RTP
internal import Sockets

/// The owner of a share of the calls: one thread that receives, decides and sends.
///
///     wait ─▶ commands ─▶ datagrams ─▶ deadlines ─▶ flush ─▶ wait
///
/// Everything it holds lives on its thread. What it has to tell leaves through `Environment.events`.
final class MediaWorker {
    struct Environment: Sendable {
        let context: DTLSContext
        let consentTimeout: Duration
        let streamLimits: StreamTable.Limits
        let library: MediaLibrary
        let toneRegion: ToneCadence.Region
        let detectsInbandKeys: Bool
        let metrics: GatewayMetrics
        let logger: Logger
        let events: @Sendable (CallID, MediaEvent) -> Void
    }

    let environment: Environment
    let endpoint: WorkerEndpoint
    let authentication = OpenSSLAuthentication()
    let wallClock: WallClock
    var random = SecureRandomSource()
    var calls: [CallID: MediaCall] = [:]
    /// Whose checks a username fragment names.
    var legsByFragment: [String: MediaLeg] = [:]
    /// Whose packets come over a path; only paths that a check has authenticated.
    var legsByPath: [Path: MediaLeg] = [:]
    var deadlines = DeadlineQueue()
    var tally = PacketTally()
    /// For a packet that goes to more than one leg.
    var copy = [UInt8](repeating: 0, count: DatagramPool.slotSize)
    private var isStopping = false

    init(environment: Environment, endpoint: WorkerEndpoint) {
        self.environment = environment
        self.endpoint = endpoint
        wallClock = WallClock(showing: NTPTimestamp(unixNanoseconds: WallTime.unixNanoseconds), at: MonotonicClock.now)
    }

    /// Runs until a `.stop` has been taken from the mailbox.
    func run(sockets: [UDPSocket], listeners: [TCPListener], wakeUp: WakeUp) {
        do {
            var transport = try PacketTransport(
                sockets: sockets, listeners: listeners, wakeUp: wakeUp, limits: environment.streamLimits, metrics: environment.metrics)
            try serve(&transport)
            for call in Array(calls.keys) { release(call, &transport, at: MonotonicClock.now) }
            report(transport.flush())
            transport.closeAll()
            turnAwayTheCurious()
        } catch {
            environment.logger.critical("media worker cannot wait for packets", metadata: [LogKey.error: "\(error)"])
        }
    }

    private func serve(_ transport: inout PacketTransport) throws(SocketError) {
        var messages: [WorkerEndpoint.Message] = []
        while !isStopping {
            let ready = try transport.wait(until: deadlines.earliest)
            let now = MonotonicClock.now
            if transport.wasWoken { carryOut(&messages, &transport, at: now) }
            for index in 0..<ready { receive(from: transport.readySocket(index), &transport) }
            for index in 0..<transport.readyListenerCount { transport.accept(from: transport.readyListener(index), at: now) }
            for index in 0..<transport.readyConnectionCount { receive(from: transport.readyConnection(index), &transport, at: now) }
            transport.closeOverdue(at: now)
            while let call = deadlines.popDue(at: now) { timeout(CallID(call), &transport, at: now) }
            report(transport.flush())
        }
    }

    /// Whoever still waits for an answer gets one.
    private func turnAwayTheCurious() {
        var messages: [WorkerEndpoint.Message] = []
        endpoint.takeMessages(into: &messages)
        for case .describe(_, let answer) in messages { answer.resume(returning: nil) }
    }

    private func carryOut(_ messages: inout [WorkerEndpoint.Message], _ transport: inout PacketTransport, at now: MonotonicTime) {
        endpoint.takeMessages(into: &messages)
        for message in messages {
            switch message {
            case .stop: isStopping = true
            case .call(let call, let command): carryOut(command, for: call, &transport, at: now)
            case .describe(let call, let answer): answer.resume(returning: statistics(of: call))
            }
        }
        messages.removeAll(keepingCapacity: true)
    }

    private func timeout(_ id: CallID, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let call = calls[id] else { return }
        for leg in call.legs {
            if let retransmission = leg.retransmission, retransmission <= now, let dtls = leg.dtls {
                dtls.handleTimeout()
                continueHandshake(of: leg, dtls, &transport, at: now)
            }
            perform(leg.session.timeout(at: now), for: leg, &transport, at: now)
        }
        runAudio(of: call, &transport, at: now)
        measureQuality(of: call, at: now)
        call.bridge.timeout(at: now)
        sendControl(of: call, &transport)
        rearm(call)
    }

    /// Sets the call's next deadline; to be called after every input that may have moved it.
    func rearm(_ call: MediaCall) { deadlines.set(call.nextDeadline, for: call.id.rawValue) }

    private func report(_ transmissions: Transmissions) {
        tally.flush(into: environment.metrics, transmissions)
    }
}
