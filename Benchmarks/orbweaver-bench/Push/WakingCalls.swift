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
    ///
    /// - Parameters:
    ///   - devices: how many devices Bob has.
    ///   - answers: whether the provider answers.
    init(_ program: String, devices: Int = 1, answers: Bool = true) async throws {
        let provider = try await ReceiptServer(answers: answers)
        let gateway = try await GatewayUnderTest(
            program, store: .file,
            settings: [
                "push.apple_team=TEAM123456", "push.apple_key_id=KEY1234567", "push.apple_key_file=\(provider.key)",
                "push.apple_production_url=\(provider.url)", "push.authority_file=\(provider.authority)",
                "push.allowed_addresses=127.0.0.0/8", "push.wakes_per_user=1000000",
                "push.wakes_per_caller=1000000", "push.registrations_per_user=\(devices)", "push.answer_time=60s",
            ])
        (self.provider, self.gateway) = (provider, gateway)
        do {
            client = try await HTTPClient(port: gateway.port)
            peers = try CallPeers()
            _ = try await gateway.register(Self.alice, client)
            for number in 0..<devices {
                let device =
                    #"{"bundleID":"com.example.app","service":["call"],"clientCorrelator":"phone\#(number)","#
                    + #""realm":"default","isProduction":true,"#
                    + #""voipDeviceToken":"\#(LocalProvider.token)\#(1_000 + number)"}"#
                try await client.succeed(
                    .POST, gateway.path(Self.bob, "push/apple/devices/"), user: Self.bob,
                    body: ByteBuffer(string: device))
            }
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

    /// Starts calls that wake Bob's devices, and waits until this many pushes wait or have no answer.
    ///
    /// - Throws: `ValidationError` if there are not as many after 10 seconds.
    func leaveWaiting(_ pushes: Int, by calls: Int) async throws {
        for _ in 0..<calls { _ = try await start() }
        let end = ContinuousClock.now + .seconds(10)
        while try await waitingPushes() != pushes {
            guard ContinuousClock.now < end else {
                throw ValidationError("\(try await waitingPushes()) pushes wait, not \(pushes)")
            }
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    /// The pushes that wait or have no answer, by the gateway's metrics.
    func waitingPushes() async throws -> Int {
        let metrics = String(buffer: try await client.request(.GET, "/metrics").body)
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("orbweaver_pushes_active ") }
        guard let value = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw ValidationError("the gateway does not say how many pushes wait")
        }
        return value
    }

    /// How long this many requests take, one after the other, in milliseconds. Each lists Bob's
    /// devices with Firebase, of which he has none.
    func requestTimes(_ count: Int) async throws -> [Double] {
        var times: [Double] = []
        for _ in 0..<count {
            let start = MonotonicClock.now
            try await client.succeed(.GET, gateway.path(Self.bob, "push/google/devices/"), user: Self.bob)
            times.append((MonotonicClock.now - start) / .milliseconds(1))
        }
        return times
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
