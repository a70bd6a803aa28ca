internal import Audio
internal import AudioStreams
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

/// Owns a part of the calls: one thread that receives, decides and sends.
///
///     wait ─▶ commands ─▶ datagrams ─▶ deadlines ─▶ flush ─▶ wait
///
/// All of its state belongs to its thread. Events are reported by `Environment.events`.
final class MediaWorker {
    struct Environment: Sendable {
        let context: DTLSContext
        let consentTimeout: Duration
        let streamLimits: StreamTable.Limits
        let library: MediaLibrary
        let toneRegion: ToneCadence.Region
        let detectsInbandDTMF: Bool
        let streams: AnnouncedStreams
        let pacesWakeUps: Bool
        let maximumLoad: Int?
        let layout: WorkerLayout
        let metrics: GatewayMetrics
        let logger: Logger
        let recorder: any AudioRecorder
        let events: @Sendable (CallID, MediaEvent) -> Void

        /// Tells that something will not be done with the audio of a headless leg: its list is over, its recording or
        /// its stream.
        func refuse(_ speech: Speech, of leg: LegID, in call: CallID) {
            switch speech {
            case .play(_, let number, let tag, _):
                events(call, .played(PlayedList(number: number, tag: tag, heard: 0, outcome: .failed), leg))
            case .record(.start(let id, _)): recorder.note(.over(.failed), of: id)
            case .stream(let name): streams.take(name)?.link.end(.callEnded)
            case .record(.pause), .record(.resume), .record(.stop), .stop, .stopList, .mute, .pause: break
            }
        }
    }

    let environment: Environment
    let endpoint: WorkerEndpoint
    /// The endpoints of all workers, in their order.
    let endpoints: [WorkerEndpoint]
    let authentication = OpenSSLAuthentication()
    let wallClock: WallClock
    var random = SecureRandomSource()
    var calls: [CallID: MediaCall] = [:]
    /// The leg for each local username fragment, by which connectivity checks are addressed.
    var legsByFragment: [String: MediaLeg] = [:]
    /// The legs that packets of a path belong to; only for paths that a check has authenticated.
    var paths = PathClaims<LegPlace<MediaLeg>>()
    /// The legs whose peers have sent authenticated packets with an SSRC. They are looked up for packets over paths
    /// that no leg claims.
    var legsBySource: [SSRC: [MediaLeg]] = [:]
    /// The workers to which checks for legs that have moved away are passed on.
    var movedLegs = MovedLegs()
    /// The legs that calls of this worker wait for.
    var awaited: [CallID: AwaitedLeg] = [:]
    /// The legs that have arrived before their call's `adopt`.
    var early: [EarlyLeg] = []
    var deadlines = DeadlineQueue()
    var pacing: WakeUpPacing
    /// The datagrams that were received, and the calls that were started so far.
    var (received, startedCalls) = (UInt64(0), 0)
    /// The datagrams that the kernel has dropped, for any reason and for a wrong checksum, when it was asked last.
    private var (dropped, corrupt) = (UInt32(0), UDPStatistics.current.checksumErrors)
    private lazy var load = WorkerLoad(measurement(at: MonotonicClock.now))
    var tally = PacketTally()
    /// A buffer for a packet that is sent to more than one leg.
    var copy = [UInt8](repeating: 0, count: DatagramPool.slotSize)
    private(set) var isStopping = false
    /// The number of workers, this one included, from which a leg may still arrive.
    private var givers: Int
    private var madeLegs: UInt64 = 0

    init(environment: Environment, endpoint: WorkerEndpoint, endpoints: [WorkerEndpoint]) {
        self.environment = environment
        self.endpoint = endpoint
        self.endpoints = endpoints
        givers = endpoints.count
        pacing = WakeUpPacing(isEnabled: environment.pacesWakeUps)
        wallClock = WallClock(showing: NTPTimestamp(unixNanoseconds: WallTime.unixNanoseconds), at: MonotonicClock.now)
    }

    /// Runs until every worker has processed a `.stop`, so that no leg is lost on its way.
    func run(wakeUp: WakeUp) {
        do {
            var context = WorkerContext(
                transport: try PacketTransport(
                    of: endpoint, among: endpoints, layout: environment.layout, wakeUp: wakeUp,
                    limits: environment.streamLimits, metrics: environment.metrics))
            try serve(&context)
            discardLateMessages(&context)
            context.readClock()
            for call in Array(calls.keys) { release(call, &context) }
            report(context.transport.flush())
            context.transport.closeAll()
        } catch {
            environment.logger.critical("media worker cannot wait for packets", metadata: [LogKey.error: "\(error)"])
            stop()
        }
    }

    private func serve(_ context: inout WorkerContext) throws(SocketError) {
        var messages: [WorkerEndpoint.Message] = []
        while givers > 0 {
            let ready = try context.transport.wait(until: nextDeadline)
            context.readClock()
            let start = context.now
            if context.transport.wasWoken {
                // The packets are counted first: the legs that they belong to are here after the messages have been
                // processed.
                let passedOn = endpoint.packets.count
                carryOut(&messages, &context)
                receivePassedOn(passedOn, &context)
            }
            for index in 0..<ready { receive(from: context.transport.readySocket(index), &context) }
            for index in 0..<context.transport.readyListenerCount {
                context.transport.accept(from: context.transport.readyListener(index), at: context.now)
            }
            for index in 0..<context.transport.readyConnectionCount {
                receive(from: context.transport.readyConnection(index), &context)
            }
            context.transport.closeOverdue(at: context.now)
            while let call = deadlines.popDue(at: context.now) { timeout(CallID(call), &context) }
            report(context.transport.flush())
            leaveAlone(since: start, &context)
            if load.isDue(at: context.now) { measureLoad(at: context.now) }
        }
    }

    /// Leaves the sockets alone for as long as they shall be after a turn, but not beyond the next deadline. Commands
    /// wait as well.
    private func leaveAlone(since start: MonotonicTime, _ context: inout WorkerContext) {
        context.readClock()
        guard let next = pacing.endTurn(startedAt: start, now: context.now) else { return }
        MonotonicClock.sleep(until: min(next, deadlines.earliest ?? next))
    }

    private var nextDeadline: MonotonicTime? {
        guard let own = load.nextTime else { return deadlines.earliest }
        return deadlines.earliest.map { min($0, own) } ?? own
    }

    private func measureLoad(at now: MonotonicTime) {
        let dropped = load.take(measurement(at: now))
        endpoint.setLoad(load)
        if dropped > 0 { environment.metrics.packetsDropped[.fullSocket].increment(by: UInt64(dropped)) }
        environment.metrics.mediaRoom.set(Int64(endpoints.room(upTo: environment.maximumLoad)))
    }

    private func measurement(at now: MonotonicTime) -> WorkerLoad.Measurement {
        var sum: UInt32 = 0
        do {
            for socket in endpoint.sockets { sum &+= try socket.droppedCount }
            if sum != dropped { corrupt = UDPStatistics.current.checksumErrors }
            dropped = sum
        } catch {
            // A socket was closed: what was dropped stays as it was.
        }
        return WorkerLoad.Measurement(
            time: now, used: ThreadClock.used, received: received, dropped: dropped, corrupt: corrupt,
            calls: calls.count, started: startedCalls)
    }

    /// Answers requests for statistics that are still open, and ends legs that arrive too late for their call.
    private func discardLateMessages(_ context: inout WorkerContext) {
        var messages: [WorkerEndpoint.Message] = []
        endpoint.takeMessages(into: &messages)
        for message in messages {
            switch message {
            case .describe(_, let answer): answer.resume(returning: nil)
            case .arrival(let box?, let name, let call): abandon(box.take(), as: name, in: call, &context)
            case .stop, .noMoreLegs, .call, .giveLeg, .arrival(nil, _, _), .legChanged, .pathClosed, .closeConnection:
                break
            }
        }
        for each in early { if let leg = each.leg { abandon(leg, as: each.name, in: each.call, &context) } }
        early = []
    }

    private func carryOut(
        _ messages: inout [WorkerEndpoint.Message], _ context: inout WorkerContext
    ) {
        endpoint.takeMessages(into: &messages)
        for message in messages {
            switch message {
            case .stop: stop()
            case .noMoreLegs: givers -= 1
            case .call(let call, let command): carryOutInTurn(.command(command), for: call, &context)
            case .describe(let call, let answer): answer.resume(returning: statistics(of: call))
            case .giveLeg(let leg, let giver, let taker, let name):
                carryOutInTurn(.giveLeg(leg, to: taker, as: name), for: giver, &context)
            case .arrival(let box, let name, let call):
                arrive(box?.take(), as: name, in: call, &context)
            case .legChanged(let change, let host): follow(change, by: host, &context)
            case .pathClosed(let path): pathClosed(path, &context)
            case .closeConnection(let connection): context.transport.close(connection, .released)
            }
        }
        messages.removeAll(keepingCapacity: true)
    }

    private func stop() {
        guard !isStopping else { return }
        isStopping = true
        for endpoint in endpoints { endpoint.send(.noMoreLegs) }
    }

    private func timeout(_ id: CallID, _ context: inout WorkerContext) {
        guard let call = calls[id] else { return }
        for leg in call.legs {
            timeout(leg, &context)
            for other in leg.further { timeout(other, &context) }
        }
        runStreams(of: call, at: context.now)
        runAudio(of: call, &context)
        releaseDigits(of: call, at: context.now)
        measureQuality(of: call, at: context.now)
        call.bridge.timeout(at: context.now)
        sendControl(of: call, &context)
        rearm(call)
    }

    private func timeout(_ leg: MediaLeg, _ context: inout WorkerContext) {
        if let retransmission = leg.retransmission, retransmission <= context.now, let dtls = leg.dtls {
            dtls.handleTimeout()
            continueHandshake(of: leg, dtls, over: nil, &context)
        }
        perform(leg.session.timeout(at: context.now), for: leg, &context)
    }

    /// Makes a number for a new leg, which no other leg of the process has.
    func nextLegNumber() -> LegNumber {
        defer { madeLegs += 1 }
        return LegNumber(madeLegs, madeBy: endpoint.index)
    }

    /// Sets the next deadline of a call. It is called after every input that may have changed it.
    func rearm(_ call: MediaCall) { deadlines.set(call.nextDeadline, for: call.id.rawValue) }

    private func report(_ transmissions: Transmissions) {
        tally.flush(into: environment.metrics, transmissions)
    }
}
