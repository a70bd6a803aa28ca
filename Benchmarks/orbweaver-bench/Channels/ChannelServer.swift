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

/// The baseline: `orbweaver-bench bare-channels` in a process of its own.
struct BareChannelServer: ChannelServer {
    let process: ChildProcess
    private let port: Int
    private let text: ByteBuffer

    /// - Parameter length: of the texts, in bytes.
    init(sending length: Int) async throws {
        port = try await FreePort.tcp()
        process = try await ChildProcess("/proc/self/exe", ["bare-channels", "--port", "\(port)"], port: port)
        text = ByteBuffer(repeating: UInt8(ascii: "x"), count: length)
    }

    func open(_ count: Int, _ crowd: ChannelCrowd) async throws {
        for _ in 0..<count { try await crowd.join(port: port, overTLS: false, path: "/") }
    }

    func fanOut(_ number: Int) async throws {
        let client = try await HTTPClient(port: port)
        try await client.succeed(.POST, "/", body: text)
        await client.close()
    }

    func stop() { process.stop() }
}

/// The gateway. Its channels are of many users who watch one user's presence, or of few users with many devices.
struct GatewayChannels: ChannelServer, Sendable {
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
    private let overTLS: Bool

    /// As many logins of strangers as one address may have waiting (LoginQueue).
    private static let subscribers = 4
    private static let settings = [
        "registration.max_per_user=1000", "presence.max_watchers=1000000", "messages.per_user=1000000",
        "listen.max_connections_per_address=60000", "registration.answer_time=0s", "listen.channel_idle=1h",
    ]

    var process: ChildProcess { gateway.process }

    /// - Parameter devicesEach: of each user that has several; at most 1,000.
    init(_ binary: String, _ audience: Audience, count: Int, devicesEach: Int, overTLS: Bool = false) async throws {
        (self.audience, self.count, self.devicesEach, self.overTLS) = (audience, count, devicesEach, overTLS)
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
