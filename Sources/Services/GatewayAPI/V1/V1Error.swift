import Primitives

/// A refusal on `/v1`: a problem (RFC 9457) with a code for programs.
package struct V1Error: Error, Equatable, Sendable {
    /// What was refused and why, for programs.
    package var code: V1ErrorCode
    /// A sentence for people that says what is wrong.
    package var detail: String
    /// How long the caller waits before the request can succeed; `nil`: waiting does not help.
    package var retryAfter: Duration?
    /// The call as it is, where its state or version is the reason; `nil`: it is not.
    package var call: V1Call?

    /// Makes a refusal of its parts; each parameter is the property of that name.
    package init(_ code: V1ErrorCode, _ detail: String, retryAfter: Duration? = nil, call: V1Call? = nil) {
        self.code = code
        self.detail = detail
        self.retryAfter = retryAfter
        self.call = call
    }

    /// The refusal by the part of the gateway that checks the credentials of users.
    package init(_ error: APIError) {
        // Every code for which credentials are refused is one here as well.
        self.init(
            V1ErrorCode(rawValue: error.code.rawValue) ?? .authInvalidToken, error.reason,
            retryAfter: error.retryAfter)
    }

    /// The body of the answer.
    package var body: [UInt8] {
        WireJSON.encode(
            V1Problem(
                problem: ProblemBody(
                    status: code.httpStatus, code: code.rawValue, detail: detail, retryAfter: retryAfter, line: nil),
                state: call?.state, allowed: call?.allowed, call: call))
    }

    /// ``retryAfter`` for the `Retry-After` header: whole seconds, rounded up, at least one.
    package var retryAfterSeconds: Int64? {
        retryAfter.map { max(1, ($0.components.attoseconds > 0 ? 1 : 0) + $0.components.seconds) }
    }
}

extension V1Error: RequestRefusal {
    /// Makes the refusal of a request that cannot be read.
    package init(_ problem: RequestProblem, _ detail: String) {
        let code: V1ErrorCode =
            switch problem {
            case .malformed: .requestMalformed
            case .invalidParameter: .requestInvalidParameter
            case .bodyMissing: .requestBodyMissing
            case .malformedJSON: .requestMalformedJSON
            case .missingField: .requestMissingField
            case .invalidValue: .requestInvalidValue
            case .keyInvalid: .idempotencyKeyInvalid
            }
        self.init(code, detail)
    }
}

/// The body of a refusal: a problem with the call as it is.
private struct V1Problem: Encodable {
    let problem: ProblemBody
    let state: String?
    let allowed: [String]?
    let call: V1Call?

    private enum CodingKeys: CodingKey { case state, allowed, call }

    func encode(to encoder: any Encoder) throws {
        try problem.encode(to: encoder)
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encodeIfPresent(state, forKey: .state)
        try container.encodeIfPresent(allowed, forKey: .allowed)
        try container.encodeIfPresent(call, forKey: .call)
    }
}
