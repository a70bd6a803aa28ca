import ArgumentParser
import CallControl
import MediaServer
import PeerSupport
import Primitives
import SDP
import Sockets

/// Packets from one real peer to another over loopback, through a media worker.
struct RelayLoop {
    /// Of the worker's thread, per packet that came through.
    struct Figures {
        var nanoseconds: Double
        var allocations: Double
        /// Of the stretch of packets that had the fewest: those that a packet needs, while no timer ran.
        var leastAllocations: Double
    }

    let packets: Int
    /// Packets that are sent before the answers are awaited.
    let burst: Int
    /// Packets of which the allocations are counted by themselves, too.
    private var stretch: Int { max(1, 100 / burst) * burst }

    init(packets: Int, burst: Int) { (self.packets, self.burst) = (packets, burst) }

    /// - Parameter size: of a packet with its header, in bytes.
    func measure(size: Int, _ codec: Codec = .pcmu) throws -> Figures {
        let call = try BenchCall(id: CallID(1), codec)
        defer { call.server.stop() }
        guard let probe = ThreadProbe(named: "media-0") else { throw ValidationError("no media thread") }
        call.callee.isSpinning = true
        var sequence: UInt16 = 0
        let payloadType = codec.payloadType.rawValue
        let (caller, callee) = (call.caller, call.callee)
        try exchange(count: packets / 10, from: caller, to: callee, size: size, payloadType, sequence: &sequence)
        let (cpu, allocations) = (probe.cpuNanoseconds, probe.allocations)
        var (relayed, least) = (0, Double.infinity)
        for _ in 0..<max(1, packets / stretch) {
            let before = probe.allocations
            let arrived = try exchange(
                count: stretch, from: caller, to: callee, size: size, payloadType, sequence: &sequence)
            relayed += arrived
            if arrived > 0 { least = min(least, Double(probe.allocations - before) / Double(arrived)) }
        }
        guard relayed > 0 else { throw ValidationError("no packet has come through the worker") }
        return Figures(
            nanoseconds: Double(probe.cpuNanoseconds - cpu) / Double(relayed),
            allocations: Double(probe.allocations - allocations) / Double(relayed), leastAllocations: least)
    }

    /// Sends in bursts and awaits each; returns how many arrived.
    @discardableResult
    private func exchange(
        count: Int, from sender: LoopbackPeer, to receiver: LoopbackPeer, size: Int, _ payloadType: UInt8,
        sequence: inout UInt16
    ) throws -> Int {
        var arrived = 0
        for _ in 0..<(count / burst) {
            var packets: [[UInt8]] = []
            for _ in 0..<burst {
                packets.append(RTPSample.packet(sequence: sequence, size: size, payloadType: payloadType))
                sequence &+= 1
            }
            try sender.send(burst: packets)
            _ = try receiver.run(for: .milliseconds(100)) { $0.received.count >= burst }
            arrived += receiver.received.count
            receiver.clear()
        }
        return arrived
    }
}
