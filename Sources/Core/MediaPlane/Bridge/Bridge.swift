package import Primitives
package import RTP
package import SDP

/// Relays media between the two legs of a call, and ends RTCP on each of them.
///
/// To each peer the gateway is the sender (back-to-back RTP sessions, RFC 7667 §3.2.2): what goes out has the gateway's SSRC,
/// one continuous series of sequence numbers and timestamps per m-line, and the gateway's own reports, whatever source is behind it.
///
///     peer A ──RTP──▶ forward ──same bytes, other header──▶ peer B
///            ◀─NACK, PLI, FIR, REMB, translated── receiveControl ◀─RTCP─
///            ◀─SR, RR── timeout ──SR, RR──▶
///
/// `forward` is the hot path: it allocates nothing. After any other input, `poll` until it returns `nil`.
package struct Bridge: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// The mean time between reports on a leg without video: the minimum of RFC 3550 §6.2.
        package var audioReportInterval = Duration.seconds(5)
        /// The same on a leg with video, after the reduced minimum of 360 s divided by the bandwidth in kbit/s.
        package var videoReportInterval = Duration.seconds(1)
        /// A source is asked for a key frame at most this often.
        package var keyFrameInterval = Duration.milliseconds(200)
        /// A source that was replaced may come back when its replacement has been silent for so long.
        package var sourceSilence = Duration.milliseconds(200)
        /// How many SSRCs that its SDP does not announce a peer may have at a time.
        package var maximumLearnedSources = 16

        package init() {}
    }

    let configuration: Configuration
    let cname: String
    let wallClock: WallClock
    var legA: BridgeLeg
    var legB: BridgeLeg
    var isEnded = false
    private var outputs: [BridgeOutput] = []

    /// A bridge between two legs that are yet to be configured.
    ///
    /// - Parameter cname: What the gateway calls itself in RTCP, the same as in its `a=ssrc` lines; random per call (RFC 7022).
    package init(configuration: Configuration = Configuration(), cname: String, wallClock: WallClock, random: inout some RandomSource) {
        self.configuration = configuration
        self.cname = cname
        self.wallClock = wallClock
        legA = BridgeLeg(schedule: ReportSchedule(seed: random.next()))
        legB = BridgeLeg(schedule: ReportSchedule(seed: random.next()))
    }

    // MARK: Inputs

    /// Takes over what a leg has negotiated, for the first time or again; streams and sources that remain go on.
    package mutating func configure(
        _ side: BridgeSide, _ leg: NegotiatedLeg, random: inout some RandomSource, at now: MonotonicTime
    ) {
        self[side].configure(leg, maximumLearned: configuration.maximumLearnedSources, random: &random)
        refreshFlows(at: now)
    }

    /// The peer on this side can receive from now on; video that was under way starts again with a key frame.
    package mutating func peerReady(_ side: BridgeSide, at now: MonotonicTime) {
        guard !isEnded else { return }
        self[side].isReady = true
        self[side].schedule.start(interval: reportInterval(to: side), at: now)
        refreshFlows(at: now)
    }

    /// The call is over: says BYE to both peers and forwards nothing more (RFC 3550 §6.3.7).
    package mutating func end(at now: MonotonicTime) {
        guard !isEnded else { return }
        isEnded = true
        for side in BridgeSide.allCases {
            sendGoodbye(to: side)
            self[side].schedule.stop()
        }
        refreshFlows(at: now)
    }

    /// Something is due: sends the reports whose time has come.
    package mutating func timeout(at now: MonotonicTime) {
        for side in BridgeSide.allCases {
            guard let next = self[side].schedule.next, next <= now else { continue }
            sendReports(to: side, at: now)
            self[side].schedule.advance(interval: reportInterval(to: side), at: now)
        }
    }

    // MARK: Outputs

    package mutating func poll() -> BridgeOutput? { outputs.isEmpty ? nil : outputs.removeFirst() }

    package var nextDeadline: Deadline<BridgeDeadline>? {
        Deadline.earlier(
            legA.schedule.next.map { Deadline($0, .reports(to: .a)) },
            legB.schedule.next.map { Deadline($0, .reports(to: .b)) })
    }

    // MARK: Private parts

    subscript(side: BridgeSide) -> BridgeLeg {
        get { side == .a ? legA : legB }
        _modify {
            switch side {
            case .a: yield &legA
            case .b: yield &legB
            }
        }
    }

    private func reportInterval(to side: BridgeSide) -> Duration {
        self[side].hasVideo ? configuration.videoReportInterval : configuration.audioReportInterval
    }

    /// Queues a compound: reports first, as they must (RFC 3550 §6.1), then what else there is.
    mutating func transmit(_ packets: [RTCPPacket], to side: BridgeSide) {
        outputs.append(.transmitControl(RTCPCompound(packets).bytes, to: side))
    }

    /// Works out for every m-line what keeps its packets from flowing. What begins to flow begins anew: the pause leaves no gap
    /// in the outgoing numbers, and video needs a key frame.
    private mutating func refreshFlows(at now: MonotonicTime) {
        for side in BridgeSide.allCases {
            for index in self[side].lines.indices {
                let mid = self[side].lines[index].mid
                let counterpart = self[side.other].lines.firstIndex { $0.mid == mid }
                self[side].lines[index].counterpart = counterpart
                let before = self[side].lines[index].obstacle
                let obstacle = obstacle(from: side, line: index, to: counterpart)
                self[side].lines[index].obstacle = obstacle
                guard before != nil, obstacle == nil, let counterpart else { continue }
                self[side.other].lines[counterpart].primary.detach()
                self[side.other].lines[counterpart].retransmission?.detach()
                if self[side].lines[index].kind == .video { requestKeyFrame(from: side, line: index, as: .pictureLoss, at: now) }
            }
        }
    }

    private func obstacle(from side: BridgeSide, line: Int, to counterpart: Int?) -> DropReason? {
        if isEnded { return .ended }
        if !self[side].lines[line].direction.receives { return .directionForbids }
        guard let counterpart else { return .noCounterpart }
        if !self[side.other].lines[counterpart].direction.sends { return .directionForbids }
        return self[side.other].isReady ? nil : .peerNotReady
    }
}
