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
            devices each get a message of 1 KB, and after that a call with a browser's offer, which rings at all devices; its end is not
            counted. Everything is durable before it is sent. Round trips: a WebSocket ping, and a message from its request to its
            notification.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "How many channels are open, 100 to 10000; of more than 1000 the fan-out is measured with 1000, too.")
    var count = 10_000

    @Option(help: "How many devices each user has in the fan-out to devices, at most 1000; both counts are multiples.")
    var devices = 1_000

    @Option(help: "The offer of the calls to devices.")
    var offer = "fixtures/sdp/chromium-156/offer-audio-video.sdp"

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
        let sdp = try String(contentsOfFile: offer, encoding: .utf8)
        guard !tls else {
            let server = try await GatewayChannels(
                gateway, .watchers, count: count, devicesEach: devices, offer: sdp, overTLS: true)
            try await measure("over TLS", server, count, []).printIdle()
            return
        }
        for audience in [GatewayChannels.Audience.watchers, .devices] {
            let base = try await pair(audience, sdp, few)
            guard count > few else { continue }
            let many = try await pair(audience, sdp, count)
            for text in texts(to: audience) {
                guard let (more, moreBare) = many[text], let (own, bare) = base[text] else { continue }
                let growth = more.perText.median / own.perText.median
                let bareGrowth = moreBare.perText.median / bare.perText.median
                print(
                    String(
                        format: "%@, CPU per notification: %.2f at %d of that at %d; beside the baseline's growth %.2f",
                        "\(audience)\(text.suffix)", growth, count, few, growth / bareGrowth))
            }
        }
    }

    /// What is sent to channels of such users, in this order.
    private func texts(to audience: GatewayChannels.Audience) -> [ChannelText] {
        switch audience {
        case .watchers: [.notice]
        case .devices: [.notice, .call]
        }
    }

    /// The gateway's fan-out, and that of the bare server.
    private func pair(
        _ audience: GatewayChannels.Audience, _ sdp: String, _ count: Int
    ) async throws -> [ChannelText: (FanOutFigures, FanOutFigures)] {
        let texts = self.texts(to: audience)
        let server = try await GatewayChannels(gateway, audience, count: count, devicesEach: devices, offer: sdp)
        let own = try await measure("\(audience)", server, count, texts)
        own.printIdle()
        own.printRoundTrips()
        let bare = try await measure(
            "bare server",
            BareChannelServer(
                sending: own.fanOut[.notice]?.bytesPerText ?? 0, ringingWith: own.fanOut[.call]?.bytesPerText ?? 0),
            count, texts)
        bare.printIdle()
        bare.printRoundTrips()
        var pairs: [ChannelText: (FanOutFigures, FanOutFigures)] = [:]
        for text in texts {
            guard let figures = own.fanOut[text], let baseline = bare.fanOut[text] else { continue }
            print(
                "\(audience)\(text.suffix), fan-out of \(figures.bytesPerText) bytes to \(count): "
                    + "\(figures.perText.text("µs", digits: 1)) each; "
                    + "bare server \(baseline.perText.text("µs", digits: 1)); "
                    + "ratio \(figures.perText.ratios(to: baseline.perText).text(digits: 2))")
            pairs[text] = (figures, baseline)
        }
        return pairs
    }

    /// Starts with a server without channels, and ends it.
    ///
    /// - Parameter texts: what is sent to all channels; nothing: only idle channels are measured.
    private func measure(
        _ name: String, _ server: some RingingChannelServer, _ count: Int, _ texts: [ChannelText]
    ) async throws -> ChannelFigures {
        defer { server.stop() }
        let crowd = ChannelCrowd()
        let empty = server.process.proportionalBytes
        try await server.open(count, crowd)
        try await Task.sleep(for: .seconds(1))
        var figures = ChannelFigures(name: name, count: count)
        figures.bytesEach = Double(server.process.proportionalBytes - empty) / Double(count)
        let before = server.process.cpuNanoseconds()
        try await crowd.ping(over: .seconds(idle))
        figures.idleShare = Double(server.process.cpuNanoseconds() - before) / Double(idle) / 1e9
        for text in texts { figures.fanOut[text] = try await fanOut(text, of: server, to: crowd, count) }
        if !texts.isEmpty {
            for _ in 0..<roundTrips { figures.pings.record(nanoseconds: try await crowd.roundTrip()) }
            if let gateway = server as? GatewayChannels {
                figures.messages = try await gateway.messageTimes(roundTrips)
            }
        }
        await crowd.close()
        return figures
    }

    private func fanOut(
        _ text: ChannelText, of server: some RingingChannelServer, to crowd: ChannelCrowd, _ count: Int
    ) async throws -> FanOutFigures {
        var (figures, bytes) = (FanOutFigures(), 0)
        for number in 0...notifications {
            let (told, toldBytes, before) = (crowd.texts, crowd.bytes, server.process.cpuNanoseconds())
            var calls: [String] = []
            switch text {
            case .notice: try await server.fanOut(number)
            case .call: calls = try await server.ring()
            }
            try await crowd.wait(forTexts: told + count)
            let spent = server.process.cpuNanoseconds() - before
            // The first one warms up.
            if number > 0 {
                figures.perText.add(Double(spent) / Double(count) / 1_000)
                bytes += crowd.bytes - toldBytes
            }
            guard !calls.isEmpty else { continue }
            try await server.end(calls)
            try await crowd.wait(forTexts: told + 2 * count)
            // What is left to do about calls that have ended is not the next one's.
            try await Task.sleep(for: .milliseconds(100))
        }
        figures.bytesPerText = bytes / (notifications * count)
        return figures
    }
}

/// What is sent to all channels.
private enum ChannelText {
    /// To watchers a change of presence, to devices a message.
    case notice
    /// A call that rings at all devices of a user.
    case call

    /// What follows the name of the channels.
    var suffix: String {
        switch self {
        case .notice: ""
        case .call: " that are called"
        }
    }
}

/// What it takes a server to send a text to all channels.
private struct FanOutFigures {
    /// CPU per text that was sent, in microseconds: of each notification.
    var perText = Rounds()
    var bytesPerText = 0
}

/// What was measured of one server.
private struct ChannelFigures {
    let name: String
    let count: Int
    /// Memory per idle channel, in bytes.
    var bytesEach = 0.0
    /// The share of a core that all of them take together while each sends a ping.
    var idleShare = 0.0
    var fanOut: [ChannelText: FanOutFigures] = [:]
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
