import ArgumentParser
import BenchValues
import Foundation
import NIOCore

struct BotsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bots",
        abstract: "Bots on audio streams: legs per core next to bare libopus and speexdsp, and delays.",
        discussion: """
            The gateway is a process of its own with one event loop and one media worker. Legs: callers with Opus talk
            to bots, which hear and speak L16 at 16,000 samples per second, each on a WebSocket. Counted is the CPU of
            the media worker, and that of the whole process with sockets, SRTP and WebSockets. The baseline decodes,
            resamples both ways and encodes the same audio on one thread.

            Delays, of one call at a time, with G.711: from a bot's piece of 20 ms to the caller's packet, from a packet
            of the caller to the bot's message, and from the request play to the first packet of its tone. Up to 20 ms
            of each are the gateway's cycle.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "Legs of bots at a time, at most 500; 0: none.")
    var legs = 50

    @Option(help: "Seconds of audio per round, at most 60.")
    var seconds = 5

    @Option(help: "Rounds, at most 20; what is told is the median.")
    var rounds = 5

    @Option(help: "Delays of each kind, at most 10000; 0: none.")
    var delays = 200

    func validate() throws {
        guard 0...500 ~= legs, 1...60 ~= seconds, 1...20 ~= rounds, 0...10_000 ~= delays else {
            throw ValidationError("that many cannot be measured")
        }
    }

    func run() async throws {
        if legs > 0 { try await compareLegs() }
        if delays > 0 { try await measureDelays() }
    }

    // MARK: Legs

    private func compareLegs() async throws {
        let speech = SpeechSignal.samples(seconds: 5)
        let packets = try BareOpus.encode(speech)
        let said = Self.narrowed(speech)
        let pieces = stride(from: 0, through: said.count - BotSocket.frame, by: BotSocket.frame).map { first in
            BotSocket.piece(said[first..<(first + BotSocket.frame)])
        }
        let bots = try await BotCalls(gateway, calls: legs)
        defer { bots.stop() }
        let peers = try LoadPeers()
        let process = bots.gateway.process
        var sockets: [BotSocket] = []
        for _ in 0..<legs {
            let peer = peers.add(LoadPeer.Voice(codec: .opus, payloads: packets))
            let call = try await bots.answered(offer: PeerDescriptions.audio(peer, .opus, setup: "actpass"))
            peer.learn(call.media.credentials)
            try peers.connect([peer], to: call.media.address)
            sockets.append(try await BotSocket(bots, call.id))
        }
        for socket in sockets { socket.speak(pieces) }
        // The first seconds make decoders and buffers.
        _ = try peers.stream(for: .seconds(2))
        var (bare, worker, whole) = (BotFigures(), BotFigures(), BotFigures())
        for _ in 0..<rounds {
            bare.perFrame.add(try BareBot.nanosecondsPerFrame(packets, said))
            let (cpu, media) = (process.cpuNanoseconds(), process.cpuNanoseconds(ofThreads: "media-"))
            let heard = sockets.reduce(0) { $0 + $1.bytes }
            let traffic = try peers.stream(for: .seconds(seconds))
            let frames = Double(legs * seconds * 50)
            whole.perFrame.add(Double(process.cpuNanoseconds() - cpu) / frames)
            worker.perFrame.add(Double(process.cpuNanoseconds(ofThreads: "media-") - media) / frames)
            let bytes = sockets.reduce(0) { $0 + $1.bytes } - heard
            let (leastPackets, leastBytes) = (Int(0.9 * frames), Int(0.9 * frames) * 2 * BotSocket.frame)
            guard Int(traffic.received) > leastPackets, Int(bytes) > leastBytes else {
                throw ValidationError(
                    "of \(Int(frames)) packets the callers got \(traffic.received), and the bots \(bytes) bytes")
            }
        }
        for socket in sockets { await socket.close() }
        print(bare.line("bare libopus and speexdsp"))
        print(worker.line("\(legs) legs of bots, media worker", bare))
        print(whole.line("\(legs) legs of bots, whole process", bare))
    }

    /// A third of the samples.
    private static func narrowed(_ samples: [Int16]) -> [Int16] {
        stride(from: 0, through: samples.count - 3, by: 3).map { first in
            let sum = samples[first..<(first + 3)].reduce(0) { $0 + Int($1) }
            return Int16(sum / 3)
        }
    }

    // MARK: Delays

    private func measureDelays() async throws {
        let bots = try await BotCalls(gateway, calls: 10)
        defer { bots.stop() }
        var measured = BotDelays()
        try await measured.measure(bots, delays)
        report("from the bot's piece to the caller's packet", measured.toWire)
        report("from the caller's packet to the bot's message", measured.fromWire)
        report("from the request play to the caller's packet", measured.play)
    }

    private func report(_ name: String, _ delays: DelayHistogram) {
        print(
            "\(name): p50 \(delays.milliseconds(0.5)) ms, p95 \(delays.milliseconds(0.95)) ms, "
                + String(format: "most %.2f ms", Double(delays.maximum) / 1_000))
    }
}

/// What a leg costs, round by round.
private struct BotFigures {
    /// Nanoseconds of CPU for 20 ms in both directions.
    var perFrame = Rounds()

    func line(_ name: String, _ bare: BotFigures? = nil) -> String {
        let cost = perFrame.scaled(by: 50.0 / 1_000)
        let text = String(
            format: "%@: %.0f µs per leg-second (%.0f to %.0f), %.0f legs per core", name, cost.median, cost.least,
            cost.most, 1e6 / cost.median)
        guard let bare else { return text }
        return text + ", ratio \(perFrame.ratios(to: bare.perFrame).text(digits: 2))"
    }
}
