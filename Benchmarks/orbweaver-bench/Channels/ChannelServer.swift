import ArgumentParser
import BenchValues
import Foundation
import NIOCore
import NIOHTTP1

/// A server that keeps many WebSockets open, and can send each of them the same text.
protocol ChannelServer {
    var process: ChildProcess { get }
    /// Opens so many, and waits until they have been told what they are told at first.
    func open(_ count: Int, _ crowd: ChannelCrowd) async throws
    /// Sends a text to each.
    func fanOut(_ number: Int) async throws
    func stop()
}

/// One whose channels can be sent calls, too.
protocol RingingChannelServer: ChannelServer {
    /// Sends each a call, with the description of its media.
    ///
    /// - Returns: the calls that ring now.
    func ring() async throws -> [String]
    /// Ends calls that ring; each channel is sent one text for that.
    func end(_ calls: [String]) async throws
}

/// The baseline: `orbweaver-bench bare-channels` in a process of its own.
struct BareChannelServer: RingingChannelServer {
    let process: ChildProcess
    private let port: Int
    private let text: ByteBuffer
    private let call: ByteBuffer

    /// - Parameters:
    ///   - length: of the texts, in bytes.
    ///   - callLength: of those that are sent for calls.
    init(sending length: Int, ringingWith callLength: Int = 0) async throws {
        port = try await FreePort.tcp()
        process = try await ChildProcess("/proc/self/exe", ["bare-channels", "--port", "\(port)"], port: port)
        text = ByteBuffer(repeating: UInt8(ascii: "x"), count: length)
        call = ByteBuffer(repeating: UInt8(ascii: "x"), count: callLength)
    }

    func open(_ count: Int, _ crowd: ChannelCrowd) async throws {
        for _ in 0..<count { try await crowd.join(port: port, overTLS: false, path: "/") }
    }

    func fanOut(_ number: Int) async throws { try await send(text) }

    /// It has no calls to end.
    func ring() async throws -> [String] {
        try await send(call)
        return []
    }

    func end(_ calls: [String]) {}

    private func send(_ text: ByteBuffer) async throws {
        let client = try await HTTPClient(port: port)
        try await client.succeed(.POST, "/", body: text)
        await client.close()
    }

    func stop() { process.stop() }
}

/// The gateway. Its channels are of many users who watch one user's presence, or of few users with many devices.
struct GatewayChannels: RingingChannelServer, Sendable {
    /// Whom a text goes to.
    enum Audience {
        /// Users with one device each.
        case watchers
        /// Users with several devices each.
        case devices
    }

    let gateway: GatewayUnderTest
    private let audience: Audience
    private let count: Int
    private let devicesEach: Int
    /// What callers offer; its session gets another name in each call.
    private let offer: String
    private let overTLS: Bool

    /// As many logins of strangers as one address may have waiting (LoginQueue).
    private static let subscribers = 4
    private static let settings = [
        "registration.max_per_user=1000", "presence.max_watchers=1000000", "messages.per_user=1000000",
        "listen.max_connections_per_address=60000", "registration.answer_time=0s", "listen.channel_idle=1h",
        "media.max_calls_per_worker=20000", "media.max_load=none",
    ]

    var process: ChildProcess { gateway.process }

    /// - Parameters:
    ///   - devicesEach: of each user that has several; at most 1,000.
    ///   - offer: the description with which calls start.
    init(
        _ binary: String, _ audience: Audience, count: Int, devicesEach: Int, offer: String, overTLS: Bool = false
    ) async throws {
        (self.audience, self.count, self.devicesEach) = (audience, count, devicesEach)
        (self.offer, self.overTLS) = (offer, overTLS)
        gateway = try await GatewayUnderTest(
            binary, store: .file, furtherUsers: count, hasTLS: overTLS, settings: Self.settings)
        // Who changes the presence is registered, and nobody listens there.
        let client = try await HTTPClient(port: gateway.port)
        _ = try await gateway.subscribe(sender, client, services: ["call", "Presence"])
        await client.close()
    }

    func stop() { gateway.stop() }

    private var sender: String { GatewayUnderTest.users[0] }

    func open(_ count: Int, _ crowd: ChannelCrowd) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<Self.subscribers {
                group.addTask { [self] in
                    let client = try await HTTPClient(port: gateway.port)
                    for index in stride(from: first, to: count, by: Self.subscribers) {
                        try await join(index, client, crowd)
                    }
                    await client.close()
                }
            }
            try await group.waitForAll()
        }
        // Each watcher is told the presence as it is.
        if audience == .watchers { try await crowd.wait(forTexts: count) }
    }

    private func join(_ index: Int, _ client: HTTPClient, _ crowd: ChannelCrowd) async throws {
        let user = GatewayUnderTest.user(audience == .watchers ? index : index / devicesEach)
        let granted = try await gateway.subscribe(user, client, services: ["call", "IM", "Presence"])
        try await crowd.join(port: gateway.port(overTLS: overTLS), overTLS: overTLS, path: granted.channel)
        guard audience == .watchers else { return }
        try await client.succeed(
            .POST, gateway.path(user, "presenceWatcher"), user: user,
            body: ByteBuffer(string: #"{"presenceWatcherRequest":{"userList":["\#(sender)"],"action":"watch"}}"#))
    }

    func fanOut(_ number: Int) async throws {
        // Idle connections are closed by the gateway.
        let client = try await HTTPClient(port: gateway.port)
        switch audience {
        case .watchers:
            let note = String(repeating: "\(number % 10)", count: 256)
            try await client.succeed(
                .POST, gateway.path(sender, "presence"), user: sender,
                body: ByteBuffer(
                    string: #"{"presenceRequest":{"status":"open","activity":"busy","note":"\#(note)"}}"#))
        case .devices:
            for index in 0..<count / devicesEach {
                try await send(to: GatewayUnderTest.user(index), number, client)
            }
        }
        await client.close()
    }

    func ring() async throws -> [String] {
        precondition(audience == .devices, "a watcher is not called")
        let client = try await HTTPClient(port: gateway.port)
        var calls: [String] = []
        for index in 0..<count / devicesEach {
            calls.append(try await call(GatewayUnderTest.user(index), client))
        }
        await client.close()
        return calls
    }

    /// Starts a call, and returns its session.
    private func call(_ user: String, _ client: HTTPClient) async throws -> String {
        let request = [
            "type": "callStart", "from": "sip:\(sender)", "to": "sip:\(user)",
            "sdp": PeerDescriptions.renamed(offer),
        ]
        let body = ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
        return try await client.startCall(gateway.path(sender, "callControl"), user: sender, body: body).session
    }

    func end(_ calls: [String]) async throws {
        let client = try await HTTPClient(port: gateway.port)
        for session in calls {
            try await client.succeed(
                .DELETE, gateway.path(sender, "callControl/callSessions/\(session)"), user: sender)
        }
        await client.close()
    }

    /// A message that makes a notification of 1 KB.
    private func send(to user: String, _ number: Int, _ client: HTTPClient) async throws {
        let text = String(repeating: "\(number % 10)", count: 620)
        try await client.succeed(
            .POST, gateway.path(sender, "instantmessage"), user: sender,
            body: ByteBuffer(string: #"{"imRequest":{"toUrl":"\#(user)","message":"\#(text)","type":"A2"}}"#))
    }

    /// The times from the request of a message to its notification, in nanoseconds.
    func messageTimes(_ count: Int) async throws -> DelayHistogram {
        let receiver = GatewayUnderTest.users[1]
        let client = try await HTTPClient(port: gateway.port)
        let granted = try await gateway.subscribe(receiver, client, services: ["call", "IM"])
        let socket = try await NotificationSocket(port: gateway.port, path: granted.channel)
        var times = DelayHistogram()
        for number in 0..<count {
            let start = ContinuousClock.now
            async let told = socket.next("IM")
            try await send(to: receiver, number, client)
            _ = try await told
            times.record(nanoseconds: (ContinuousClock.now - start).nanoseconds)
        }
        await socket.close()
        await client.close()
        return times
    }
}
