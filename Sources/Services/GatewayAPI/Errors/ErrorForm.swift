/// How the body of a refusal is written.
package enum ErrorForm: Hashable, Sendable {
    /// As clients of the protocol read it: see ``ErrorBody``.
    case wrapped(ErrorWrapper)
    /// For resources outside the client protocol: see ``ProblemBody``.
    case problem

    /// The media type of the body, for the header `Content-Type`.
    package var contentType: String {
        switch self {
        case .wrapped: "application/json"
        case .problem: "application/problem+json"
        }
    }
}

extension APIError {
    /// The body of the answer as JSON bytes, in the form that the resource needs.
    package func encoded(in form: ErrorForm) -> [UInt8] {
        switch form {
        case .wrapped(let wrapper): WireJSON.encode(body(in: wrapper))
        case .problem: WireJSON.encode(ProblemBody(self))
        }
    }
}
