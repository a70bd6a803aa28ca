package import Primitives
package import RTP
package import SDP

/// Carries media between the legs of a call, and ends RTCP on each of them.
///
/// To each peer the gateway is the sender (back-to-back RTP sessions, RFC 7667 §3.2.2): what goes out has the gateway's SSRC,
/// one continuous series of sequence numbers and timestamps per m-line, and the gateway's own reports, whatever source is behind it.
///
///     peer A ──RTP──▶ receive ──▶ forward ──same bytes, other header──▶ peer B
///            │                └─▶ decoded by the owner ─▶ mix, player ─▶ originate ──▶ peer C
///            ◀─NACK, PLI, FIR, REMB, translated── receiveControl ◀─RTCP─
///            ◀─SR, RR── timeout ──SR, RR──▶
///
/// `receive`, `forward` and `originate` are the hot path: they allocate nothing. After any other input, `poll` until it
/// returns `nil`.
package struct Bridge: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// The mean time between reports on a leg without video: the minimum of RFC 3550 §6.2.
        package var audioReportInterval = Duration.seconds(5)
        /// The same on a leg with video, after the reduced minimum of 360 s divided by the bandwidth in kbit/s.
        package var videoReportInterval = Duration.seconds(1)
        /// A source is asked for a key frame at most this often.
        package var keyFrameInterval = Duration.milliseconds(200)
        /// A peer that numbers its packets per transport is told this often which of them came: what libwebrtc's receiver aims at.
        package var transportFeedbackInterval = Duration.milliseconds(100)
        /// A source that was replaced may come back when its replacement has been silent for so long.
        package var sourceSilence = Duration.milliseconds(200)
        /// How many SSRCs that its SDP does not announce a peer may have at a time.
        package var maximumLearnedSources = 16
        /// What is kept of each stream of video that is sent, to repeat what its receiver has missed.
        package var history = PacketHistory.Configuration()
        /// NACKs of one peer that are passed on at once, each for all that a compound asks of one source, and after that one per
        /// `nackInterval`. libwebrtc's receiver asks when it sees a gap, and repeats itself every round trip.
        package var nackBurst = 20
        package var nackInterval = Duration.milliseconds(10)
        /// The same for the estimates of what a peer can take; libwebrtc's come once a second, and when they fall.
        package var estimateBurst = 5
        package var estimateInterval = Duration.milliseconds(100)
        /// What those who see a sender can take has fallen when it is less than this share of what the sender was
        /// told last.
        package var estimateStep = 0.97
        /// Otherwise a sender is told again after so long.
        package var estimateRepetition = Duration.seconds(1)

        package init() {}
    }

    /// Legs at a time: as many as a mix can be made of.
    package static let maximumLegs = 32

    let configuration: Configuration
    let cname: String
    let wallClock: WallClock
    var legs: [BridgeLeg] = []
    var isEnded = false
    var draft = ControlDraft()
    /// A packet has shown that what goes where has to be worked out anew; not while the packet is on its way to its receivers.
    var flowsAreStaleSince: MonotonicTime?
    private var outputs: [BridgeOutput] = []

    /// A bridge without legs.
    ///
    /// - Parameter cname: What the gateway calls itself in RTCP, the same as in its `a=ssrc` lines; random per call (RFC 7022).
    package init(configuration: Configuration = Configuration(), cname: String, wallClock: WallClock) {
        self.configuration = configuration
        self.cname = cname
        self.wallClock = wallClock
    }

    // MARK: Legs

    /// Makes room for a leg that is yet to be configured; `nil` if there are as many as there may be.
    package mutating func addLeg(random: inout some RandomSource) -> LegIndex? {
        place(BridgeLeg(cname: cname, schedule: ReportSchedule(seed: random.next())))
    }

    /// Puts a leg into the first free place.
    mutating func place(_ leg: BridgeLeg) -> LegIndex? {
        if let vacancy = legs.firstIndex(where: { !$0.isPresent }) {
            legs[vacancy] = leg
            return LegIndex(vacancy)
        }
        guard legs.count < Self.maximumLegs else { return nil }
        legs.append(leg)
        return LegIndex(legs.count - 1)
    }

    /// The leg leaves: its peer is told, and whoever heard it hears nothing.
    package mutating func removeLeg(_ index: LegIndex, at now: MonotonicTime) {
        guard self[index].isPresent else { return }
        if !isEnded { sendGoodbye(to: index) }
        vacate(index, at: now)
    }

    /// Nobody is at this place any more.
    mutating func vacate(_ index: LegIndex, at now: MonotonicTime) {
        self[index].leave()
        for place in legs.indices {
            if legs[place].audioSource == .leg(index) { legs[place].audioSource = .silence }
            if legs[place].videoSource == .leg(index) { legs[place].videoSource = .silence }
        }
        refreshFlows(at: now)
    }

    /// Takes over what a leg has negotiated, for the first time or again; streams and sources that remain go on.
    package mutating func configure(
        _ index: LegIndex, _ leg: NegotiatedLeg, random: inout some RandomSource, at now: MonotonicTime
    ) {
        self[index].configure(leg, configuration, random: &random)
        startTransportFeedback(to: index, at: now)
        refreshFlows(at: now)
    }

    /// Chooses what a leg hears or sees from now on. Its numbers and timestamps go on, and a video source is asked for a key frame.
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

    /// The peer of this leg can receive over a transport from now on; video that was under way starts again with a key
    /// frame.
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

    /// When the newest of our reports was sent that the leg's peer has named in one of its own: that one has arrived.
    package func lastAnsweredReport(of index: LegIndex) -> MonotonicTime? {
        legs[index.place].lines.compactMap(\.primary.roundTrip.lastAnswered).max()
    }

    // MARK: Time and end

    /// The call is over: says BYE to all peers and forwards nothing more (RFC 3550 §6.3.7).
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

    /// Something is due: sends the reports and the feedback whose time has come.
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

    package mutating func poll() -> BridgeOutput? {
        if let moment = flowsAreStaleSince {
            flowsAreStaleSince = nil
            refreshFlows(at: moment)
            return .audioChanged
        }
        return outputs.isEmpty ? nil : outputs.removeFirst()
    }

    /// Takes back the bytes of an output that has been carried out: the next one needs no memory of its own.
    package mutating func recycle(_ bytes: consuming [UInt8]) { draft.recycle(bytes) }

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

    /// The legs that are there.
    package var indices: [LegIndex] { legs.indices.filter { legs[$0].isPresent }.map(LegIndex.init) }

    // MARK: Private parts

    subscript(index: LegIndex) -> BridgeLeg {
        get { legs[index.place] }
        _modify { yield &legs[index.place] }
    }

    private func reportInterval(to index: LegIndex) -> Duration {
        self[index].hasVideo ? configuration.videoReportInterval : configuration.audioReportInterval
    }

    /// Queues a packet that a peer has missed.
    mutating func transmitAgain(_ packet: [UInt8], to index: LegIndex, over transport: TransportNumber) {
        outputs.append(.transmitMedia(packet, to: index, over: transport))
    }

    /// Queues the datagram in the making, if there is anything in it.
    mutating func transmitDraft(to index: LegIndex) {
        guard !draft.isEmpty else { return }
        outputs.append(.transmitControl(draft.finish(), to: index, over: draft.transport))
    }
}
