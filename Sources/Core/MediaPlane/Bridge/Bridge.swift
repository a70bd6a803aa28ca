package import Primitives
package import RTP
package import SDP

/// Relays media between the legs of a call, and terminates RTCP on each of them.
///
/// To each peer the gateway is the sender (back-to-back RTP sessions, RFC 7667 §3.2.2). Outgoing packets have the
/// gateway's SSRC, one continuous series of sequence numbers and timestamps per m-line, and reports of the gateway,
/// whichever source is behind them.
///
///     peer A ──RTP──▶ receive ──▶ relay ──same bytes, other header──▶ peer B
///            │                └─▶ decoded by the owner ─▶ mix, player ─▶ originate ──▶ peer C
///            ◀─NACK, PLI, FIR, REMB, translated── receiveControl ◀─RTCP─
///            ◀─SR, RR── timeout ──SR, RR──▶
///
/// `receive`, `relay` and `originate` are the hot path and allocate nothing. After any other input, call `poll` until
/// it returns `nil`.
package struct Bridge: Sendable {
    /// The settings of a bridge.
    package struct Configuration: Equatable, Sendable {
        /// The mean time between reports on a leg without video: the minimum of RFC 3550 §6.2.
        package var audioReportInterval = Duration.seconds(5)
        /// The mean time between reports on a leg with video: the reduced minimum of 360 s divided by the bandwidth in
        /// kbit/s.
        package var videoReportInterval = Duration.seconds(1)
        /// The shortest time between two requests for a key frame to one source.
        package var keyFrameInterval = Duration.milliseconds(200)
        /// The time between transport-wide feedbacks to a peer that numbers its packets. It is the target of
        /// libwebrtc's receiver.
        package var transportFeedbackInterval = Duration.milliseconds(100)
        /// The silence of a source after which the source that it replaced may return.
        package var sourceSilence = Duration.milliseconds(200)
        /// The most SSRCs of a peer at a time that its SDP does not announce.
        package var maximumLearnedSources = 16
        /// What is kept of each outgoing video stream in order to retransmit lost packets.
        package var history = PacketHistory.Configuration()
        /// The most NACKs of one peer that are passed on at once; after that, one per `nackInterval`. Each contains
        /// everything that a compound packet asks of one source. libwebrtc's receiver asks when it sees a gap, and
        /// again every round trip.
        package var nackBurst = 20
        /// The time per further NACK after `nackBurst`.
        package var nackInterval = Duration.milliseconds(10)
        /// The most estimates (REMB) of one peer that are passed on at once; after that, one per `estimateInterval`.
        /// libwebrtc sends them once a second, and when they fall.
        package var estimateBurst = 5
        /// The time per further estimate after `estimateBurst`, and the shortest time between two falling limits to a
        /// sender.
        package var estimateInterval = Duration.milliseconds(100)
        /// The share of the last limit below which a sender's limit counts as fallen.
        package var estimateStep = 0.97
        /// The time after which a sender's limit is repeated if it has not fallen.
        package var estimateRepetition = Duration.seconds(1)

        /// Makes settings with the defaults.
        package init() {}
    }

    /// The most legs at a time, which is also the size of the largest mix.
    package static let maximumLegs = 32

    let configuration: Configuration
    let cname: String
    let wallClock: WallClock
    var legs: [BridgeLeg] = []
    var isEnded = false
    var draft = ControlDraft()
    /// Set if a packet has shown that the flows have to be computed anew. It is not done while the packet is on its way
    /// to its receivers.
    var flowsAreStaleSince: MonotonicTime?
    private var outputs: [BridgeOutput] = []

    /// Makes a bridge without legs.
    ///
    /// - Parameters:
    ///   - configuration: The settings.
    ///   - cname: The gateway's CNAME in RTCP, the same as in its `a=ssrc` lines; random per call (RFC 7022).
    ///   - wallClock: The clock for NTP timestamps in sender reports.
    package init(configuration: Configuration = Configuration(), cname: String, wallClock: WallClock) {
        self.configuration = configuration
        self.cname = cname
        self.wallClock = wallClock
    }

    // MARK: Legs

    /// Adds a leg that has to be configured; `nil` if the bridge is full (`maximumLegs`).
    package mutating func addLeg(random: inout some RandomSource) -> LegIndex? {
        place(BridgeLeg(cname: cname, schedule: ReportSchedule(seed: random.next())))
    }

    /// Puts a leg into the first free place; `nil` if there is none.
    mutating func place(_ leg: BridgeLeg) -> LegIndex? {
        if let vacancy = legs.firstIndex(where: { !$0.isPresent }) {
            legs[vacancy] = leg
            return LegIndex(vacancy)
        }
        guard legs.count < Self.maximumLegs else { return nil }
        legs.append(leg)
        return LegIndex(legs.count - 1)
    }

    /// Removes a leg. Its peer gets RTCP BYE, and legs that heard it hear nothing.
    package mutating func removeLeg(_ index: LegIndex, at now: MonotonicTime) {
        guard self[index].isPresent else { return }
        if !isEnded { sendGoodbye(to: index) }
        vacate(index, at: now)
    }

    /// Frees the place of a leg.
    mutating func vacate(_ index: LegIndex, at now: MonotonicTime) {
        self[index].leave()
        for place in legs.indices {
            if legs[place].audioSource == .leg(index) { legs[place].audioSource = .silence }
            if legs[place].videoSource == .leg(index) { legs[place].videoSource = .silence }
        }
        refreshFlows(at: now)
    }

    /// Applies what a leg has negotiated, for the first time or again. Streams and sources that remain continue.
    package mutating func configure(
        _ index: LegIndex, _ leg: NegotiatedLeg, random: inout some RandomSource, at now: MonotonicTime
    ) {
        self[index].configure(leg, configuration, random: &random)
        startTransportFeedback(to: index, at: now)
        refreshFlows(at: now)
    }

    /// Sets what a leg hears or sees from now on. Sequence numbers and timestamps continue, and a video source is asked
    /// for a key frame.
    package mutating func setSource(
        _ source: MediaSource, of kind: MediaKind, for index: LegIndex, at now: MonotonicTime
    ) {
        guard self[index].source(of: kind) != source else { return }
        switch kind {
        case .audio: self[index].audioSource = source
        case .video: self[index].videoSource = source
        case .other: return
        }
        refreshFlows(at: now)
    }

    /// The peer of this leg can receive over a transport from now on. Relayed video starts again with a key frame.
    package mutating func peerReady(
        _ index: LegIndex, over transport: TransportNumber = .first, at now: MonotonicTime
    ) {
        guard !isEnded else { return }
        self[index].readyTransports.insert(transport)
        self[index].schedule.start(interval: reportInterval(to: index), at: now)
        startTransportFeedback(to: index, at: now)
        refreshFlows(at: now)
    }

    /// Whether a source of a leg's peer is announced, or has been learnt and not forgotten.
    package func knows(_ source: SSRC, on index: LegIndex) -> Bool {
        legs[index.place].sources.index(of: source) != nil
    }

    /// The time at which the newest of those reports of the gateway was sent that the leg's peer has named in a report
    /// of its own, and has thus received; `nil` if there is none.
    package func lastAnsweredReport(of index: LegIndex) -> MonotonicTime? {
        legs[index.place].lines.compactMap(\.primary.roundTrip.lastAnswered).max()
    }

    // MARK: Time and end

    /// Ends the call: sends BYE to all peers and relays nothing more (RFC 3550 §6.3.7).
    package mutating func end(at now: MonotonicTime) {
        guard !isEnded else { return }
        isEnded = true
        for index in indices {
            sendGoodbye(to: index)
            self[index].schedule.stop()
            self[index].transportFeedback = nil
        }
        refreshFlows(at: now)
    }

    /// Sends the reports and the feedback whose time has come. A call before `nextDeadline` does nothing.
    package mutating func timeout(at now: MonotonicTime) {
        for place in legs.indices where legs[place].isPresent {
            let index = LegIndex(place)
            if let next = self[index].transportFeedback?.next, next <= now { sendTransportFeedback(to: index, at: now) }
            guard let next = self[index].schedule.next, next <= now else { continue }
            sendReports(to: index, at: now)
            tellLimits(to: index, at: now)
            legs[place].schedule.advance(interval: reportInterval(to: index), at: now)
        }
    }

    // MARK: Outputs

    /// The next thing to do; `nil` if there is none.
    package mutating func poll() -> BridgeOutput? {
        if let moment = flowsAreStaleSince {
            flowsAreStaleSince = nil
            refreshFlows(at: moment)
            return .audioChanged
        }
        return outputs.isEmpty ? nil : outputs.removeFirst()
    }

    /// Takes back the memory of an output that has been carried out, for the next one.
    package mutating func recycle(_ bytes: consuming [UInt8]) { draft.recycle(bytes) }

    /// When to call `timeout`, and why; `nil` if no report and no feedback is scheduled.
    package var nextDeadline: Deadline<BridgeDeadline>? {
        var earliest: Deadline<BridgeDeadline>?
        for place in legs.indices {
            if let next = legs[place].schedule.next {
                earliest = Deadline.earlier(earliest, Deadline(next, .reports(to: LegIndex(place))))
            }
            if let next = legs[place].transportFeedback?.next {
                earliest = Deadline.earlier(earliest, Deadline(next, .transportFeedback(to: LegIndex(place))))
            }
        }
        return earliest
    }

    /// The legs of the bridge.
    package var indices: [LegIndex] { legs.indices.filter { legs[$0].isPresent }.map(LegIndex.init) }

    // MARK: Private parts

    subscript(index: LegIndex) -> BridgeLeg {
        get { legs[index.place] }
        _modify { yield &legs[index.place] }
    }

    private func reportInterval(to index: LegIndex) -> Duration {
        self[index].hasVideo ? configuration.videoReportInterval : configuration.audioReportInterval
    }

    /// Queues a retransmission.
    mutating func transmitAgain(_ packet: [UInt8], to index: LegIndex, over transport: TransportNumber) {
        outputs.append(.transmitMedia(packet, to: index, over: transport))
    }

    /// Queues the current RTCP datagram unless it is empty.
    mutating func transmitDraft(to index: LegIndex) {
        guard !draft.isEmpty else { return }
        outputs.append(.transmitControl(draft.finish(), to: index, over: draft.transport))
    }
}
