/// What can be wrong with the form of a request, whichever interface it is for. Each interface has codes of its own for
/// it, by the same names.
package enum RequestProblem: String, CaseIterable, Sendable {
    /// The path or the query cannot be read.
    case malformed = "request.malformed"
    /// A parameter of the query is not known, or has a value that cannot be used.
    case invalidParameter = "request.invalid_parameter"
    /// The request needs a body and has none.
    case bodyMissing = "request.body_missing"
    /// The body is not a JSON object.
    case malformedJSON = "request.malformed_json"
    /// A field of the body is missing.
    case missingField = "request.missing_field"
    /// A field of the body is not known, or has a value that cannot be used.
    case invalidValue = "request.invalid_value"
    /// The idempotency key is no text of 1 to 255 visible characters.
    case keyInvalid = "idempotency.key_invalid"
}

/// The errors of one interface. What reads requests for several interfaces throws the errors of the one that asks.
package protocol RequestRefusal: Error, Equatable, Sendable {
    /// Makes the refusal of a request that cannot be read.
    ///
    /// - Parameter detail: a sentence for people that says what is wrong.
    init(_ problem: RequestProblem, _ detail: String)
}
