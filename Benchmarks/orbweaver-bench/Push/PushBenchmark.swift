import ArgumentParser
import BenchValues
import Foundation

struct PushBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "push",
        abstract: "Pushes of calls to a provider on loopback, next to a bare loop of libcurl with the same requests.",
        discussion: """
            The provider is nghttpd, a process of its own with HTTP/2 over TLS. Both clients have one connection to it, and as many
            requests without an answer. Counted is the CPU of the push client's two threads, and that of the loop's thread.
            """)

    @Option(help: "The program of nghttpd (Debian: nghttp2-server).")
    var provider = "/usr/sbin/nghttpd"

    @Option(help: "Pushes per round.")
    var count = 5_000

    @Option(help: "Rounds; the two take turns.")
    var rounds = 5

    @Option(help: "Requests that have no answer yet, at most 1,000.")
    var inFlight = 100

    @Option(help: "Pushes that are handed over at once for the figures about memory, and the most that may wait.")
    var queued = 10_000

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "Calls to a device that is asleep, for the time until a push leaves the gateway; 0: none.")
    var calls = 200

    func validate() throws {
        guard 0...100_000 ~= calls, 1...1_000_000 ~= count, 1...100 ~= rounds, 1...1_000 ~= inFlight,
            1...1_000_000 ~= queued
        else {
            throw ValidationError("that many cannot be measured")
        }
    }

    func run() async throws {
        let provider = try await LocalProvider(provider, inFlight: inFlight)
        defer { provider.stop() }
        let sample = try PushSample()
        let bare = try BarePushes(provider, sample, inFlight: inFlight)
        try await compare(provider, sample, bare)
        try await fill(provider, sample)
        if calls > 0 {
            try await wake()
            try await ask()
            try await askWhileSending()
        }
    }

    /// What requests take while pushes are sent as fast as calls make them and the provider takes them. A gateway
    /// without any push takes turns with it.
    private func askWhileSending() async throws {
        let (devices, turns) = (1_000, 20)
        let provider = try await LocalProvider(
            provider, inFlight: inFlight, tokens: WakingCalls.tokens(devices))
        defer { provider.stop() }
        let sending = try await WakingCalls(gateway, devices: devices, at: provider)
        defer { sending.stop() }
        let quiet = try await WakingCalls(gateway, devices: devices, at: provider)
        defer { quiet.stop() }
        var (idle, loaded, pushes, elapsed) = ([Double](), [Double](), 0, Duration.zero)
        for turn in 0...turns {
            let times = try await quiet.requestTimes(500)
            let before = try await sending.deliveredPushes()
            let load = Task { [calls = try sending.load] in try await calls.run() }
            let start = ContinuousClock.now
            let loadedTimes = try await sending.requestTimes(500)
            let taken = ContinuousClock.now - start
            let after = try await sending.deliveredPushes()
            load.cancel()
            try await load.value
            // The first turn warms up.
            guard turn > 0 else { continue }
            idle += times
            loaded += loadedTimes
            pushes += after - before
            elapsed += taken
        }
        let rate = Double(pushes) / (elapsed / .seconds(1))
        report("idle", idle)
        report(String(format: "while %.0f pushes a second are sent", rate), loaded)
    }

    private func report(_ name: String, _ times: [Double]) {
        let times = times.sorted()
        print(
            String(
                format: "REST request %@: p50 %.2f ms, p99 %.2f ms", name, times[times.count / 2],
                times[times.count * 99 / 100]))
    }

    /// What requests take while pushes wait: ten calls to a thousand devices, and a provider that does not answer. A
    /// gateway without any push takes turns with it.
    private func ask() async throws {
        let (calls, devices, turns) = (10, 1_000, 20)
        let waiting = try await WakingCalls(gateway, devices: devices, answers: false)
        defer { waiting.stop() }
        let quiet = try await WakingCalls(gateway, devices: devices, answers: false)
        defer { quiet.stop() }
        try await waiting.leaveWaiting(calls * devices, by: calls)
        var (idle, loaded) = ([Double](), [Double]())
        for turn in 0...turns {
            let times = (try await quiet.requestTimes(500), try await waiting.requestTimes(500))
            // The first turn warms up.
            guard turn > 0 else { continue }
            idle += times.0
            loaded += times.1
        }
        let pushes = try await waiting.waitingPushes()
        guard pushes == calls * devices else { throw ValidationError("in the end \(pushes) pushes waited") }
        report("idle", idle)
        report("while \(pushes) pushes wait", loaded)
    }

    /// How soon the push of a call is there.
    private func wake() async throws {
        let waking = try await WakingCalls(gateway)
        defer { waking.stop() }
        let delays = try await waking.delays(calls)
        let at = { (share: Double) in delays[min(delays.count - 1, Int(Double(delays.count) * share))] }
        print(
            String(
                format:
                    "from callStart's answer to its push at the provider: p50 %.2f ms, p95 %.2f ms, most %.2f ms",
                at(0.5), at(0.95), at(1)))
    }

    private func compare(_ provider: LocalProvider, _ sample: PushSample, _ bare: BarePushes) async throws {
        let client = try PushesUnderTest(provider.configuration(inFlight: inFlight, capacity: count), sample)
        defer { client.stop() }
        var (cost, baseline, elapsed) = (Rounds(), Rounds(), Duration.zero)
        for round in 0...rounds {
            let figures = try await client.send(count)
            guard figures.overloaded == 0 else { throw ValidationError("\(figures.overloaded) pushes found no room") }
            let ofLoop = try bare.nanoseconds(of: count)
            // The first round connects and warms up.
            guard round > 0 else { continue }
            cost.add(Double(figures.nanoseconds) / Double(count))
            baseline.add(Double(ofLoop) / Double(count))
            elapsed += figures.elapsed
        }
        print(
            "push of \(bare.contentSize) bytes, \(inFlight) in flight: "
                + "\(cost.scaled(by: 0.001).text("µs", digits: 1)) of CPU; bare libcurl: "
                + "\(baseline.scaled(by: 0.001).text("µs", digits: 1)); "
                + "ratio \(cost.ratios(to: baseline).text(digits: 2))")
        print(
            String(
                format: "pushes per second: %.0f per core; %.0f by the clock, with the provider on the same machine",
                1e9 / cost.median, Double(count * rounds) / (elapsed / .seconds(1))))
    }

    /// As many pushes at once as may wait, again and again, and then twice as many.
    private func fill(_ provider: LocalProvider, _ sample: PushSample) async throws {
        let client = try PushesUnderTest(provider.configuration(inFlight: inFlight, capacity: queued), sample)
        defer { client.stop() }
        // The connection and what each request in flight needs are there before anything is counted.
        _ = try await client.send(min(queued, 2 * inFlight))
        report(try await client.send(queued), of: queued, "first round")
        for _ in 1..<rounds { _ = try await client.send(queued) }
        report(try await client.send(queued), of: queued, "last round")
        report(try await client.send(2 * queued), of: 2 * queued, "more than may wait")
    }

    private func report(_ figures: PushesUnderTest.Figures, of count: Int, _ name: String) {
        let (before, most, after) = figures.memory
        print(
            String(
                format: "%d pushes at once, %@: %d given up; %.1f MB before, %.1f MB at most, %.1f MB after; %.2f s",
                count, name, figures.overloaded, Double(before) / 1e6, Double(most) / 1e6, Double(after) / 1e6,
                figures.elapsed / .seconds(1)))
    }
}
