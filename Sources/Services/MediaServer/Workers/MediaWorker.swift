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
    func run(sockets: [UDPSocket], wakeUp: WakeUp) {
        var pool = DatagramPool(sockets: sockets)
        var messages: [WorkerEndpoint.Message] = []
        do {
            var poller = try Poller(wakeUp: wakeUp)
            for (index, socket) in sockets.enumerated() { try poller.add(socket, as: SocketIndex(UInt16(index))) }
            while !isStopping {
                let ready = try poller.wait(until: deadlines.earliest)
                let now = MonotonicClock.now
                if poller.wasWoken { carryOut(&messages, &pool, at: now) }
                for index in 0..<ready { receive(from: poller.readySocket(index), &pool, at: now) }
                while let call = deadlines.popDue(at: now) { timeout(CallID(call), &pool, at: now) }
                report(pool.flush())
            }
        } catch {
            environment.logger.critical("media worker cannot wait for packets", metadata: [LogKey.error: "\(error)"])
        }
        for call in Array(calls.keys) { release(call, &pool, at: MonotonicClock.now) }
        report(pool.flush())
    }

    private func carryOut(_ messages: inout [WorkerEndpoint.Message], _ pool: inout DatagramPool, at now: MonotonicTime) {
        endpoint.takeMessages(into: &messages)
        for message in messages {
            switch message {
            case .stop: isStopping = true
            case .call(let call, let command): carryOut(command, for: call, &pool, at: now)
            }
        }
        messages.removeAll(keepingCapacity: true)
    }

    private func timeout(_ id: CallID, _ pool: inout DatagramPool, at now: MonotonicTime) {
        guard let call = calls[id] else { return }
        for leg in call.legs {
            if let retransmission = leg.retransmission, retransmission <= now, let dtls = leg.dtls {
                dtls.handleTimeout()
                continueHandshake(of: leg, dtls, &pool, at: now)
            }
            perform(leg.session.timeout(at: now), for: leg, &pool, at: now)
        }
        call.bridge.timeout(at: now)
        sendControl(of: call, &pool)
        rearm(call)
    }

    /// Sets the call's next deadline; to be called after every input that may have moved it.
    func rearm(_ call: MediaCall) { deadlines.set(call.nextDeadline, for: call.id.rawValue) }

    private func report(_ transmissions: Transmissions) {
        tally.flush(into: environment.metrics, transmissions)
    }
}
