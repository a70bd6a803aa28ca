import ArgumentParser
import Foundation
import NIOCore

struct MemoryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "memory",
        abstract:
            "Memory per idle WebSocket, plain or over TLS, and per anchored audio call with both peers connected.",
        discussion: "The gateway is a process of its own; counted is its proportional set size before and after.")

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "How many of each.")
    var count = 1_000

    @Flag(help: "Only WebSockets, and these over TLS.")
    var tls = false

    func run() async throws {
        try await sockets()
        if !tls { try await calls() }
    }

    private func sockets() async throws {
        let gateway = try await GatewayUnderTest(gateway, settings: ["registration.max_per_user=1000"])
        defer { gateway.stop() }
        let client = try await HTTPClient(port: gateway.port)
        var open: [NotificationSocket?] = []
        for index in 0..<8 {
            open.append(try await gateway.register(GatewayUnderTest.users[index % 4], client, overTLS: tls))
        }
        let before = gateway.process.proportionalBytes
        for index in 0..<count {
            open.append(try await gateway.register(GatewayUnderTest.users[index % 4], client, overTLS: tls))
        }
        try await Task.sleep(for: .seconds(1))
        report(
            "idle WebSocket\(tls ? " over TLS" : "") with its subscription", gateway.process.proportionalBytes - before)
        for socket in open { await socket?.close() }
    }

    private func calls() async throws {
        let gateway = try await GatewayUnderTest(
            gateway, settings: GatewayUnderTest.toldAtOnce + ["media.consent_timeout=300s"])
        defer { gateway.stop() }
        let peers = try LoadPeers()
        let caller = try await ScriptedCaller(gateway)
        // The first ones fill pools and tables.
        for _ in 0..<8 { try await caller.connectCall(of: peers) }
        let before = gateway.process.proportionalBytes
        for _ in 0..<count { try await caller.connectCall(of: peers) }
        try await Task.sleep(for: .seconds(1))
        report("anchored audio call, both peers connected", gateway.process.proportionalBytes - before)
    }

    private func report(_ what: String, _ bytes: Int) {
        print(String(format: "%@: %.1f KB each, over %d", what, Double(bytes) / Double(count) / 1_024, count))
    }
}
