internal import Observability
internal import Sockets

/// The packet counts of one round of the loop. The shared counters are updated once per round instead of once per
/// packet.
struct PacketTally {
    private var packetsReceived: UInt64 = 0
    private var bytesReceived: UInt64 = 0
    private var packetsSent: UInt64 = 0
    private var bytesSent: UInt64 = 0
    var controlReceived: UInt64 = 0
    var controlSent: UInt64 = 0
    /// The drops of this round by reason. There is rarely more than one reason, which a linear search finds faster than
    /// a hash.
    private var drops: [(reason: PacketDropReason, count: UInt64)] = []

    mutating func received(bytes: Int) {
        packetsReceived += 1
        bytesReceived += UInt64(bytes)
    }

    mutating func sent(bytes: Int) {
        packetsSent += 1
        bytesSent += UInt64(bytes)
    }

    mutating func drop(_ reason: PacketDropReason) {
        for index in drops.indices where drops[index].reason == reason {
            drops[index].count += 1
            return
        }
        drops.append((reason, 1))
    }

    mutating func flush(into metrics: GatewayMetrics, _ transmissions: Transmissions) {
        Self.move(&packetsReceived, to: metrics.rtpPacketsReceived)
        Self.move(&bytesReceived, to: metrics.rtpBytesReceived)
        Self.move(&packetsSent, to: metrics.rtpPacketsSent)
        Self.move(&bytesSent, to: metrics.rtpBytesSent)
        Self.move(&controlReceived, to: metrics.rtcpPacketsReceived)
        Self.move(&controlSent, to: metrics.rtcpPacketsSent)
        let failures = transmissions.congested + transmissions.failed + transmissions.oversized
        if failures > 0 { metrics.mediaSendFailures.increment(by: UInt64(failures)) }
        guard !drops.isEmpty else { return }
        for (reason, count) in drops { metrics.packetsDropped[reason].increment(by: count) }
        drops.removeAll(keepingCapacity: true)
    }

    private static func move(_ count: inout UInt64, to counter: Counter) {
        guard count > 0 else { return }
        counter.increment(by: count)
        count = 0
    }
}
