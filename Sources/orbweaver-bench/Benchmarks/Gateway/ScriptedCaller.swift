import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1

/// Alice, who calls Bob, who answers, again and again: through REST and WebSocket, with real ICE and DTLS.
struct ScriptedCaller {
    private static let alice = "alice@dev.local"
    private static let bob = "bob@dev.local"

    private let gateway: GatewayUnderTest
    private let client: HTTPClient
    private let alices: NotificationSocket
    private let bobs: NotificationSocket

    init(_ gateway: GatewayUnderTest) async throws {
        self.gateway = gateway
        client = try await HTTPClient(port: gateway.port)
        guard let alices = try await gateway.register(Self.alice, client), let bobs = try await gateway.register(Self.bob, client) else {
            throw ValidationError("no notification channels")
        }
        (self.alices, self.bobs) = (alices, bobs)
    }

    /// A call between two new peers, until both legs have keys.
    func connectCall(of peers: LoadPeers) async throws {
        let (caller, callee) = (peers.add(), peers.add())
        try await start(offer: PeerDescriptions.audio(caller, setup: "actpass"))
        guard let invitation = try await bobs.next("call")?.sessionParams, let offer = invitation.sdp else {
            throw ValidationError("the call did not arrive")
        }
        let toCallee = try PeerDescriptions.gateway(in: offer)
        callee.learn(toCallee.credentials)
        try await answer(invitation.sessionData, with: PeerDescriptions.audio(callee, setup: "active"))
        guard let answer = try await alices.next("respondCallUpdate")?.sessionParams?.sdp else { throw ValidationError("no answer arrived") }
        caller.learn(try PeerDescriptions.gateway(in: answer).credentials)
        try peers.connect([caller, callee], to: toCallee.address)
    }

    private func start(offer: String) async throws {
        let request = ["type": "callStart", "from": "sip:\(Self.alice)", "to": "sip:\(Self.bob)", "sdp": offer]
        let answer = try await client.request(.POST, gateway.path(Self.alice, "callControl"), user: Self.alice, body: try wrapped(request))
        guard answer.status == 201 else { throw ValidationError("callStart: \(answer.status) \(String(buffer: answer.body))") }
    }

    private func answer(_ session: String, with description: String) async throws {
        let answer = try await client.request(
            .PUT, gateway.path(Self.bob, "callControl/callSessions/\(session)"), user: Self.bob,
            body: try wrapped(["type": "callAnswer", "sdp": description]))
        guard answer.status == 200 else { throw ValidationError("callAnswer: \(answer.status) \(String(buffer: answer.body))") }
    }

    private func wrapped(_ request: [String: String]) throws -> ByteBuffer {
        ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
    }
}
