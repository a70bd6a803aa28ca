/// Puts packets into groups that were sent together, and says how much longer each group took than the one before
/// (draft-ietf-rmcat-gcc-02 §5.2).
///
/// A group is what was sent within 5 ms, and what arrived in one burst with it: a path that stood still for a moment hands
/// over all at once what has waited, which says nothing of its queues.
struct PacketGroups: Equatable, Sendable {
    /// How a group compares to the one before it; milliseconds.
    struct Variation: Equatable, Sendable {
        var delay: Double
        var sendInterval: Double
        /// When the group came.
        var arrival: Double
    }

    private struct Group: Equatable, Sendable {
        /// Microseconds modulo 2³².
        var firstSent: UInt32
        var lastSent: UInt32
        /// Ticks of 250 µs.
        var lastArrival: Int64
    }

    private static let length: Int32 = 5_000
    /// Of 250 µs: 5 ms.
    private static let burst: Int64 = 20

    private var current: Group?
    private var before: Group?

    /// A packet was sent, in microseconds modulo 2³², and arrived, in ticks of 250 µs. Packets come in the order they
    /// were sent in; what overtook others is passed over.
    ///
    /// - Returns: What is known of the group that ended before this packet.
    mutating func packetArrived(sentAt sent: UInt32, at arrival: Int64) -> Variation? {
        guard var group = current else {
            current = Group(firstSent: sent, lastSent: sent, lastArrival: arrival)
            return nil
        }
        guard Int32(bitPattern: sent &- group.firstSent) >= 0 else { return nil }
        let sendDelta = Double(Int32(bitPattern: sent &- group.lastSent)) / 1_000
        let arrivalDelta = Double(arrival - group.lastArrival) / 4
        let isBurst = arrivalDelta - sendDelta < 0 && arrival - group.lastArrival <= Self.burst
        if isBurst || Int32(bitPattern: sent &- group.firstSent) <= Self.length {
            group.lastSent = sent
            group.lastArrival = max(group.lastArrival, arrival)
            current = group
            return nil
        }
        let variation = before.map { before in
            let sendInterval = Double(Int32(bitPattern: group.lastSent &- before.lastSent)) / 1_000
            let arrivalInterval = Double(group.lastArrival - before.lastArrival) / 4
            return Variation(
                delay: arrivalInterval - sendInterval, sendInterval: sendInterval,
                arrival: Double(group.lastArrival) / 4)
        }
        before = group
        current = Group(firstSent: sent, lastSent: sent, lastArrival: arrival)
        return variation
    }
}
