import ArgumentParser
import BenchValues
import Foundation

struct ChannelsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "channels",
        abstract: "Notification channels in large numbers: memory and CPU while idle, fan-out, round trips.",
        discussion: """
            The gateway is a process of its own with one event loop and its journal in a file. So is the baseline, a NIO server that keeps
            WebSockets open and sends each of them the text that it is given, which is as long as the gateway's notifications are. Counted is
            the CPU of the whole process.

            Fan-out to watchers: each channel is of a user who watches one presence, which changes. Fan-out to devices: users with many
            devices each get a message of 1 KB. Everything is durable before it is sent. Round trips: a WebSocket ping, and a message from its
            request to its notification.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "How many channels are open, 100 to 10000; of more than 1000 the fan-out is measured with 1000, too.")
    var count = 10_000

    @Option(help: "How many devices each user has in the fan-out to devices, at most 1000; both counts are multiples.")
    var devices = 1_000

    @Option(help: "Notifications to each channel per kind of fan-out; what is told is the median.")
    var notifications = 30

    @Option(help: "Round trips of each kind.")
    var roundTrips = 2_000

    @Option(help: "Seconds for which the channels are idle; each sends a ping in this time.")
    var idle = 30

    @Flag(help: "Channels over TLS: memory and CPU while idle, nothing else. With 20,000 open files, at most 9000.")
    var tls = false

    func validate() throws {
        guard 100...10_000 ~= count, 1...1_000 ~= devices, count % devices == 0, few % devices == 0,
            1...1_000 ~= notifications, 1...100_000 ~= roundTrips, 1...600 ~= idle
        else { throw ValidationError("that many cannot be measured") }
    }

    private var few: Int { min(count, 1_000) }

    func run() async throws {
        guard !tls else {
            let server = try await GatewayChannels(
                gateway, .watchers, count: count, devicesEach: devices, overTLS: true)
            try await measure("over TLS", server, count, notifications: 0).printIdle()
            return
        }
        for audience in [GatewayChannels.Audience.watchers, .devices] {
            let base = try await pair(audience, few)
            guard count > few else { continue }
            let many = try await pair(audience, count)
            print(
                String(
                    format: "%@, CPU per notification: %.2f at %d of that at 1000; beside the baseline's growth %.2f",
                    "\(audience)", many.gateway.perText.median / base.gateway.perText.median, count,
                    many.gateway.perText.median / base.gateway.perText.median
                        / (many.bare.perText.median / base.bare.perText.median)))
        }
    }

    private func pair(_ audience: GatewayChannels.Audience, _ count: Int) async throws -> (
        gateway: ChannelFigures, bare: ChannelFigures
    ) {
        let server = try await GatewayChannels(gateway, audience, count: count, devicesEach: devices)
        let own = try await measure("\(audience)", server, count, notifications: notifications)
        own.printIdle()
        own.printRoundTrips()
        let bare = try await measure(
            "bare server", BareChannelServer(sending: own.bytesPerText), count, notifications: notifications)
        bare.printIdle()
        bare.printRoundTrips()
        print(
            "\(audience), fan-out of \(own.bytesPerText) bytes to \(count): \(own.perText.text("µs", digits: 1)) each; "
                + "bare server \(bare.perText.text("µs", digits: 1)); "
                + "ratio \(own.perText.ratios(to: bare.perText).text(digits: 2))")
        return (own, bare)
    }

    /// Starts with a server without channels, and ends it.
    private func measure(_ name: String, _ server: some ChannelServer, _ count: Int, notifications: Int) async throws
        -> ChannelFigures
    {
        defer { server.stop() }
        let crowd = ChannelCrowd()
        let empty = server.process.proportionalBytes
        try await server.open(count, crowd)
        try await Task.sleep(for: .seconds(1))
        var figures = ChannelFigures(name: name, count: count)
        figures.bytesEach = Double(server.process.proportionalBytes - empty) / Double(count)
        var before = server.process.cpuNanoseconds()
        try await crowd.ping(over: .seconds(idle))
        figures.idleShare = Double(server.process.cpuNanoseconds() - before) / Double(idle) / 1e9
        if notifications > 0 {
            // The first one warms up.
            let told = crowd.texts
            try await server.fanOut(0)
            try await crowd.wait(forTexts: told + count)
            let (texts, bytes) = (crowd.texts, crowd.bytes)
            for number in 1...notifications {
                before = server.process.cpuNanoseconds()
                try await server.fanOut(number)
                try await crowd.wait(forTexts: texts + number * count)
                figures.perText.add(Double(server.process.cpuNanoseconds() - before) / Double(count) / 1_000)
            }
            figures.bytesPerText = (crowd.bytes - bytes) / (notifications * count)
            for _ in 0..<roundTrips { figures.pings.record(nanoseconds: try await crowd.roundTrip()) }
            if let gateway = server as? GatewayChannels {
                figures.messages = try await gateway.messageTimes(roundTrips)
            }
        }
        await crowd.close()
        return figures
    }
}

/// What was measured of one server.
private struct ChannelFigures {
    let name: String
    let count: Int
    /// Memory per idle channel, in bytes.
    var bytesEach = 0.0
    /// The share of a core that all of them take together while each sends a ping.
    var idleShare = 0.0
    /// CPU per text that was sent, in microseconds: of each notification.
    var perText = Rounds()
    var bytesPerText = 0
    var pings = DelayHistogram()
    /// From the request of a message to its notification.
    var messages: DelayHistogram?

    func printIdle() {
        print(
            String(
                format: "%@, %d idle channels: %.1f KB each, %.1f %% of a core", name, count, bytesEach / 1_024,
                idleShare * 100))
    }

    func printRoundTrips() {
        print("\(name), ping among \(count): p50 \(pings.percentile(0.5)) µs, p99 \(pings.percentile(0.99)) µs")
        guard let messages else { return }
        print(
            "\(name), message to notification among \(count): p50 \(messages.percentile(0.5)) µs, "
                + "p99 \(messages.percentile(0.99)) µs")
    }
}
