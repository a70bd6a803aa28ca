import ArgumentParser
import BenchValues
import CallControl
import Foundation
import MediaServer
import Primitives

struct TranscodeBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "transcode",
        abstract: "Calls between Opus and G.711, and mixes of Opus legs, next to bare libopus with the same audio.",
        discussion: """
            Calls: a media worker between real peers (ICE, DTLS, SRTP) over loopback; counted is the CPU of its thread, everything
            included, G.711, resampling and the network too. Every call has one Opus leg, so that all of it is laid on that leg.
            Allocations are those of its thread: reports, ratings and connectivity checks included, and then without the checks.
            Mixes: playout, decoder, mixer and encoder of so many legs on one thread, without network.
            """)

    @Option(help: "Calls at a time, at most 200.")
    var calls = 50

    @Option(help: "Seconds of media per round, at most 60.")
    var seconds = 5

    @Option(help: "Rounds, at most 10.")
    var rounds = 3

    @Option(parsing: .upToNextOption, help: "Legs of a mix: one line each.")
    var legs = [2, 3, 8, 32]

    @Flag(help: "Mixes in two channels as well, next to libopus in two.")
    var stereo = false

    func validate() throws {
        guard 1...200 ~= calls, 1...60 ~= seconds, 1...10 ~= rounds, legs.allSatisfy({ 2...32 ~= $0 }) else {
            throw ValidationError(
                "1 to 200 calls, 1 to 60 seconds, 1 to 10 rounds and mixes of 2 to 32 legs can be measured")
        }
    }

    func run() throws {
        let speech = SpeechSignal.samples(seconds: 5)
        let opus = LoadPeer.Voice(codec: .opus, payloads: try BareOpus.encode(speech))
        let pcmu = LoadPeer.Voice(codec: .pcmu, payloads: G711Payloads.encode(speech))
        var (bare, call) = (Figure(), Figure())
        for _ in 0..<rounds {
            bare.add(try BareOpus.nanosecondsPerFrame(speech))
            try measure(opus, pcmu, &call)
        }
        print("bare libopus, encode and decode: \(bare.microsecondsPerSecond.text("µs")) per leg-second")
        print(call.line("transcoded Opus and PCMU, whole call", bare))
        for count in legs {
            var (mix, beside) = (Figure(), Figure())
            for _ in 0..<rounds {
                beside.add(try BareOpus.nanosecondsPerFrame(speech))
                try measureMix(of: count, opus.payloads, channels: 1, &mix)
            }
            print(mix.line("mix of \(count), one leg", beside))
        }
        if stereo { try measureStereo(speech) }
    }

    /// The same speech on both sides, later on one than on the other.
    private func measureStereo(_ speech: [Int16]) throws {
        let pairs = speech.indices.flatMap { [speech[$0], speech[($0 + 960) % speech.count]] }
        let payloads = try BareOpus.encode(pairs, channels: 2)
        var bare = Figure()
        for _ in 0..<rounds { bare.add(try BareOpus.nanosecondsPerFrame(pairs, channels: 2)) }
        print("bare libopus in two channels: \(bare.microsecondsPerSecond.text("µs")) per leg-second")
        for count in legs {
            var (mix, beside) = (Figure(), Figure())
            for _ in 0..<rounds {
                beside.add(try BareOpus.nanosecondsPerFrame(pairs, channels: 2))
                try measureMix(of: count, payloads, channels: 2, &mix)
            }
            print(mix.line("mix of \(count) in two channels, one leg", beside))
        }
    }

    private func measure(_ opus: LoadPeer.Voice, _ pcmu: LoadPeer.Voice, _ figure: inout Figure) throws {
        let server = try BenchCall.server()
        defer { server.stop() }
        let peers = try LoadPeers()
        for number in 0..<calls {
            try BenchCall.connect(CallID(UInt64(number) + 1), of: peers, voices: (opus, pcmu), to: server)
        }
        guard let probe = ThreadProbe(named: "media-0") else { throw ValidationError("no media thread") }
        // The first second makes decoders and buffers; by the fourth, every leg has had its first reports.
        _ = try peers.stream(for: .seconds(4))
        let (cpu, allocations) = (probe.cpuNanoseconds, probe.allocations)
        let traffic = try peers.stream(for: .seconds(seconds))
        guard Double(traffic.received) > 0.9 * Double(traffic.sent) else {
            throw ValidationError("only \(traffic.received) packets came back for \(traffic.sent)")
        }
        figure.add(Double(probe.cpuNanoseconds - cpu) / Double(calls * seconds * 50))
        figure.add(allocations: probe.allocations - allocations, packets: traffic.received)
        let before = probe.allocations
        let unchecked = try peers.stream(for: Self.unchecked, isChecking: false)
        figure.add(uncheckedAllocations: probe.allocations - before, packets: unchecked.received)
    }

    /// With checks every 5 seconds before it, too short for a path to be taken for lost.
    private static let unchecked = Duration.milliseconds(1_500)

    private func measureMix(of count: Int, _ payloads: [[UInt8]], channels: Int, _ figure: inout Figure) throws {
        let mix = try MixLoop(legs: count, payloads: payloads, channels: channels)
        mix.run(cycles: 50)
        let thread = try ThreadProbe()
        let cycles = seconds * 50
        let (start, allocations) = (ThreadCPUClock.consumed, thread.allocations)
        mix.run(cycles: cycles)
        figure.add((ThreadCPUClock.consumed - start) / .nanoseconds(1) / Double(cycles * count))
        figure.add(allocations: thread.allocations - allocations, packets: cycles * count)
    }
}

/// What one leg costs, over all rounds.
private struct Figure {
    private var nanoseconds = Rounds()
    private var all = Allocations()
    /// While no check came.
    private var unchecked = Allocations()

    private struct Allocations {
        var count: UInt64 = 0
        var packets = 0
        var perPacket: Double { Double(count) / Double(packets) }
    }

    /// - Parameter nanosecondsPerFrame: CPU for 20 ms of one leg.
    mutating func add(_ nanosecondsPerFrame: Double) { nanoseconds.add(nanosecondsPerFrame) }

    mutating func add(allocations more: UInt64, packets count: Int) {
        all.count += more
        all.packets += count
    }

    mutating func add(uncheckedAllocations more: UInt64, packets count: Int) {
        unchecked.count += more
        unchecked.packets += count
    }

    /// CPU for a second of one leg.
    var microsecondsPerSecond: Rounds { nanoseconds.scaled(by: 50.0 / 1_000) }

    func line(_ name: String, _ bare: Figure) -> String {
        let cost = String(
            format: "%@: %.0f µs per leg-second, ratio %@, %.4f allocations per packet", name,
            microsecondsPerSecond.median, nanoseconds.ratios(to: bare.nanoseconds).text(digits: 2), all.perPacket)
        guard unchecked.packets > 0 else { return cost }
        return cost + String(format: ", %.4f without connectivity checks", unchecked.perPacket)
    }
}
