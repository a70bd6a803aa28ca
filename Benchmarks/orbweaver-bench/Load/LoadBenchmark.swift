import ArgumentParser
import BenchValues
import Foundation
import Primitives

struct LoadBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "load",
        abstract: "Many anchored calls at a time: CPU and memory per call, and the delay that the gateway adds.",
        discussion: """
            The gateway is a process of its own with one media worker. Calls are set up through REST and WebSocket; each of their peers
            has done ICE and DTLS, checks every 5 seconds, and sends a packet of audio every 20 ms, with the time in it. Delays are those
            from a sender's protecting a packet to its receiver's having taken it from its socket, the way over loopback included.

            Costs are medians of the rounds, with the least and the largest. A round in which the peers themselves were late (the 99th
            percentile by more than 5 ms) or lost packets in their own socket has sent another load than it says: it is left out, and a line
            without any other round has no cost.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(parsing: .upToNextOption, help: "How many calls at a time: one line each, at most 4000.")
    var calls = [10, 100, 1_000]

    @Option(help: "Seconds of media per round, at most 60.")
    var seconds = 10

    @Option(help: "Rounds, at most 10; the numbers of calls take turns.")
    var rounds = 3

    @Option(help: "At last, as many calls as keep a core busy to this share; 0: leave that out.")
    var share = 0.7

    func validate() throws {
        guard !calls.isEmpty, calls.allSatisfy({ 1...4_000 ~= $0 }), 1...60 ~= seconds, 1...10 ~= rounds, 0...1 ~= share
        else {
            throw ValidationError(
                "1 to 4000 calls, 1 to 60 seconds, 1 to 10 rounds and a share of 0 to 1 can be measured")
        }
    }

    func run() async throws {
        var totals = calls.map(LoadFigures.init)
        for _ in 0..<rounds {
            for index in totals.indices {
                let round = try await measure(totals[index].calls)
                totals[index].add(round)
            }
        }
        print(LoadFigures.heading)
        for total in totals { print(total.line) }
        for (fewer, more) in zip(totals, totals.dropFirst()) where !fewer.cpuPerCall.isEmpty && !more.cpuPerCall.isEmpty
        {
            print(
                String(
                    format: "CPU per call: at %d calls %.2f of that at %d", more.calls,
                    more.cpuPerCall.median / fewer.cpuPerCall.median, fewer.calls))
        }
        guard share > 0 else { return }
        guard let fitting = try await callsAtShare(totals) else {
            print(String(format: "calls at %.0f %% of a core: not known, since the peers never kept up", share * 100))
            return
        }
        var full = LoadFigures(calls: fitting)
        for _ in 0..<rounds {
            let round = try await measure(fitting)
            full.add(round)
        }
        print(full.line)
    }

    /// How many calls keep the worker busy to `share`. The more it has to do the more it does at a time, so that the
    /// share does not grow with the calls: each guess lies on the line between the nearest measurements on both sides,
    /// and is measured for the next. `nil`: there is nothing to guess from.
    private func callsAtShare(_ totals: [LoadFigures]) async throws -> Int? {
        var known: [(calls: Double, share: Double)] = [(0, 0)]
        for total in totals where !total.mediaShare.isEmpty {
            known.append((Double(total.calls), total.mediaShare.median))
        }
        guard known.count > 1 else { return nil }
        var guess = 1
        for _ in 0..<4 {
            let below = known.filter { $0.share < share }.max { $0.calls < $1.calls } ?? (0, 0)
            let above = known.filter { $0.share >= share && $0.calls > below.calls }.min { $0.calls < $1.calls }
            let perCall =
                above.map { ($0.share - below.share) / ($0.calls - below.calls) } ?? below.share / max(1, below.calls)
            guess = max(1, min(4_000, Int(below.calls + (share - below.share) / perCall)))
            let measured = try await measure(guess)
            known.append((Double(guess), measured.mediaShare))
            if abs(measured.mediaShare - share) < 0.03 || measured.traffic.generator.fault != nil { break }
        }
        return guess
    }

    private func measure(_ calls: Int) async throws -> LoadRound {
        let gateway = try await GatewayUnderTest(
            gateway, settings: GatewayUnderTest.toldAtOnce + ["media.consent_timeout=300s"])
        defer { gateway.stop() }
        let peers = try LoadPeers()
        let caller = try await ScriptedCaller(gateway)
        let before = gateway.process.proportionalBytes
        for _ in 0..<calls { try await caller.connectCall(of: peers) }
        // The first second meets cold caches and new tables.
        _ = try peers.stream(for: .seconds(1))
        let (cpu, mediaCPU) = (gateway.process.cpuNanoseconds(), gateway.process.cpuNanoseconds(ofThreads: "media-"))
        let traffic = try peers.stream(for: .seconds(seconds))
        return LoadRound(
            seconds: seconds, cpu: gateway.process.cpuNanoseconds() - cpu,
            mediaCPU: gateway.process.cpuNanoseconds(ofThreads: "media-") - mediaCPU,
            bytes: gateway.process.proportionalBytes - before, traffic: traffic)
    }
}
