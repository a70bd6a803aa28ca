import Foundation

extension APIError {
    /// The refusal of a request body that cannot be read.
    ///
    /// The reason names the field by its path, such as `callControlRequest.iceCandidates.0.candidate`. A missing or
    /// null field is `request.missing_field`. A wrong type or an unusable value is `request.invalid_value`. A body that
    /// is not JSON is `request.malformed_json`.
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

    /// The field at fault as the subject of a sentence; the whole body if the path is empty.
    private static func subject(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "The body" : "The field \"\(self.path(path))\""
    }

    /// The path with dots between its keys; an element of an array is its index, from 0.
    private static func path(_ path: [any CodingKey]) -> String {
        path.map { key in key.intValue.map(String.init) ?? key.stringValue }.joined(separator: ".")
    }
}
