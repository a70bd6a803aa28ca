import BenchValues
import Foundation
import SRTP

/// One round of calls that stand.
struct StandingRound {
    var microsecondsPerCallSecond: Double
    var standing: Int
    /// Calls that were asked for, too, and that the server did not take for its load.
    var refused: Int
    /// Memory of the server without a call.
    var emptyBytes: Int
    /// With all calls.
    var bytes: Int
    var traffic: LoadPeers.Traffic
    /// What the peers have agreed on with the server.
    var profiles: Set<SRTPSession.Profile>
}

/// One round of calls that are set up and hung up.
struct SetUpRound {
    var microsecondsPerCall = 0.0
    /// From the request to the first packet of media that each side gets.
    var delays = DelayHistogram()
    /// Calls that never connected.
    var failed = 0
    /// What the peers have agreed on with the server.
    var profiles: Set<SRTPSession.Profile> = []
}

/// What was measured of all servers, as tables.
struct BesideFigures {
    private struct Standing {
        var cost = Rounds()
        /// Of the packets that were sent, in percent.
        var lost = Rounds()
        var refused = Rounds()
        var traffic = LoadPeers.Traffic()
        /// How many packets were lost in all rounds.
        var lostPackets = 0
        var empty: [Memory] = []
        var memory: [Memory] = []
        var faults: [String] = []
        /// The rounds in which the server was full.
        var fullRounds = 0
        /// Of every round, in its order; not a number where it is left out.
        var costs: [Double] = []
    }
    /// What a server took with so many calls, in bytes.
    private struct Memory {
        var calls: Int
        var bytes: Int
    }
    private struct SetUp {
        var cost = Rounds()
        var delays = DelayHistogram()
        var failed = 0
    }

    /// A server that loses more than this share of the packets is full. It does less than was asked of it, and what it
    /// takes for that is no cost.
    private static let mostLost = 0.01

    private let kinds: [ServerKind]
    private let calls: [Int]
    private var standing: [ServerKind: [Int: Standing]] = [:]
    private var setUp: [ServerKind: SetUp] = [:]
    private var profiles: [ServerKind: Set<SRTPSession.Profile>] = [:]

    /// - Parameter calls: in ascending order.
    init(kinds: [ServerKind], calls: [Int]) { (self.kinds, self.calls) = (kinds, calls) }

    mutating func add(_ round: StandingRound, of kind: ServerKind, calls count: Int) {
        profiles[kind, default: []].formUnion(round.profiles)
        var all = standing[kind]?[count] ?? Standing()
        all.empty.append(Memory(calls: 0, bytes: round.emptyBytes))
        all.memory.append(Memory(calls: round.standing, bytes: round.bytes))
        if let fault = round.traffic.generator.fault {
            all.faults.append(fault)
            all.costs.append(.nan)
        } else {
            all.traffic += round.traffic
            // Packets from before the round may arrive within it.
            let lostPackets = max(0, round.traffic.sent - round.traffic.received)
            let lost = Double(lostPackets) / Double(round.traffic.sent)
            all.lostPackets += lostPackets
            all.lost.add(100 * lost)
            all.refused.add(Double(round.refused))
            if lost > Self.mostLost {
                all.fullRounds += 1
                all.costs.append(.nan)
            } else {
                all.cost.add(round.microsecondsPerCallSecond)
                all.costs.append(round.microsecondsPerCallSecond)
            }
        }
        standing[kind, default: [:]][count] = all
    }

    mutating func add(_ round: SetUpRound, of kind: ServerKind) {
        profiles[kind, default: []].formUnion(round.profiles)
        var all = setUp[kind] ?? SetUp()
        all.cost.add(round.microsecondsPerCall)
        all.delays += round.delays
        all.failed += round.failed
        setUp[kind] = all
    }

    // MARK: Tables

    var lines: [String] {
        var lines = standingLines
        lines += [""]
        lines += memoryLines
        if !setUp.isEmpty {
            lines += [""]
            lines += setUpLines
        }
        lines += ["", cipherLine]
        return lines
    }

    /// The SRTP cipher of each server, since costs differ by it: all of its peers should have agreed on the same one.
    private var cipherLine: String {
        let ciphers = kinds.map { kind in
            let agreed = profiles[kind, default: []]
            return "\(kind.rawValue): \(agreed.count > 1 ? "mixed" : agreed.first?.name ?? "–")"
        }
        return "SRTP cipher: " + ciphers.joined(separator: "; ")
    }

    private var standingLines: [String] {
        var lines = [
            "| calls | server | CPU per call-second | Orbweaver's to it | delay p50, p99 | lost | refused |",
            "|---|---|---|---|---|---|---|",
        ]
        for count in calls {
            for kind in kinds {
                guard let all = standing[kind]?[count] else { continue }
                let start = "| \(count) | \(kind.rawValue) | "
                guard !all.cost.isEmpty || all.fullRounds > 0 else {
                    lines.append(start + "no cost: \(all.faults.last ?? "no round") | – | – | – | – |")
                    continue
                }
                let (traffic, delay) = (all.traffic, all.traffic.delay)
                let cells = [
                    cost(all), ratio(at: count, to: kind),
                    "\(delay.milliseconds(0.5)), \(delay.milliseconds(0.99)) ms",
                    "\(all.lost.text("%", digits: 2)), \(all.lostPackets) of \(traffic.sent)",
                    kind.refusesCalls ? all.refused.text() : "–",
                ]
                lines.append(start + cells.joined(separator: " | ") + " |")
            }
        }
        return lines
    }

    private func cost(_ all: Standing) -> String {
        [
            all.cost.isEmpty ? nil : all.cost.text("µs"), all.fullRounds > 0 ? "full in \(all.fullRounds)" : nil,
            all.faults.isEmpty ? nil : "\(all.faults.count) left out",
        ].compactMap(\.self).joined(separator: "; ")
    }

    /// Over the rounds in which both have a cost.
    private func ratio(at count: Int, to kind: ServerKind) -> String {
        guard kind != .orbweaver, let own = standing[.orbweaver]?[count], let other = standing[kind]?[count] else {
            return "–"
        }
        let ratios = zip(own.costs, other.costs).map { $0 / $1 }
        return Rounds(ratios.filter { !$0.isNaN }).text(digits: 2)
    }

    /// The slope between the fewest and the most calls, so that what a server takes at its first calls does not count;
    /// from the server without a call if there is only one number.
    private var memoryLines: [String] {
        guard let fewest = calls.first, let most = calls.last else { return [] }
        let from = fewest == most ? 0 : fewest
        let slopes = kinds.map { kind in
            let (few, many) = (standing[kind]?[fewest] ?? Standing(), standing[kind]?[most] ?? Standing())
            let pairs = zip(many.memory, from == 0 ? many.empty : few.memory)
            // A server may have refused so many that no more calls stand.
            guard pairs.allSatisfy({ $0.calls > $1.calls }) else { return Rounds() }
            return Rounds(pairs.map { Double($0.bytes - $1.bytes) / Double($0.calls - $1.calls) / 1_024 })
        }
        return ["| server | memory per call, from \(from) to \(most) calls | Orbweaver's to it |", "|---|---|---|"]
            + rows(slopes, "KB")
    }

    private var setUpLines: [String] {
        let all = kinds.map { setUp[$0] ?? SetUp() }
        let heads = [
            "| server | CPU per call set up and hung up | Orbweaver's to it "
                + "| from the request to media both ways p50, p99 | never connected |", "|---|---|---|---|---|",
        ]
        return heads
            + zip(rows(all.map(\.cost), "µs"), all).map { row, all in
                row + " \(all.delays.milliseconds(0.5)), \(all.delays.milliseconds(0.99)) ms | \(all.failed) |"
            }
    }

    /// The names of the servers, their figures, and the ratio of Orbweaver's.
    private func rows(_ figures: [Rounds], _ unit: String) -> [String] {
        let own = kinds.firstIndex(of: .orbweaver).map { figures[$0] }
        return zip(kinds, figures).map { kind, figure in
            let ratio = kind == .orbweaver ? nil : own?.ratios(to: figure).text(digits: 2)
            return "| \(kind.rawValue) | \(figure.text(unit)) | \(ratio ?? "–") |"
        }
    }
}
