import BenchValues
import Foundation

/// What one round of so many calls at a time was.
struct LoadRound {
    var seconds: Int
    /// CPU of the server, in nanoseconds.
    var cpu: UInt64
    /// Of its threads of media.
    var mediaCPU: UInt64
    /// What its memory has grown by.
    var bytes: Int
    var traffic: LoadPeers.Traffic

    /// Of one core, that the media worker was busy.
    var mediaShare: Double { Double(mediaCPU) / 1e9 / Double(seconds) }
}

/// What so many calls at a time cost, over all rounds in which the peers kept up.
struct LoadFigures {
    let calls: Int
    /// Microseconds of CPU per second of one call.
    private(set) var cpuPerCall = Rounds()
    /// Microseconds of CPU per packet.
    private var cpuPerPacket = Rounds()
    /// Of one core, that the media worker was busy.
    private(set) var mediaShare = Rounds()
    /// Memory per call, in bytes. It does not depend on when packets were sent.
    private var bytes = Rounds()
    private var packetsPerSecond = Rounds()
    private var traffic = LoadPeers.Traffic()
    /// Why each round that is left out is.
    private var faults: [String] = []

    init(calls: Int) { self.calls = calls }

    mutating func add(_ round: LoadRound) {
        bytes.add(Double(round.bytes) / Double(calls))
        if let fault = round.traffic.generator.fault { return faults.append(fault) }
        let microseconds = Double(round.cpu) / 1_000
        cpuPerCall.add(microseconds / Double(calls * round.seconds))
        cpuPerPacket.add(microseconds / Double(round.traffic.sent))
        mediaShare.add(round.mediaShare)
        packetsPerSecond.add(Double(round.traffic.sent) / Double(round.seconds))
        traffic += round.traffic
    }

    static let heading =
        "calls | CPU per call-second | packet | worker | memory per call | delay p50, p99, max | packets/s, lost | peers"

    var line: String {
        let memory = String(format: "%.0f KB", bytes.median / 1_024)
        let count = String(format: "%5d", calls)
        guard !cpuPerCall.isEmpty else {
            return [count, "no cost: \(faults.last ?? "no round")", memory + " per call"].joined(separator: " | ")
        }
        let (delay, lost) = (traffic.delay, traffic.sent - traffic.received)
        let longest = String(format: "%.2f ms", Double(delay.maximum) / 1_000)
        let cells = [
            count, cpuPerCall.text("µs"), cpuPerPacket.text("µs", digits: 2),
            String(format: "%.0f %%", mediaShare.median * 100), memory,
            "\(delay.milliseconds(0.5)), \(delay.milliseconds(0.99)), \(longest)",
            String(format: "%.0f, %d", packetsPerSecond.median, lost), peers,
        ]
        return cells.joined(separator: " | ")
    }

    /// How well the peers kept up.
    private var peers: String {
        let lateness = traffic.generator.lateness
        let late =
            "p99 \(lateness.milliseconds(0.99)) ms late, "
            + String(format: "latest %.1f ms", Double(lateness.maximum) / 1_000)
        guard let fault = faults.last else { return late }
        return late + "; \(faults.count) rounds left out: \(fault)"
    }
}
