package import CallControl
import Registration

/// Why the body of a request was read, but cannot be carried out.
package enum RequestFault: Error, Equatable {
    /// A field is missing or empty; of several fields, one would do.
    ///
    /// - Parameters:
    ///   - fields: the paths of the fields in the body, such as `callControlRequest.sdp`.
    ///   - reason: who needs the field, or what for.
    case missing(fields: [String], reason: String)
    /// A field has a value that cannot be used.
    ///
    /// - Parameters:
    ///   - field: the path of the field in the body.
    ///   - reason: what is wrong, as the end of a sentence that starts with the field.
    case unusable(field: String, reason: String)
    /// There are more candidates than one request may carry.
    case tooManyCandidates(limit: Int)
    /// The candidates have more bytes than those of one request may have together.
    case candidatesTooLong(limit: Int)
    /// The protocol has the operation, this gateway does not.
    case operationNotOffered(String)
    /// The operation is one of another resource, which `place` names.
    case operationOfAnotherResource(String, place: String)
    /// The protocol has no such operation.
    case unknownOperation
    /// A subscription asks for notifications over something else than a WebSocket.
    case unsupportedNotificationType(String)
    /// The life time that a subscription asks for is out of range.
    case invalidExpiry(limit: Int)
    /// A message has more bytes than a message may have.
    case messageTooLong(limit: Int)
    /// There are no events of this kind.
    case unknownPackage(String)
    /// Call handling refuses the request, whatever the state of its call.
    case refused(CallError)

    /// A field that an operation needs is missing or empty.
    static func missing(_ field: String, in operation: String) -> RequestFault {
        .missing(fields: [field], reason: "\"\(operation)\" needs it")
    }

    /// The `reason` of the answer (spidr-wire §1.4): a sentence for developers of clients.
    package var sentence: String {
        switch self {
        case .missing(let fields, let reason):
            "The field \(fields.map { "\"\($0)\"" }.joined(separator: " or ")) is missing; \(reason)."
        case .unusable(let field, let reason): "The field \"\(field)\" \(reason)."
        case .tooManyCandidates(let limit): "One request can carry \(limit) candidates."
        case .candidatesTooLong(let limit): "The candidates of one request can have \(limit) bytes together."
        case .operationNotOffered(let operation): "The operation \"\(operation)\" is not offered by this gateway."
        case .operationOfAnotherResource(let operation, let place):
            "The operation \"\(operation)\" belongs to another resource: \(place)."
        case .unknownOperation: "There is no operation of that name."
        case .unsupportedNotificationType(let type):
            "Notifications of the type \"\(type)\" are not offered; use \"WebSocket\" or \"LongPolling\"."
        case .invalidExpiry(let limit): "\"expires\" must be between 1 and \(limit) seconds."
        case .messageTooLong(let limit): "The field \"imRequest.message\" is longer than \(limit) bytes."
        case .unknownPackage(let name):
            "There are no events of the type \"\(name)\"; use \(EventPackage.allCases.map { "\"\($0.word)\"" }.joined(separator: " or "))."
        case .refused(let error): error.sentence
        }
    }
}
