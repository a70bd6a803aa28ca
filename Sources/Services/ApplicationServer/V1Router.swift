package import GatewayAPI
package import HTTPTypes

/// Gives the requests below `/v1/` to the part of the interface that their path belongs to.
package struct V1Router: V1Interface {
    private let parts: [(prefix: String, part: any V1Interface)]

    /// Makes a router.
    ///
    /// - Parameter parts: the parts by the start of their paths, such as `/v1/calls`.
    package init(_ parts: [(prefix: String, part: any V1Interface)]) { self.parts = parts }

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
