import ArgumentParser
import Foundation

/// Janus with its video call plugin, asked over a WebSocket. Each party has a session, a handle and a name of its own.
final class JanusBeside: ServerBeside {
    private struct Party {
        let session: UInt64
        let handle: UInt64
        let name: String
    }

    let process: ChildProcess
    private let folder: URL
    private let socket: JanusSocket
    private var count = 0
    /// Pairs that no call has had yet.
    private var ready: [(caller: Party, callee: Party)] = []
    private var standing: [String: (caller: Party, callee: Party)] = [:]

    /// - Parameter eventLoops: how many threads all legs share; 0: each has its own.
    init(_ binary: String, at address: String, eventLoops: Int) async throws {
        let port = try await FreePort.tcp()
        folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-janus-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let path = folder.path(percentEncoded: false)
        try Self.write(Self.settings(path, address, eventLoops), "janus.jcfg", folder)
        try Self.write(Self.transport(port), "janus.transport.websockets.jcfg", folder)
        let command = Cores.start(Cores.ofServers) + [binary, "-F", path, "-C", path + "/janus.jcfg"]
        process = try await ChildProcess(command[0], Array(command.dropFirst()), port: port)
        do { socket = try await JanusSocket(port: port) } catch {
            process.kill()
            throw error
        }
    }

    func stop() {
        process.kill()
        // What is left of a temporary folder does no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: Calls

    func prepare(_ calls: Int) async throws {
        for _ in 0..<calls {
            let (caller, callee) = (try await party(), try await party())
            ready.append((caller: caller, callee: callee))
        }
    }

    func agree(
        on caller: LoadPeer, _ callee: LoadPeer, invited: (_ description: String) throws -> Void
    ) async throws -> AgreedCall {
        guard let pair = ready.popLast() else { throw ValidationError("no party of Janus is left to call") }
        standing[pair.caller.name] = pair
        let offer = PeerDescriptions.complete(caller, setup: "active")
        try send(["request": "call", "username": pair.callee.name], (type: "offer", sdp: offer), from: pair.caller)
        let incoming = try await event("incomingcall", at: pair.callee)
        if let offer = incoming.jsep?.sdp { try invited(offer) }
        let answer = PeerDescriptions.complete(callee, setup: "active")
        try send(["request": "accept"], (type: "answer", sdp: answer), from: pair.callee)
        let accepted = try await event("accepted", at: pair.caller)
        guard let toCallee = incoming.jsep?.sdp, let toCaller = accepted.jsep?.sdp else {
            throw ValidationError("Janus: a call without descriptions")
        }
        return AgreedCall(name: pair.caller.name, toCaller: toCaller, toCallee: toCallee)
    }

    func hangUp(_ call: AgreedCall) async throws {
        guard let pair = standing.removeValue(forKey: call.name) else { return }
        try send(["request": "hangup"], from: pair.caller)
        _ = try await event("hangup", at: pair.callee)
    }

    // MARK: Parties

    private func party() async throws -> Party {
        count += 1
        let session = try await socket.make("session", ["janus": "create"])
        let handle = try await socket.make(
            "handle", ["janus": "attach", "session_id": session, "plugin": "janus.plugin.videocall"])
        let party = Party(session: session, handle: handle, name: "party\(count)")
        try send(["request": "register", "username": party.name], from: party)
        _ = try await event("registered", at: party)
        return party
    }

    private func send(
        _ body: [String: String], _ description: (type: String, sdp: String)? = nil, from party: Party
    ) throws {
        var request: [String: Any] = [
            "janus": "message", "session_id": party.session, "handle_id": party.handle, "body": body,
        ]
        if let description {
            let jsep: [String: Any] = ["type": description.type, "sdp": description.sdp, "trickle": false]
            request["jsep"] = jsep
        }
        try socket.send(request)
    }

    private func event(_ name: String, at party: Party) async throws -> JanusSocket.Message {
        try await socket.next("\(name) at \(party.name)") { $0.sender == party.handle && $0.event == name }
    }

    // MARK: Files

    private static func write(_ text: String, _ name: String, _ folder: URL) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    /// Only what takes part is loaded; everything else is as it comes.
    private static func settings(_ path: String, _ address: String, _ eventLoops: Int) -> String {
        let plugins = [
            "audiobridge", "duktape", "echotest", "lua", "nosip", "recordplay", "sip", "streaming", "textroom",
            "videoroom", "voicemail",
        ]
        let transports = ["http", "mqtt", "nanomsg", "pfunix", "rabbitmq"]
        let names = { (list: [String]) in list.map { "libjanus_\($0).so" }.joined(separator: ",") }
        return """
            general: {
                configs_folder = "\(path)"
                debug_level = 1
                session_timeout = 0
                event_loops = \(eventLoops)
            }
            media: {
                rtp_port_range = "20000-30000"
            }
            nat: {
                ice_lite = true
                ice_enforce_list = "\(address)"
            }
            plugins: {
                disable = "\(names(plugins))"
            }
            transports: {
                disable = "\(names(transports))"
            }

            """
    }

    private static func transport(_ port: Int) -> String {
        """
        general: {
            json = "compact"
            ws = true
            ws_port = \(port)
            ws_ip = "127.0.0.1"
            wss = false
        }
        admin: {
            admin_ws = false
        }

        """
    }
}
