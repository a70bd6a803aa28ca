import ArgumentParser
import Foundation
import NIOCore

/// A WebSocket to Janus, over which any number of sessions are held. It is used by one task.
final class JanusSocket {
    /// What Janus says; only what is looked at.
    struct Message: Decodable, Sendable {
        struct Named: Decodable, Sendable { var id: UInt64 }
        struct Description: Decodable, Sendable { var sdp: String }
        struct Fault: Decodable, Sendable { var reason: String }
        struct Plugin: Decodable, Sendable {
            struct Content: Decodable, Sendable {
                struct Result: Decodable, Sendable { var event: String? }
                var result: Result?
                var error: String?
            }
            var data: Content
        }
        var janus: String
        var transaction: String?
        /// The handle that an event comes from.
        var sender: UInt64?
        var data: Named?
        var plugindata: Plugin?
        var jsep: Description?
        var error: Fault?

        /// What the plugin reports.
        var event: String? { plugindata?.data.result?.event }
    }

    private let socket: TextSocket
    private var count = 0

    init(port: Int) async throws {
        socket = try await TextSocket(port: port, path: "/", subprotocol: "janus-protocol")
    }

    /// Sends a request under a transaction of its own, which is returned.
    @discardableResult
    func send(_ request: [String: Any]) throws -> String {
        count += 1
        let transaction = "t\(count)"
        let body = try JSONSerialization.data(withJSONObject: request.merging(["transaction": transaction]) { $1 })
        socket.send(ByteBuffer(bytes: body))
        return transaction
    }

    /// The next message of this kind; what comes before it is passed over.
    ///
    /// - Throws: `ValidationError` if Janus says that something is wrong, or if nothing comes for 30 seconds.
    func next(_ what: String, _ isWanted: (Message) -> Bool) async throws -> Message {
        let wanted = try await socket.first { text -> Message? in
            let message = try JSONDecoder().decode(Message.self, from: Data(text.readableBytesView))
            if let reason = message.error?.reason ?? message.plugindata?.data.error {
                throw ValidationError("Janus, instead of \(what): \(reason)")
            }
            return isWanted(message) ? message : nil
        }
        guard let wanted else {
            throw ValidationError("Janus: no \(what) in 30 seconds, or the channel was closed")
        }
        return wanted
    }

    /// Asks for something that is made at once, and returns its id.
    func make(_ what: String, _ request: [String: Any]) async throws -> UInt64 {
        let transaction = try send(request)
        let answer = try await next(what) { $0.transaction == transaction && $0.janus == "success" }
        guard let id = answer.data?.id else { throw ValidationError("Janus: \(what) without an id") }
        return id
    }

    func close() async { await socket.close() }
}
