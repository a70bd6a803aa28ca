import AudioStreams
import CallControl
import CallRuntime
package import GatewayAPI
import HTTPTypes

/// The WebSockets that carry the audio of calls (docs/bots.md, *Audio streams*).
extension CallResponder: V1Sockets {
    /// Whether a WebSocket is at a path: the stream of a call.
    package func servesSockets(at path: String) -> Bool {
        V1Route(parsing: path)?.operations.contains(.streamCall) == true
    }

    /// Opens the stream of a call.
    ///
    /// - Throws: the refusal, before there is a socket.
    package func open(_ request: V1Request) async throws(V1Error) -> V1Socket {
        guard let route = V1Route(parsing: request.path), route.operations.contains(.streamCall) else {
            throw V1Error(.resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is.")
        }
        let call = try await read(request, route.id, .streamCall)
        let terms = try StreamTerms(reading: call.parameters)
        let link = StreamLink()
        let stream = try await asking { () async throws(ApplicationRefusal) in
            try await calls.open(link, terms, in: call.session, by: call.application)
        }
        let offered = request.headers[.secWebSocketProtocol] ?? ""
        let subprotocol = terms.dialect.subprotocol.flatMap { name in
            offered.split(separator: ",").contains { $0.filter { $0 != " " } == name } ? name : nil
        }
        return .stream(
            CallStream(link: link, subprotocol: subprotocol) { [calls] loss in
                await calls.closed(stream, in: call.session, by: call.application, because: loss)
            })
    }

    /// Has the gateway open the stream of a call, or end it.
    func connectStream(_ call: Call) async throws(V1Error) -> V1Answer {
        let request = try StreamRequest(reading: call.body, otherwise: call.streamURL).tracing(call.trace)
        let after = try await asking { () async throws(ApplicationRefusal) in
            try await calls.stream(request, in: call.session, by: call.application, expecting: call.version)
        }
        return .call(after)
    }

    /// The refusal of a request for a stream that does not ask for a WebSocket. What else is wrong with it comes first.
    func withoutUpgrade(_ call: Call) async throws(V1Error) -> V1Error {
        _ = try StreamTerms(reading: call.parameters)
        _ = try await asking { () async throws(ApplicationRefusal) in
            try await calls.call(call.session, of: call.application)
        }
        return V1Error(
            .requestUpgradeRequired, "A stream is a WebSocket: ask with an opening handshake (RFC 6455 §4.1).")
    }
}

/// The stream of one call, as its socket sees it.
private struct CallStream: V1Stream {
    let link: StreamLink
    let subprotocol: String?
    /// Tells that the socket is gone, and what that means for the stream.
    let closed: @Sendable (StreamLoss) async -> Void

    func connected(waking wake: @escaping @Sendable () -> Void) { link.connect(waking: wake) }

    func receive(_ frame: StreamFrame) -> Bool { link.receive(frame) }

    func take() -> V1StreamOutput {
        let taken = link.takeOutward()
        return V1StreamOutput(
            frames: taken.frames, end: taken.end.map { .init($0) }, isOverfull: taken.isOverfull,
            mayRead: taken.mayRead)
    }

    func closing(with code: Int) { link.close(with: code) }

    func disconnected() {
        link.disconnect { [link, closed] in
            let loss = link.loss
            Task { await closed(loss) }
        }
    }
}

extension V1StreamOutput.End {
    /// The end of a socket for that of its stream.
    fileprivate init(_ end: StreamEnd) {
        switch end {
        case .callEnded, .stopped, .byBot, .replaced: self.init(words: end.rawValue, isViolation: false)
        case .shutdown: self.init(words: end.rawValue, isViolation: false)
        case .faults, .unreachable: self.init(words: end.rawValue, isViolation: true)
        }
    }
}

extension StreamRequest {
    /// The same, whose stream is part of a trace; `nil`: of that of its call.
    fileprivate func tracing(_ trace: TraceContext?) -> StreamRequest {
        guard case .connect(var order) = self else { return self }
        order.trace = trace
        return .connect(order)
    }
}

extension HTTPField.Name {
    /// The subprotocols that a client of a WebSocket offers (RFC 6455 §11.3.4).
    fileprivate static let secWebSocketProtocol = Self("Sec-WebSocket-Protocol")!
}
