package import GatewayAPI
package import HTTPTypes

/// Gives the requests below `/v1/` to the part of the interface that their path belongs to.
package struct V1Router: V1Interface, V1Sockets {
    private let parts: [(prefix: String, part: any V1Interface)]
    private let sockets: [any V1Sockets]

    /// Makes a router.
    ///
    /// - Parameters:
    ///   - parts: the parts by the start of their paths, such as `/v1/calls`.
    ///   - sockets: what serves WebSockets.
    package init(_ parts: [(prefix: String, part: any V1Interface)], sockets: [any V1Sockets] = []) {
        self.parts = parts
        self.sockets = sockets
    }

    /// Whether there are WebSockets at a path.
    package func servesSockets(at path: String) -> Bool { sockets.contains { $0.servesSockets(at: path) } }

    /// What a socket carries.
    ///
    /// - Throws: the refusal, before there is a socket.
    package func open(_ request: V1Request) async throws(V1Error) -> V1Socket {
        guard let server = sockets.first(where: { $0.servesSockets(at: request.path) }) else {
            throw V1Error(.resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is.")
        }
        return try await server.open(request)
    }

    /// The methods that are possible at a path.
    package func methods(at path: String) -> [HTTPRequest.Method] { part(of: path)?.methods(at: path) ?? [] }

    /// Answers a request.
    package func answer(_ request: V1Request) async -> V1Answer {
        guard let part = part(of: request.path) else {
            return .refusal(
                V1Error(.resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is."))
        }
        return await part.answer(request)
    }

    /// Ends all streams.
    package func finish() {
        for (_, part) in parts { part.finish() }
    }

    private func part(of path: String) -> (any V1Interface)? {
        parts.first { path == $0.prefix || path.hasPrefix($0.prefix + "/") }?.part
    }
}
