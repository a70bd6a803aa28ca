import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import Primitives
import Sockets

/// Alice calls Bob, whose device is asleep: through REST, with a push to a provider in this process.
struct WakingCalls {
    private static let alice = "alice@dev.local"
    private static let bob = "bob@dev.local"

    private let provider: ReceiptServer
    private let gateway: GatewayUnderTest
    private let client: HTTPClient
    private let peers: CallPeers

    /// Starts the provider, and the gateway of this program with a database.
    init(_ program: String) async throws {
        let provider = try await ReceiptServer()
        let gateway = try await GatewayUnderTest(
            program, store: .file,
            settings: [
                "push.apple_team=TEAM123456", "push.apple_key_id=KEY1234567", "push.apple_key_file=\(provider.key)",
                "push.apple_production_url=\(provider.url)", "push.authority_file=\(provider.authority)",
                "push.allowed_addresses=127.0.0.0/8", "push.wakes_per_user=1000000",
                "push.wakes_per_caller=1000000",
            ])
        (self.provider, self.gateway) = (provider, gateway)
        do {
            client = try await HTTPClient(port: gateway.port)
            peers = try CallPeers()
            _ = try await gateway.register(Self.alice, client)
            let device =
                #"{"bundleID":"com.example.app","service":["call"],"clientCorrelator":"phone","realm":"default","#
                + #""isProduction":true,"voipDeviceToken":"\#(LocalProvider.token)"}"#
            try await client.succeed(
                .POST, gateway.path(Self.bob, "push/apple/devices/"), user: Self.bob, body: ByteBuffer(string: device))
        } catch {
            gateway.stop()
            provider.stop()
            throw error
        }
    }

    func stop() {
        gateway.stop()
        provider.stop()
    }

    /// How long after the answer to each `callStart` its push had arrived, in milliseconds, in ascending order; less
    /// than 0 if it arrived before. There is one call at a time. Ahead of them come ten calls that are not measured.
    func delays(_ count: Int) async throws -> [Double] {
        var delays: [Double] = []
        for number in 0..<(count + 10) {
            let (session, answered) = try await start()
            // Each call has one push that it comes, and one that it is over.
            let delay = try await provider.receipt(2 * number) - answered
            if number >= 10 { delays.append(delay / .milliseconds(1)) }
            try await client.succeed(
                .DELETE, gateway.path(Self.alice, "callControl/callSessions/\(session)"), user: Self.alice)
            _ = try await provider.receipt(2 * number + 1)
        }
        return delays.sorted()
    }

    private func start() async throws -> (session: String, answered: MonotonicTime) {
        let offer = PeerDescriptions.audio(peers.caller, setup: "actpass")
        let request = ["type": "callStart", "from": "sip:\(Self.alice)", "to": "sip:\(Self.bob)", "sdp": offer]
        let answer = try await client.request(
            .POST, gateway.path(Self.alice, "callControl"), user: Self.alice,
            body: ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request])))
        let answered = MonotonicClock.now
        guard answer.status == 201 else {
            throw ValidationError("callStart: \(answer.status) \(String(buffer: answer.body))")
        }
        let started = try JSONDecoder().decode(Started.self, from: Data(answer.body.readableBytesView))
        return (started.callControlResponse.sessionData, answered)
    }

    private struct Started: Decodable {
        struct Response: Decodable { var sessionData: String }
        var callControlResponse: Response
    }
}
