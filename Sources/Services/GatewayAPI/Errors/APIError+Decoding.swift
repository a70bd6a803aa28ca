import Foundation

extension APIError {
    /// Says which field of a request body could not be read, and why.
    package init(_ error: DecodingError) {
        self =
            switch error {
            case .keyNotFound(let key, let context):
                APIError(.requestMissingField, "The field \"\(Self.path(context.codingPath + [key]))\" is missing.")
            case .valueNotFound(_, let context):
                APIError(.requestMissingField, "The field \"\(Self.path(context.codingPath))\" must not be null.")
            case .typeMismatch(_, let context):
                APIError(.requestInvalidValue, "\(Self.subject(context.codingPath)) has the wrong type.")
            case .dataCorrupted(let context) where context.codingPath.isEmpty:
                APIError(.requestMalformedJSON, "The body is not valid JSON.")
            case .dataCorrupted(let context):
                APIError(
                    .requestInvalidValue,
                    "\(Self.subject(context.codingPath)) cannot be used: \(context.debugDescription)")
            @unknown default:
                APIError(.requestMalformedJSON, "The body cannot be read.")
            }
    }

    private static func subject(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "The body" : "The field \"\(self.path(path))\""
    }

    private static func path(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map(String.init) ?? key.stringValue }.joined(separator: ".")
    }
}
