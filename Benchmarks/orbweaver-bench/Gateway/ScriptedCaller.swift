import ArgumentParser
import Foundation
import NIOCore
import NIOHTTP1

/// Two peers of calls without media, whose descriptions do for any number of them.
struct CallPeers {
    let caller: LoadPeer
    let callee: LoadPeer

    init() throws {
        let peers = try LoadPeers()
        (caller, callee) = (peers.add(), peers.add())
    }
}

/// Alice, who calls Bob, who answers, again and again: through REST and WebSocket, with real ICE and DTLS where a call
/// is connected.
struct ScriptedCaller {
    /// A call as Alice names it.
    typealias Session = String

    private static let alice = "alice@dev.local"
    private static let bob = "bob@dev.local"

    private let gateway: GatewayUnderTest
    private let client: HTTPClient
    private let alices: NotificationSocket
    private let bobs: NotificationSocket

    init(_ gateway: GatewayUnderTest) async throws {
        self.gateway = gateway
        client = try await HTTPClient(port: gateway.port)
        guard let alices = try await gateway.register(Self.alice, client),
            let bobs = try await gateway.register(Self.bob, client)
        else {
            throw ValidationError("no notification channels")
        }
        (self.alices, self.bobs) = (alices, bobs)
    }

    /// A call between two new peers, until both legs have keys.
    @discardableResult
    func connectCall(of peers: LoadPeers) async throws -> Session {
        let (caller, callee) = (peers.add(), peers.add())
        let call = try await agree(on: caller, callee)
        let toCallee = try PeerDescriptions.gateway(in: call.offer)
        callee.learn(toCallee.credentials)
        caller.learn(try PeerDescriptions.gateway(in: call.answer).credentials)
        try peers.connect([caller, callee], to: toCallee.address)
        return call.session
    }

    /// A call that is answered, and whose peers never send anything.
    func startCall(between peers: CallPeers) async throws -> Session {
        try await agree(on: peers.caller, peers.callee).session
    }

    /// Alice hangs up, and Bob has heard of it.
    func end(_ session: Session) async throws {
        let answer = try await client.request(
            .DELETE, gateway.path(Self.alice, "callControl/callSessions/\(session)"), user: Self.alice)
        guard answer.status == 200 else {
            throw ValidationError("DELETE: \(answer.status) \(String(buffer: answer.body))")
        }
        _ = try await bobs.next("callEnd")
    }

    /// The gateway's descriptions to both, once Bob has answered.
    ///
    /// - Parameter invited: is given the one to Bob before he answers.
    /// - Throws: `CallRefused` if the gateway takes no new call.
    func agree(
        on caller: LoadPeer, _ callee: LoadPeer, invited: (_ description: String) throws -> Void = { _ in }
    ) async throws -> (session: Session, offer: String, answer: String) {
        let session = try await start(offer: PeerDescriptions.audio(caller, setup: "actpass"))
        guard let invitation = try await bobs.next("call").sessionParams, let offer = invitation.sdp else {
            throw ValidationError("the call came without a description")
        }
        try invited(offer)
        try await answer(invitation.sessionData, with: PeerDescriptions.audio(callee, setup: "active"))
        guard let answer = try await alices.next("respondCallUpdate").sessionParams?.sdp else {
            throw ValidationError("the answer came without a description")
        }
        return (session, offer, answer)
    }

    private func start(offer: String) async throws -> Session {
        let request = ["type": "callStart", "from": "sip:\(Self.alice)", "to": "sip:\(Self.bob)", "sdp": offer]
        return try await client.startCall(
            gateway.path(Self.alice, "callControl"), user: Self.alice, body: try wrapped(request)
        ).session
    }

    private func answer(_ session: String, with description: String) async throws {
        let answer = try await client.request(
            .PUT, gateway.path(Self.bob, "callControl/callSessions/\(session)"), user: Self.bob,
            body: try wrapped(["type": "callAnswer", "sdp": description]))
        guard answer.status == 200 else {
            throw ValidationError("callAnswer: \(answer.status) \(String(buffer: answer.body))")
        }
    }

    private func wrapped(_ request: [String: String]) throws -> ByteBuffer {
        ByteBuffer(bytes: try JSONEncoder().encode(["callControlRequest": request]))
    }
}
