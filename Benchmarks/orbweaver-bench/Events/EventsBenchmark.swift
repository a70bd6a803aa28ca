import ArgumentParser
import BenchValues
import Foundation

struct EventsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Events of calls to programs that follow an application over WebSockets (/v1/events).",
        discussion: """
            The gateway is a process of its own with one event loop and its journal in a file. So is the baseline, a NIO
            server that keeps WebSockets open and sends each of them a text that is as long as the gateway's events are.
            Counted is the CPU of the whole process, without that of the same calls while nobody follows them. Everything
            is durable before it is sent.

            Each program is told one event of each call: that it is over.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(parsing: .upToNextOption, help: "How many programs follow: one comparison each, at most 10000.")
    var subscribers = [1_000]

    @Option(help: "Events to each program per round.")
    var events = 20

    @Option(help: "Rounds, at most 20; what is told is the median.")
    var rounds = 5

    @Option(help: "Seconds for which nothing happens, over which the CPU of the idle connections is taken; 0: none.")
    var idle = 20

    func validate() throws {
        guard !subscribers.isEmpty, subscribers.allSatisfy({ 1...10_000 ~= $0 }), 1...1_000 ~= events,
            1...20 ~= rounds, 0...600 ~= idle
        else { throw ValidationError("that many cannot be measured") }
    }

    func run() async throws {
        for count in subscribers {
            let own = try await measure(try await GatewayEvents(gateway), count)
            own.report("events to \(count)")
            let bare = try await measure(try await BareChannelServer(sending: own.bytesPerText), count)
            bare.report("bare server to \(count)")
            print(
                String(
                    format: "events of %d bytes to %d: %.2f µs each; bare server %.2f µs; ratio ",
                    own.bytesPerText, count, own.perText.median, bare.perText.median)
                    + own.perText.ratios(to: bare.perText).text(digits: 2))
        }
    }

    /// Starts with a server that nobody is connected to, and ends it.
    private func measure(_ server: some ChannelServer, _ count: Int) async throws -> EventFigures {
        defer { server.stop() }
        // The first round warms up.
        var alone = Rounds()
        for round in 0...rounds {
            let cost = try await cost(server.process) {
                for number in 0..<events { try await server.fanOut(number) }
            }
            if round > 0 { alone.add(cost) }
        }
        let (crowd, empty) = (ChannelCrowd(), server.process.proportionalBytes)
        try await server.open(count, crowd)
        try await Task.sleep(for: .seconds(1))
        var figures = EventFigures()
        figures.bytesEach = Double(server.process.proportionalBytes - empty) / Double(count)
        if idle > 0 {
            let before = server.process.cpuNanoseconds()
            try await Task.sleep(for: .seconds(idle))
            figures.idleShare = Double(server.process.cpuNanoseconds() - before) / Double(idle) / 1e9
        }
        let (texts, bytes) = (crowd.texts, crowd.bytes)
        var told = 0
        for round in 0...rounds {
            let cost = try await cost(server.process) {
                for number in 0..<events {
                    try await server.fanOut(number)
                    told += count
                    try await crowd.wait(forTexts: texts + told)
                }
            }
            guard round > 0 else { continue }
            figures.perText.add((cost - alone.median) / Double(events * count) / 1_000)
        }
        guard crowd.texts == texts + told else {
            throw ValidationError("\(crowd.texts - texts) events came, not \(told)")
        }
        figures.bytesPerText = (crowd.bytes - bytes) / told
        await crowd.close()
        return figures
    }

    /// The CPU of the process meanwhile, in nanoseconds, and of what is left to do in a moment after it.
    private func cost(_ process: ChildProcess, _ work: () async throws -> Void) async throws -> Double {
        let before = process.cpuNanoseconds()
        try await work()
        try await Task.sleep(for: .milliseconds(100))
        return Double(process.cpuNanoseconds() - before)
    }
}

/// What was measured of one server.
private struct EventFigures {
    /// Memory per connection, in bytes.
    var bytesEach = 0.0
    /// The share of a core that all of them take together while nothing happens; `nil`: it was not measured.
    var idleShare: Double?
    /// CPU per event that was sent to one, in microseconds, round by round.
    var perText = Rounds()
    var bytesPerText = 0

    func report(_ name: String) {
        print(
            String(
                format: "%@: %.2f µs each (%.2f to %.2f); ", name, perText.median, perText.least, perText.most)
                + String(format: "%.1f KB per connection", bytesEach / 1_024)
                + (idleShare.map { String(format: ", %.1f %% of a core while idle", $0 * 100) } ?? ""))
    }
}
