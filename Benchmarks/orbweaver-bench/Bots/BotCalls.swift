import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1
import Primitives
import SDP

/// Alice, who calls a bot, which answers by commands of `/v1`.
struct BotCalls {
    /// A call that the bot has answered.
    struct Answered {
        /// The name that it has in `/v1`.
        let id: String
        /// Where Alice's peer sends to, and what its checks are made with.
        let media: (address: Primitives.SocketAddress, credentials: ICECredentials)
    }

    private static let caller = GatewayUnderTest.users[0]
    private static let application = "bot"

    let gateway: GatewayUnderTest
    /// Of the bot.
    let key: String
    private let notifications: NotificationSocket

    /// Starts a gateway with an application.
    ///
    /// - Parameter calls: the most at a time.
    init(_ binary: String, calls: Int) async throws {
        let gateway = try await GatewayUnderTest(
            binary, store: .file, hasTLS: false,
            settings: GatewayUnderTest.toldAtOnce
                + [
                    "media.consent_timeout=300s", "listen.max_connections_per_address=60000", "listen.channel_idle=1h",
                ])
        self.gateway = gateway
        do {
            key = try gateway.addApplication(
                Self.application, ["--maximum-calls", "\(calls)", "--decision-time", "60"])
            let client = try await HTTPClient(port: gateway.port)
            guard let notifications = try await gateway.register(Self.caller, client) else {
                throw ValidationError("Alice has no notification channel")
            }
            self.notifications = notifications
            await client.close()
        } catch {
            gateway.stop()
            throw error
        }
    }

    func stop() { gateway.stop() }

    /// Alice calls with this offer, and the bot answers.
    ///
    /// - Throws: `ValidationError` if the call does not come, or is not answered.
    func answered(offer: String) async throws -> Answered {
        // Idle connections are closed by the gateway.
        let client = try await HTTPClient(port: gateway.port)
        let request = [
            "type": "callStart", "from": "sip:\(Self.caller)", "to": "sip:\(Self.application)@dev.local", "sdp": offer,
        ]
        let body = ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
        _ = try await client.startCall(gateway.path(Self.caller, "callControl"), user: Self.caller, body: body)
        let id = try await ringing(client)
        try await tell(id, "answer", over: client)
        guard let answer = try await notifications.next("respondCallUpdate").sessionParams?.sdp else {
            throw ValidationError("the answer came without a description")
        }
        await client.close()
        return Answered(id: id, media: try PeerDescriptions.gateway(in: answer))
    }

    /// Gives a command without fields.
    func tell(_ id: String, _ command: String, over client: HTTPClient) async throws {
        try await client.succeed(.POST, "/v1/calls/\(id)/\(command)", key: key, body: ByteBuffer(string: "{}"))
    }

    /// The name of the only call that rings.
    private func ringing(_ client: HTTPClient) async throws -> String {
        for _ in 0..<200 {
            let answer = try await client.succeed(.GET, "/v1/calls?state=ringing", key: key)
            let calls = try JSONDecoder().decode(Listed.self, from: Data(answer.body.readableBytesView)).items
            guard calls.count < 2 else { throw ValidationError("\(calls.count) calls ring at the bot") }
            if let call = calls.first { return call.id }
            try await Task.sleep(for: .milliseconds(10))
        }
        throw ValidationError("no call rings at the bot")
    }

    private struct Listed: Decodable {
        struct Call: Decodable { var id: String }
        var items: [Call]
    }
}
