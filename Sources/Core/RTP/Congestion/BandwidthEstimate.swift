package import Primitives

/// The bit rate that the path to a receiver carries, estimated from its transport-wide feedback: the controller of
/// draft-ietf-rmcat-gcc-02, bounded by delay (§5) and by loss (§6).
///
///     no bound ──a queue grows, or a tenth is lost──▶ 0.85 of what arrives ──8 % more every second──▶ …
///        ▲                                                                        │
///        └──────────────── 20 seconds without a sign of congestion ◀──────────────┘
///
/// There is no bound until the path has shown congestion: the gateway neither probes nor limits senders without a
/// reason. Senders probe by what they send.
///
/// Deviation: the bound always grows by a fraction of itself; in §5.5 it grows by one packet per round trip near the
/// last bound.
package struct BandwidthEstimate: Equatable, Sendable {
    /// The gains and limits of the controller.
    package struct Configuration: Equatable, Sendable {
        /// The least bound, in bits per second.
        package var minimum = 50_000.0
        /// The bound as a fraction of the arriving bit rate when a queue grows (β of §5.5).
        package var decrease = 0.85
        /// The factor by which the bound grows per second (η of §5.5).
        package var increase = 1.08
        /// The greatest bound as a multiple of the arriving bit rate, because more has not been tried (§5.5).
        package var reach = 1.5
        /// The bound is dropped when the path has shown no congestion for this long.
        package var patience = Duration.seconds(20)
        /// The bound falls at most once in this time, or once per round trip if that is longer, because a reduction
        /// takes that long to show.
        package var reaction = Duration.milliseconds(200)

        /// Makes the default configuration.
        package init() {}
    }

    private let configuration: Configuration
    private var sent = SentPackets()
    private var groups = PacketGroups()
    private var trend = DelayTrend()
    private var arrivals = ArrivalRate()
    private var delayBound: Double?
    private var loss: LossBound
    private var lastDecrease = MonotonicTime.zero
    private var lastFeedback: MonotonicTime?
    private var lastCongestion = MonotonicTime.zero
    /// The reference time of the last feedback, unwrapped, in units of 64 ms.
    private var reference: Int64?

    /// Starts without a bound.
    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        loss = LossBound(.init(reach: configuration.reach))
    }

    /// The bound in bits per second, headers included; `nil` while the path has shown no congestion.
    package var bitsPerSecond: UInt64? {
        guard let least = [delayBound, loss.bitsPerSecond].compactMap(\.self).min() else { return nil }
        return UInt64(max(configuration.minimum, least))
    }

    /// Records that a packet of `octets` bytes is sent, and returns its transport-wide sequence number.
    package mutating func packetSent(octets: Int, at now: MonotonicTime) -> SequenceNumber {
        sent.packetSent(octets: octets, at: now)
    }

    /// Takes feedback of the receiver about packets.
    ///
    /// - Parameter roundTrip: The round-trip time to the receiver; `nil` if it is not known.
    package mutating func feedbackReceived(_ feedback: TransportFeedback, roundTrip: Duration?, at now: MonotonicTime) {
        var arrival = unwrapped(feedback.reference) * TransportFeedback.ticksPerReference
        var number = feedback.base
        var isOverused = false
        for delta in feedback.deltas {
            defer { number = number + 1 }
            guard let delta else {
                if sent.packetLost(number) { loss.packetsCounted(lost: 1, arrived: 0) }
                continue
            }
            arrival += Int64(delta)
            guard let packet = sent.packetArrived(number) else { continue }
            loss.packetsCounted(lost: 0, arrived: 1)
            arrivals.received(octets: packet.octets, at: arrival)
            guard let group = groups.packetArrived(sentAt: packet.sentAt, at: arrival) else { continue }
            trend.groupReceived(variation: group.delay, sendInterval: group.sendInterval, arrival: group.arrival)
            if trend.signal == .overuse { isOverused = true }
        }
        adapt(toDelay: isOverused ? .overuse : trend.signal, roundTrip: roundTrip, at: now)
        adaptToLoss(at: now)
        if now - lastCongestion >= configuration.patience {
            delayBound = nil
            loss.forget()
        }
        lastFeedback = now
    }

    // MARK: Delay (§5.5)

    private mutating func adapt(toDelay signal: DelayTrend.Signal, roundTrip: Duration?, at now: MonotonicTime) {
        guard let rate = arrivals.bitsPerSecond else { return }
        switch signal {
        // The queue drains, and the bound is kept until it is empty.
        case .underuse: break
        case .overuse:
            lastCongestion = now
            let reaction = max(configuration.reaction, roundTrip ?? .zero)
            guard delayBound == nil || now - lastDecrease >= reaction else { return }
            lastDecrease = now
            delayBound = min(delayBound ?? .infinity, configuration.decrease * rate)
        case .normal:
            let (factor, reach) = (growth(at: now), configuration.reach * rate)
            delayBound = delayBound.map { LossBound.grown($0, by: factor, to: reach) }
        }
    }

    /// The growth since the last feedback, for at most one second.
    private func growth(at now: MonotonicTime) -> Double {
        let elapsed = lastFeedback.map { min(1, (now - $0).inSeconds) } ?? 0
        // 1.08ˣ, approximated by its first term: within 0.3 % for less than a second.
        return 1 + (configuration.increase - 1) * elapsed
    }

    // MARK: Loss (§6)

    private mutating func adaptToLoss(at now: MonotonicTime) {
        guard let share = loss.nextShare(at: now), let rate = arrivals.bitsPerSecond else { return }
        if loss.adapt(to: share, arriving: rate) { lastCongestion = now }
    }

    /// Unwraps 24 bits of the receiver's clock.
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
