import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1

/// The gateway with an application that many programs follow: on `/v1/events`, over WebSockets. They choose one event
/// of each call, that it is over.
struct GatewayEvents: ChannelServer {
    let gateway: GatewayUnderTest
    private let key: String
    private let peers: CallPeers
    /// Of who calls. What it is told is not looked at.
    private let notifications: NotificationSocket?

    private static let caller = GatewayUnderTest.users[0]
    private static let application = "bot"
    /// How many join at a time.
    private static let openers = 4
    private static let settings =
        ["listen.max_connections_per_address=60000", "listen.channel_idle=1h"] + GatewayUnderTest.toldAtOnce

    var process: ChildProcess { gateway.process }

    /// - Parameter settings: `section.key=value`, besides those that events need.
    init(_ binary: String, settings: [String] = []) async throws {
        peers = try CallPeers()
        let gateway = try await GatewayUnderTest(
            binary, store: .file, hasTLS: false, settings: Self.settings + settings)
        self.gateway = gateway
        do {
            key = try gateway.addApplication(Self.application)
            let client = try await HTTPClient(port: gateway.port)
            notifications = try await gateway.register(Self.caller, client)
            await client.close()
        } catch {
            gateway.stop()
            throw error
        }
    }

    func stop() { gateway.stop() }

    func open(_ count: Int, _ crowd: ChannelCrowd) async throws {
        let (port, path) = (gateway.port, "/v1/events?types=call.ended&access_token=\(key)")
        try await withThrowingTaskGroup(of: Void.self) { group in
            for first in 0..<Self.openers {
                group.addTask {
                    for _ in stride(from: first, to: count, by: Self.openers) {
                        try await crowd.join(port: port, overTLS: false, path: path)
                    }
                }
            }
            try await group.waitForAll()
        }
        // Each is told its place.
        try await crowd.wait(forTexts: count)
    }

    /// One more program joins, and follows all events.
    func follow(_ crowd: ChannelCrowd) async throws {
        let told = crowd.texts
        try await crowd.join(port: gateway.port, overTLS: false, path: "/v1/events?access_token=\(key)")
        // It is told its place.
        try await crowd.wait(forTexts: told + 1)
    }

    /// Adds a webhook of the application, and returns its id.
    func addWebhook(_ url: String) throws -> String {
        let added = try gateway.command(["webhook", "add", Self.application, url])
        guard let id = added.split(separator: "\t").first else { throw ValidationError("the webhook has no id") }
        return String(id)
    }

    /// Lets the webhook be sent events from where it was disabled, or disables it.
    func setWebhook(_ id: String, isEnabled: Bool) throws {
        _ = try gateway.command(["webhook", isEnabled ? "enable" : "disable", Self.application, id])
    }

    /// A call to the application that its caller gives up. So it is without programs, too.
    func fanOut(_ number: Int) async throws {
        // Idle connections are closed by the gateway.
        let client = try await HTTPClient(port: gateway.port)
        let path = gateway.path(Self.caller, "callControl")
        let request = [
            "type": "callStart", "from": "sip:\(Self.caller)", "to": "sip:\(Self.application)@dev.local",
            "sdp": PeerDescriptions.audio(peers.caller, setup: "actpass"),
        ]
        let body = ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
        let (session, _) = try await client.startCall(path, user: Self.caller, body: body)
        try await client.succeed(.DELETE, "\(path)/callSessions/\(session)", user: Self.caller)
        await client.close()
    }
}
