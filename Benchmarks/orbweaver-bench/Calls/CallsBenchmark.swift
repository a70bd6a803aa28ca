import ArgumentParser
import BenchValues
import Foundation
import Primitives

struct CallsBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "calls",
        abstract: "Calls set up and ended through REST and WebSocket: alone, among many others, and with ICE and DTLS.",
        discussion: """
            Alice calls Bob: callStart, his notification, callAnswer, her notification, DELETE, his notification. The gateway is a process of
            its own with one event loop and one media worker; counted is the CPU of that whole process, and clients are not. Calls per second
            and core are what that CPU allows. Notifications are not held back while a client digests an answer
            (registration.answer_time, registration.session_time): each is waited for.

            One at a time: each call is ended before the next starts. Many: so many calls stand, and with each that starts the oldest ends; to
            fill and to empty the house is not counted. With ICE and DTLS, one at a time: both peers check and shake hands before the call
            ends; next to it, in the same rounds, the server's side of two handshakes by OpenSSL alone.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "Calls that are counted in each round, at most 5000.")
    var calls = 500

    @Option(
        help:
            "How many calls stand at a time, at most 4000: no peer has connected in them, which the gateway puts up with for 30 seconds."
    )
    var standing = 1_000

    @Option(help: "Calls with ICE and DTLS in each round, at most 1000.")
    var connected = 200

    @Option(help: "Rounds, at most 20; what is told is the median.")
    var rounds = 5

    @Option(help: "Where the gateway keeps what it promises: file or memory.")
    var store = GatewayStore.file

    func validate() throws {
        guard 1...5_000 ~= calls, 1...4_000 ~= standing, 1...1_000 ~= connected, 1...20 ~= rounds else {
            throw ValidationError(
                "1 to 5000 calls, 1 to 4000 standing, 1 to 1000 connected and 1 to 20 rounds can be measured")
        }
    }

    func run() async throws {
        // A thousand calls start in a moment, which is more than a busy worker would be given.
        let settings = GatewayUnderTest.toldAtOnce + ["media.max_load=none"]
        let gateway = try await GatewayUnderTest(gateway, store: store, settings: settings)
        defer { gateway.stop() }
        let caller = try await ScriptedCaller(gateway)
        let handshakes = try BareHandshakes()
        var (alone, many, connecting, bare) = (Rounds(), Rounds(), Rounds(), Rounds())
        // The first round warms up.
        for round in 0...rounds {
            let costs = (
                try await callOneByOne(caller, gateway.process), try await callAmongMany(caller, gateway.process),
                try await connectOneByOne(caller, gateway.process),
                try handshakes.nanosecondsEach(of: 2 * connected) * 2
            )
            guard round > 0 else { continue }
            alone.add(costs.0)
            many.add(costs.1)
            connecting.add(costs.2)
            bare.add(costs.3)
        }
        print(line("1 call at a time:", alone))
        print(line("\(standing) calls at a time:", many) + ", \(many.ratios(to: alone).text(digits: 2)) of 1 at a time")
        print(line("two bare handshakes:", bare))
        print(
            line("1 call at a time, with ICE and DTLS:", connecting)
                + ", rate \(bare.ratios(to: connecting).text(digits: 2)) of two handshakes'")
    }

    /// - Parameter cost: nanoseconds of CPU per call.
    private func line(_ name: String, _ cost: Rounds) -> String {
        let perCall = cost.scaled(by: 0.001)
        return String(
            format: "%@ %.0f µs of CPU (%.0f to %.0f), %.0f per second and core", name, perCall.median, perCall.least,
            perCall.most, 1e6 / perCall.median)
    }

    private func callOneByOne(_ caller: ScriptedCaller, _ process: ChildProcess) async throws -> Double {
        let peers = try CallPeers()
        return try await cost(of: calls, process) {
            for _ in 0..<calls { try await caller.end(try await caller.startCall(between: peers)) }
        }
    }

    private func callAmongMany(_ caller: ScriptedCaller, _ process: ChildProcess) async throws -> Double {
        let peers = try CallPeers()
        var sessions: [ScriptedCaller.Session] = []
        for _ in 0..<standing { sessions.append(try await caller.startCall(between: peers)) }
        try await Task.sleep(for: Self.aftermath)
        let cost = try await cost(of: calls, process) {
            for index in 0..<calls {
                sessions.append(try await caller.startCall(between: peers))
                try await caller.end(sessions[index])
            }
        }
        for session in sessions.dropFirst(calls) { try await caller.end(session) }
        try await Task.sleep(for: Self.aftermath)
        return cost
    }

    private func connectOneByOne(_ caller: ScriptedCaller, _ process: ChildProcess) async throws -> Double {
        let peers = try LoadPeers()
        return try await cost(of: connected, process) {
            for _ in 0..<connected { try await caller.end(try await caller.connectCall(of: peers)) }
        }
    }

    /// What the last calls caused is still on its way then.
    private static let aftermath = Duration.milliseconds(100)

    /// The gateway's CPU for each of so many calls, in nanoseconds.
    private func cost(of count: Int, _ process: ChildProcess, _ calls: () async throws -> Void) async throws -> Double {
        let before = process.cpuNanoseconds()
        try await calls()
        try await Task.sleep(for: Self.aftermath)
        return Double(process.cpuNanoseconds() - before) / Double(count)
    }
}
