import ArgumentParser
import BenchValues
import NIOCore

/// rtpengine in user space with one thread of media, asked over its control protocol. It does no signalling: what a
/// proxy in front of it does comes on top.
struct RTPEngineBeside: ServerBeside {
    let process: ChildProcess
    private let control: RTPEngineControl

    init(_ binary: String, at address: String) async throws {
        let port = try FreePort.udp()
        let control = try await RTPEngineControl(port: port)
        let command =
            Cores.start(Cores.ofServers) + [
                binary, "--config-file=none", "--table=-1", "--interface=\(address)", "--listen-ng=127.0.0.1:\(port)",
                "--port-min=20000", "--port-max=30000", "--num-threads=1", "--timeout=3600", "--silent-timeout=3600",
                "--foreground", "--log-stderr", "--log-level=2",
            ]
        process = try await ChildProcess(command[0], Array(command.dropFirst())) {
            // Nothing answers before the port is open.
            (try? await control.ask("ping", patience: .milliseconds(200))) != nil
        }
        self.control = control
    }

    func prepare(_ calls: Int) {}

    func agree(
        on caller: LoadPeer, _ callee: LoadPeer, invited: (_ description: String) throws -> Void
    ) async throws -> AgreedCall {
        let name = "call-\(UInt64.random(in: 0...UInt64.max))"
        let offer = PeerDescriptions.complete(caller, setup: "active")
        let toCallee = try await describe("offer", Self.identity(name), offer, multiplexing: ["accept", "require"])
        try invited(toCallee)
        let answer = PeerDescriptions.complete(callee, setup: "active")
        let tags = Self.identity(name).merging(["to-tag": .text("callee")]) { $1 }
        let toCaller = try await describe("answer", tags, answer, multiplexing: ["accept"])
        return AgreedCall(name: name, toCaller: toCaller, toCallee: toCallee)
    }

    func hangUp(_ call: AgreedCall) async throws {
        // Without a delay, it would keep the call for half a minute.
        _ = try await control.ask("delete", Self.identity(call.name).merging(["delete-delay": .integer(0)]) { $1 })
    }

    func stop() { process.kill() }

    private static func identity(_ call: String) -> [String: Bencode] {
        ["call-id": .text(call), "from-tag": .text("caller")]
    }

    /// The description that goes to the other side.
    private func describe(
        _ command: String, _ names: [String: Bencode], _ description: String, multiplexing: [String]
    ) async throws -> String {
        let fields: [String: Bencode] = [
            "sdp": .text(description), "ICE": .text("force"), "ICE-lite": .text("both"), "DTLS": .text("passive"),
            "transport-protocol": .text("UDP/TLS/RTP/SAVPF"),
            "rtcp-mux": .list(multiplexing.map(Bencode.text)),
            "replace": .list([.text("origin"), .text("session-connection")]),
        ]
        guard let answer = try await control.ask(command, names.merging(fields) { $1 })["sdp"]?.text else {
            throw ValidationError("rtpengine: no description in its answer to \(command)")
        }
        return answer
    }
}
