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

    /// Notes when pushes arrive; `nil`: they go to another provider.
    private let receipts: ReceiptServer?
    private let gateway: GatewayUnderTest
    private let client: HTTPClient
    private let peers: CallPeers

    /// Starts the provider, and the gateway of this program with a database.
    ///
    /// - Parameters:
    ///   - devices: how many devices Bob has.
    ///   - answers: whether the provider answers.
    init(_ program: String, devices: Int = 1, answers: Bool = true) async throws {
        let receipts = try await ReceiptServer(answers: answers)
        do {
            try await self.init(
                program, devices: devices, (receipts.url, receipts.authority, receipts.key), receipts: receipts)
        } catch {
            receipts.stop()
            throw error
        }
    }

    /// The same with a provider that runs already, and knows Bob's devices.
    init(_ program: String, devices: Int, at provider: LocalProvider) async throws {
        try await self.init(
            program, devices: devices, (provider.url, provider.authority, provider.key), receipts: nil)
    }

    /// The tokens of so many devices.
    static func tokens(_ devices: Int) -> [String] { (0..<devices).map { "\(LocalProvider.token)\(1_000 + $0)" } }

    private init(
        _ program: String, devices: Int, _ provider: (url: String, authority: String, key: String),
        receipts: ReceiptServer?
    ) async throws {
        let gateway = try await GatewayUnderTest(
            program, store: .file,
            settings: [
                "push.apple_team=TEAM123456", "push.apple_key_id=KEY1234567", "push.apple_key_file=\(provider.key)",
                "push.apple_production_url=\(provider.url)", "push.authority_file=\(provider.authority)",
                "push.allowed_addresses=127.0.0.0/8", "push.wakes_per_user=1000000",
                "push.wakes_per_caller=1000000", "push.registrations_per_user=\(devices)", "push.answer_time=60s",
            ])
        (self.receipts, self.gateway) = (receipts, gateway)
        do {
            client = try await HTTPClient(port: gateway.port)
            peers = try CallPeers()
            _ = try await gateway.register(Self.alice, client)
            for (number, token) in Self.tokens(devices).enumerated() {
                let device =
                    #"{"bundleID":"com.example.app","service":["call"],"clientCorrelator":"phone\#(number)","#
                    + #""realm":"default","isProduction":true,"#
                    + #""voipDeviceToken":"\#(token)"}"#
                try await client.succeed(
                    .POST, gateway.path(Self.bob, "push/apple/devices/"), user: Self.bob,
                    body: ByteBuffer(string: device))
            }
        } catch {
            gateway.stop()
            throw error
        }
    }

    func stop() {
        gateway.stop()
        receipts?.stop()
    }

    /// How long after the answer to each `callStart` its push had arrived, in milliseconds, in ascending order; less
    /// than 0 if it arrived before. There is one call at a time. Ahead of them come ten calls that are not measured.
    func delays(_ count: Int) async throws -> [Double] {
        var delays: [Double] = []
        for number in 0..<(count + 10) {
            let (session, answered) = try await start()
            // Each call has one push that it comes, and one that it is over.
            if let receipt = try await receipts?.receipt(2 * number), number >= 10 {
                delays.append((receipt - answered) / .milliseconds(1))
            }
            try await end(session)
            _ = try await receipts?.receipt(2 * number + 1)
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

    /// Calls that have pushes sent, over a connection of their own.
    var load: PushLoad {
        get throws {
            try PushLoad(
                port: gateway.port, path: gateway.path(Self.alice, "callControl"), user: Self.alice, start: callStart)
        }
    }

    /// The pushes that wait or have no answer, by the gateway's metrics.
    func waitingPushes() async throws -> Int { try await client.metric("orbweaver_pushes_active") }

    /// The pushes that the provider has taken.
    func deliveredPushes() async throws -> Int {
        try await client.metric(#"orbweaver_pushes_total{provider="apple",result="delivered"}"#)
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

    private func end(_ session: String) async throws {
        try await client.succeed(
            .DELETE, gateway.path(Self.alice, "callControl/callSessions/\(session)"), user: Self.alice)
    }

    /// The body of the request that starts a call.
    private var callStart: ByteBuffer {
        get throws {
            let offer = PeerDescriptions.audio(peers.caller, setup: "actpass")
            let request = ["type": "callStart", "from": "sip:\(Self.alice)", "to": "sip:\(Self.bob)", "sdp": offer]
            return ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
        }
    }

    private func start() async throws -> (session: String, answered: MonotonicTime) {
        try await client.startCall(gateway.path(Self.alice, "callControl"), user: Self.alice, body: callStart)
    }
}

/// Calls that wake devices and end, one after the other, so that pushes are sent all the time.
struct PushLoad: Sendable {
    let port: Int
    let path: String
    let user: String
    let start: ByteBuffer

    /// Goes on until the task is cancelled, and ends its last call.
    ///
    /// - Throws: `ValidationError` if a request fails.
    func run() async throws {
        let client = try await HTTPClient(port: port)
        while !Task.isCancelled {
            let (session, _) = try await client.startCall(path, user: user, body: start)
            // A task that is cancelled sleeps no more.
            while try await client.metric("orbweaver_pushes_active") > 0 {
                try? await Task.sleep(for: .milliseconds(2))
            }
            try await client.succeed(.DELETE, "\(path)/callSessions/\(session)", user: user)
        }
        await client.close()
    }
}

extension HTTPClient {
    /// A metric of the gateway that counts something.
    func metric(_ name: String) async throws -> Int {
        let metrics = String(buffer: try await request(.GET, "/metrics").body)
        let line = metrics.split(separator: "\n").first { $0.hasPrefix("\(name) ") }
        guard let value = line?.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw ValidationError("the gateway has no metric \(name)")
        }
        return value
    }
}
