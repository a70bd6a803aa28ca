/// Groups packets that were sent together, and measures how much longer each group took than the one before
/// (draft-ietf-rmcat-gcc-02 §5.2).
///
/// A group is what was sent within 5 ms, plus what arrived with it in one burst. A path that stalls for a moment
/// delivers the packets that have waited all at once, which shows nothing about its queues.
struct PacketGroups: Equatable, Sendable {
    /// The difference of a group from the one before it, in milliseconds.
    struct Variation: Equatable, Sendable {
        var delay: Double
        var sendInterval: Double
        /// The time of arrival of the group.
        var arrival: Double
    }

    private struct Group: Equatable, Sendable {
        /// Microseconds, modulo 2³².
        var firstSent: UInt32
        var lastSent: UInt32
        /// Ticks of 250 µs.
        var lastArrival: Int64
    }

    private static let length: Int32 = 5_000
    /// Ticks of 250 µs: 5 ms.
    private static let burst: Int64 = 20

    private var current: Group?
    private var before: Group?

    /// Takes a packet that was sent at a time in microseconds, modulo 2³², and has arrived at a time in ticks of 250
    /// µs. Packets are taken in the order of their sending; a reordered one is ignored.
    ///
    /// - Returns: The variation of the group that ended before this packet; `nil` if none ended, or if it was the first
    ///   one.
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
