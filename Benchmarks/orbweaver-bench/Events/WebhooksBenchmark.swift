import ArgumentParser
import BenchValues
import Foundation
import NIOHTTP1

struct WebhooksBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhooks",
        abstract: "Events of calls to a webhook on loopback, next to a bare loop of libcurl with such requests.",
        discussion: """
            The receiver is nghttpd, a process of its own with HTTP/2 over TLS. The gateway is one as well, with its
            outbox in a file. While its webhook is disabled, calls make events; then it is enabled, and takes them out
            of the log as fast as the receiver answers. Counted is the CPU of the whole process meanwhile: log, outbox,
            signature and HTTP. The loop sends as many requests of the same length on one thread, with as many that have
            no answer yet.
            """)

    @Option(help: "The program of nghttpd (Debian: nghttp2-server).")
    var provider = "/usr/sbin/nghttpd"

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "Calls per round; each has several events.")
    var calls = 1_000

    @Option(help: "Rounds, at most 20; what is told is the median.")
    var rounds = 5

    @Option(help: "Requests that have no answer yet, at most 100.")
    var inFlight = 8

    func validate() throws {
        guard 1...100_000 ~= calls, 1...20 ~= rounds, 1...100 ~= inFlight else {
            throw ValidationError("that many cannot be measured")
        }
    }

    func run() async throws {
        let provider = try await LocalProvider(provider, inFlight: inFlight)
        defer { provider.stop() }
        let events = try await GatewayEvents(
            gateway,
            settings: [
                "webhooks.allowed_addresses=127.0.0.0/8", "webhooks.authority_file=\(provider.authority)",
                "webhooks.requests_in_flight=\(inFlight)", "webhooks.outbox=1000000",
            ])
        defer { events.stop() }
        let crowd = ChannelCrowd()
        try await events.follow(crowd)
        let webhook = try events.addWebhook(provider.url + Self.path)
        var (own, bare, loop) = (Rounds(), Rounds(), BarePushes?.none)
        for round in 0...rounds {
            let sent = try await deliver(events, webhook, crowd)
            let baseline = try loop ?? Self.loop(provider, length: sent.length, inFlight: inFlight)
            loop = baseline
            let ofLoop = Double(try baseline.nanoseconds(of: sent.count)) / Double(sent.count)
            // The first round connects and warms up.
            guard round > 0 else { continue }
            own.add(sent.nanoseconds / Double(sent.count))
            bare.add(ofLoop)
        }
        await crowd.close()
        print(
            String(
                format: "webhook of %d bytes, %d in flight: %.1f µs of CPU (%.1f to %.1f); ", loop?.contentSize ?? 0,
                inFlight, own.median / 1_000, own.least / 1_000, own.most / 1_000)
                + String(format: "bare libcurl: %.1f µs; ratio ", bare.median / 1_000)
                + own.ratios(to: bare).text(digits: 2))
        print(
            String(
                format: "webhooks per second and core: %.0f; bare libcurl %.0f", 1e9 / own.median, 1e9 / bare.median))
    }

    /// What the provider answers with 200.
    private static let path = "/3/device/\(LocalProvider.token)"

    /// What was delivered, and what that took.
    private struct Delivered {
        var count: Int
        /// Of an event, in bytes.
        var length: Int
        /// CPU of the gateway.
        var nanoseconds: Double
    }

    /// Lets calls make events, and then has them delivered.
    ///
    /// - Throws: `ValidationError` if an event is not taken.
    private func deliver(
        _ events: GatewayEvents, _ webhook: String, _ crowd: ChannelCrowd
    ) async throws -> Delivered {
        let process = events.process
        try events.setWebhook(webhook, isEnabled: false)
        let (texts, bytes) = (crowd.texts, crowd.bytes)
        for number in 0..<calls { try await events.fanOut(number) }
        try await settle(process)
        let count = crowd.texts - texts
        guard count > 0 else { throw ValidationError("\(calls) calls have had no events") }
        let before = try await taken(events)
        let cpu = process.cpuNanoseconds()
        try events.setWebhook(webhook, isEnabled: true)
        // A worker whose webhook was disabled looks again within a second.
        try await Task.sleep(for: .milliseconds(1_500))
        try await settle(process)
        let cost = process.cpuNanoseconds() - cpu
        let delivered = try await taken(events) - before
        guard delivered == count else { throw ValidationError("of \(count) events \(delivered) were taken") }
        return Delivered(count: count, length: (crowd.bytes - bytes) / count, nanoseconds: Double(cost))
    }

    /// Waits until the process has next to nothing to do.
    ///
    /// - Throws: `ValidationError` after two minutes.
    private func settle(_ process: ChildProcess) async throws {
        let interval = Duration.milliseconds(250)
        for _ in 0..<480 {
            let before = process.cpuNanoseconds()
            try await Task.sleep(for: interval)
            if process.cpuNanoseconds() - before < interval.nanoseconds / 25 { return }
        }
        throw ValidationError("the gateway is busy for two minutes")
    }

    /// The events that the receiver has taken.
    private func taken(_ events: GatewayEvents) async throws -> Int {
        let client = try await HTTPClient(port: events.gateway.port)
        let count = try await client.metric(#"orbweaver_webhook_attempts_total{result="delivered"}"#)
        await client.close()
        return count
    }

    /// Requests as the gateway makes them, unsigned.
    private static func loop(_ provider: LocalProvider, length: Int, inFlight: Int) throws -> BarePushes {
        let signature = "v1," + Data(repeating: 0, count: 32).base64EncodedString()
        return try BarePushes(
            to: provider, path: path,
            [
                ("content-type", "application/json"), ("user-agent", "orbweaver"),
                ("webhook-id", "evt_0123456789ab-1700000000000000"), ("webhook-timestamp", "1764130000"),
                ("webhook-signature", signature),
            ], [UInt8](repeating: UInt8(ascii: "x"), count: length), inFlight: inFlight)
    }
}
