package import Primitives

/// What the way to a receiver carries, out of its transport-wide feedback: the controller of draft-ietf-rmcat-gcc-02,
/// bounded by delay (§5) and by loss (§6).
///
///     no bound ──a queue grows, or a tenth is lost──▶ 0.85 of what arrives ──8 % more every second──▶ …
///        ▲                                                                        │
///        └──────────────── 20 seconds without a sign of congestion ◀──────────────┘
///
/// Until the way has shown what it does not carry, there is no bound: the gateway does not probe, and holds nobody back.
/// Senders probe, by what they send.
///
/// Deviation: the bound grows by a share of itself all the time; §5.5 has it grow by a packet per round trip near the
/// last one.
package struct BandwidthEstimate: Equatable, Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Bits per second; no bound is lower.
        package var minimum = 50_000.0
        /// Of what arrives, once a queue grows (β of §5.5).
        package var decrease = 0.85
        /// Per second (η of §5.5).
        package var increase = 1.08
        /// Of what arrives: more was not tried out (§5.5).
        package var reach = 1.5
        /// A way that has shown no congestion for so long has no bound that is known.
        package var patience = Duration.seconds(20)
        /// The bound falls at most once in this time, or a round trip if that is longer: what was told takes so long
        /// to show.
        package var reaction = Duration.milliseconds(200)
        /// Loss is judged this often, of so many packets at least.
        package var lossInterval = Duration.seconds(1)
        package var lossPackets = 20
        /// A share of the packets; below it the bound by loss grows, above it falls (§6).
        package var lossBounds = 0.02...0.10
        /// By how much it grows each time (§6).
        package var lossIncrease = 1.05

        package init() {}
    }

    private let configuration: Configuration
    private var sent = SentPackets()
    private var groups = PacketGroups()
    private var trend = DelayTrend()
    private var arrivals = ArrivalRate()
    private var delayBound: Double?
    private var lossBound: Double?
    private var lastDecrease = MonotonicTime.zero
    private var lastFeedback: MonotonicTime?
    private var lastCongestion = MonotonicTime.zero
    private var lossStart: MonotonicTime?
    private var lostCount = 0
    private var arrivedCount = 0
    /// The reference time of the last feedback, unwrapped, in its own units.
    private var reference: Int64?

    /// Nothing is known of the way yet: there is no bound.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// In bits per second, headers included; `nil` while nothing is known that would be too much.
    package var bitsPerSecond: UInt64? {
        guard let least = [delayBound, lossBound].compactMap(\.self).min() else { return nil }
        return UInt64(max(configuration.minimum, least))
    }

    /// Gives the next packet its transport-wide number.
    package mutating func packetSent(octets: Int, at now: MonotonicTime) -> SequenceNumber {
        sent.packetSent(octets: octets, at: now)
    }

    /// The receiver says what came of packets.
    ///
    /// - Parameter roundTrip: To the receiver and back; `nil` if it is not known.
    package mutating func feedbackReceived(_ feedback: TransportFeedback, roundTrip: Duration?, at now: MonotonicTime) {
        var arrival = unwrapped(feedback.reference) * TransportFeedback.ticksPerReference
        var number = feedback.base
        var isOverused = false
        for delta in feedback.deltas {
            defer { number = number + 1 }
            guard let delta else {
                if sent.packetLost(number) { lostCount += 1 }
                continue
            }
            arrival += Int64(delta)
            guard let packet = sent.packetArrived(number) else { continue }
            arrivedCount += 1
            arrivals.received(octets: packet.octets, at: arrival)
            guard let group = groups.packetArrived(sentAt: packet.sentAt, at: arrival) else { continue }
            trend.groupReceived(variation: group.delay, sendInterval: group.sendInterval, arrival: group.arrival)
            if trend.signal == .overuse { isOverused = true }
        }
        adapt(toDelay: isOverused ? .overuse : trend.signal, roundTrip: roundTrip, at: now)
        adaptToLoss(at: now)
        if now - lastCongestion >= configuration.patience { (delayBound, lossBound) = (nil, nil) }
        lastFeedback = now
    }

    // MARK: Delay (§5.5)

    private mutating func adapt(toDelay signal: DelayTrend.Signal, roundTrip: Duration?, at now: MonotonicTime) {
        guard let rate = arrivals.bitsPerSecond else { return }
        switch signal {
        // The queue empties: what is sent stays as it is until then.
        case .underuse: break
        case .overuse:
            lastCongestion = now
            let reaction = max(configuration.reaction, roundTrip ?? .zero)
            guard delayBound == nil || now - lastDecrease >= reaction else { return }
            lastDecrease = now
            delayBound = min(delayBound ?? .infinity, configuration.decrease * rate)
        case .normal: delayBound = delayBound.map { grown($0, by: growth(at: now), arriving: rate) }
        }
    }

    /// For the time since the last feedback, at most a second.
    private func growth(at now: MonotonicTime) -> Double {
        let elapsed = lastFeedback.map { min(1, (now - $0).inSeconds) } ?? 0
        // 1.08ˣ, to the first term: within 0.3 % of it for what is less than a second.
        return 1 + (configuration.increase - 1) * elapsed
    }

    /// A bound that is beyond reach already stays where it is.
    private func grown(_ bound: Double, by factor: Double, arriving rate: Double) -> Double {
        max(bound, min(bound * factor, configuration.reach * rate))
    }

    // MARK: Loss (§6)

    private mutating func adaptToLoss(at now: MonotonicTime) {
        let start = lossStart ?? now
        lossStart = start
        let count = lostCount + arrivedCount
        guard now - start >= configuration.lossInterval, count >= configuration.lossPackets else { return }
        let share = Double(lostCount) / Double(count)
        (lossStart, lostCount, arrivedCount) = (now, 0, 0)
        guard let rate = arrivals.bitsPerSecond else { return }
        if share > configuration.lossBounds.upperBound {
            lastCongestion = now
            // What was sent is what arrives and what was lost of it.
            lossBound = min(lossBound ?? .infinity, rate / (1 - min(share, 0.9))) * (1 - 0.5 * share)
        } else if share < configuration.lossBounds.lowerBound {
            lossBound = lossBound.map { grown($0, by: configuration.lossIncrease, arriving: rate) }
        }
    }

    /// 24 bits of the receiver's clock, continued from what it said before.
    private mutating func unwrapped(_ value: Int32) -> Int64 {
        guard let last = reference else {
            reference = Int64(value)
            return Int64(value)
        }
        let step = (Int32(truncatingIfNeeded: Int64(value) - last) << 8) >> 8
        let now = last + Int64(step)
        reference = now
        return now
    }
}
