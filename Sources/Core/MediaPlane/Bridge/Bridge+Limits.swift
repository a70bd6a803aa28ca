import Primitives
import RTP
import SDP

/// Limits of the bit rate for senders of video: the least that the path to any of their receivers can carry
/// (draft-alvestrand-rmcat-remb-03).
///
///     sender ──video──▶ gateway ──numbers──▶ receiver
///            ◀──REMB──         ◀──feedback── its packets: `BandwidthEstimate`
///                              ◀────REMB──── its own estimate, where it takes no numbers
///                              ◀─────RR───── what it lost, where packets have no numbers: `ReportedLoss`
extension Bridge {
    /// The limit in bit/s for a sender that had a limit before and has none now. It is more than any peer sends, and
    /// REMB can represent it.
    private static var unlimited: UInt64 { 1 << 30 }

    /// Takes a receiver's transport-wide feedback on the packets that it was sent.
    mutating func feedbackReceived(_ feedback: TransportFeedback, from side: LegIndex, at now: MonotonicTime) {
        guard self[side].lines.contains(where: { $0.numberID != 0 }) else {
            return self[side].controlDrops.count(.ignored)
        }
        let roundTrip = self[side].lines.compactMap(\.primary.roundTrip.latest).max()
        self[side].path.feedbackReceived(feedback, roundTrip: roundTrip, at: now)
        tellLimit(ofWayTo: side, at: now)
    }

    /// Updates the limits of all senders whose video goes to a leg, because the knowledge of the path to that leg has
    /// changed.
    mutating func tellLimit(ofWayTo side: LegIndex, at now: MonotonicTime) {
        for line in self[side].lines.indices where self[side].lines[line].kind == .video {
            guard case .relayed(let sender, let source) = self[side].lines[line].feed else { continue }
            tellLimit(to: sender, line: source, at: now)
        }
    }

    /// Updates the limits of a sender from time to time: a REMB may have been lost, and a receiver that has left limits
    /// it no more.
    mutating func tellLimits(to sender: LegIndex, at now: MonotonicTime) {
        for line in self[sender].lines.indices where self[sender].lines[line].kind == .video {
            tellLimit(to: sender, line: line, at: now)
        }
    }

    /// Takes a receiver's own estimate. It is passed on at once, if no other receiver has a lower limit.
    mutating func relay(_ estimate: EstimatedMaximumBitrate, from side: LegIndex, at now: MonotonicTime) {
        var sources: [SSRC] = []
        var feeding: Target?
        for ssrc in estimate.sources {
            guard let target = target(of: ssrc, from: side), let source = target.stream.source else { continue }
            // The first source selects the sender. An estimate is about one peer, and all feeds come from one peer.
            guard feeding == nil || feeding?.sender == target.sender else { continue }
            feeding = feeding ?? target
            sources.append(source)
        }
        guard let feeding, !sources.isEmpty else { return self[side].controlDrops.count(.noSource) }
        self[side].path.reportReceived(estimate.bitsPerSecond, at: now)
        guard self[feeding.sender].takesLimits else { return self[side].controlDrops.count(.notNegotiated) }
        let allowance = RateLimit.Configuration(
            burst: configuration.estimateBurst, interval: configuration.estimateInterval)
        guard self[side].estimateLimit.admit(allowance, at: now) else {
            return self[side].controlDrops.count(.rateLimited)
        }
        let least = limit(of: feeding.sender, line: feeding.senderLine, at: now) ?? estimate.bitsPerSecond
        send(least, about: sources, to: feeding.sender, line: feeding.senderLine, for: side, at: now)
    }

    /// Sends a sender the limit of its receivers: at once if it has fallen, otherwise from time to time while there is
    /// or was a limit.
    mutating func tellLimit(to sender: LegIndex, line: Int, at now: MonotonicTime) {
        let told = self[sender].lines[line].toldLimit
        guard let least = limit(of: sender, line: line, at: now) ?? told.map({ _ in Self.unlimited }),
            let source = self[sender].lines[line].activeSource, self[sender].takesLimits
        else { return }
        if let told {
            let hasFallen = Double(least) < configuration.estimateStep * Double(told.bitsPerSecond)
            let pause = hasFallen ? configuration.estimateInterval : configuration.estimateRepetition
            guard now - told.moment >= pause else { return }
        }
        send(least, about: [source], to: sender, line: line, at: now)
    }

    private mutating func send(
        _ bitsPerSecond: UInt64, about sources: [SSRC], to sender: LegIndex, line: Int, for asker: LegIndex? = nil,
        at now: MonotonicTime
    ) {
        let speaking = self[sender].lines.first { $0.feedback.contains(.estimatedMaximumBitrate) }
        guard let speaker = speaking?.primary.ssrc else { return }
        self[sender].lines[line].toldLimit = (bitsPerSecond, now)
        let told = EstimatedMaximumBitrate(sender: speaker, bitsPerSecond: bitsPerSecond, sources: sources)
        sendFeedback(.estimatedMaximumBitrate(told), as: speaker, to: sender, for: asker)
    }

    /// The lowest limit among the paths to all receivers of an m-line, in bit/s; `nil` if none has one.
    private func limit(of sender: LegIndex, line: Int, at now: MonotonicTime) -> UInt64? {
        self[sender].lines[line].receivers.compactMap { self[$0.leg].path.limit(at: now) }.min()
    }
}

extension BridgeLeg {
    /// Whether the peer obeys REMB.
    fileprivate var takesLimits: Bool { lines.contains { $0.feedback.contains(.estimatedMaximumBitrate) } }
}
