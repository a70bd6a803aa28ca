import ArgumentParser
import DTLS
import Foundation
import NIOCore
import NIOHTTP1
import PeerSupport
import Primitives

/// Alice, who calls Bob, who answers: through REST and WebSocket, with real ICE and DTLS.
struct ScriptedCaller {
    struct Call {
        var session: String
        var caller: LoopbackPeer
        var callee: LoopbackPeer
    }

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

    /// A call whose legs both have keys.
    func connectedCall() async throws -> Call {
        let peers = (caller: try LoopbackPeer(role: .client), callee: try LoopbackPeer(role: .client))
        let session = try await start(offer: PeerDescriptions.audio(peers.caller, ssrc: 1_001, setup: "actpass"))
        guard let invitation = try await bobs.next("call")?.sessionParams, let offer = invitation.sdp else {
            throw ValidationError("the call did not arrive")
        }
        try PeerDescriptions.connect(peers.callee, to: offer)
        try await answer(invitation.sessionData, with: PeerDescriptions.audio(peers.callee, ssrc: 2_001, setup: "active"))
        guard let answer = try await alices.next("respondCallUpdate")?.sessionParams?.sdp else { throw ValidationError("no answer arrived") }
        try PeerDescriptions.connect(peers.caller, to: answer)
        for peer in [peers.caller, peers.callee] {
            guard try peer.run(for: .seconds(10), until: \.isConnected) else { throw ValidationError("a peer did not connect") }
        }
        return Call(session: session, caller: peers.caller, callee: peers.callee)
    }

    func end(_ call: Call) async throws {
        _ = try await client.request(.DELETE, gateway.path(Self.alice, "callControl/callSessions/\(call.session)"), user: Self.alice)
    }

    private func start(offer: String) async throws -> String {
        let request = ["type": "callStart", "from": "sip:\(Self.alice)", "to": "sip:\(Self.bob)", "sdp": offer]
        let answer = try await client.request(.POST, gateway.path(Self.alice, "callControl"), user: Self.alice, body: try wrapped(request))
        guard answer.status == 201 else { throw ValidationError("callStart: \(answer.status) \(String(buffer: answer.body))") }
        return try JSONDecoder().decode([String: Started].self, from: Data(answer.body.readableBytesView))["callControlResponse"]?.sessionData ?? ""
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

    private struct Started: Decodable { var sessionData: String }
}
