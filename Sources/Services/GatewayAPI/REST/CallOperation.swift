package import CallControl

/// What a `POST …/callControl` asks for.
package enum CallCreation: Equatable, Sendable {
    case start(CallStartRequest)
}

/// What a `PUT …/callSessions/{id}` asks for.
package enum CallOperation: Equatable, Sendable {
    case ringing
    case answer(CallAnswerRequest)
    case audit
}

extension CallControlRequest {
    /// Operations of the protocol that this gateway does not carry out (spidr-wire §8).
    private static let otherOperations: Set<String> = [
        "startCallUpdate", "respondCallUpdate", "transfer", "sendCustomHeaders", "updateIceCandidate", "acceptCallReplace",
        "rejectCallReplace", "refer",
    ]
    private static let creations: Set<String> = ["callStart", "join"]
    private static let operations: Set<String> = ["ringing", "callAnswer", "audit"]

    /// - Parameter defaultDomain: completes names and telephone numbers without one.
    package func creation(defaultDomain: String) throws(APIError) -> CallCreation {
        switch type {
        case "callStart": .start(try callStart(defaultDomain: defaultDomain))
        default: throw refusal(belongsElsewhere: Self.operations, elsewhere: "PUT on the call session")
        }
    }

    package func operation() throws(APIError) -> CallOperation {
        switch type {
        case "ringing": .ringing
        case "callAnswer":
            .answer(CallAnswerRequest(sdp: try required(sdp, "sdp"), customParameters: parameters))
        case "audit": .audit
        default: throw refusal(belongsElsewhere: Self.creations, elsewhere: "POST on callControl")
        }
    }

    private func callStart(defaultDomain: String) throws(APIError) -> CallStartRequest {
        let callee = try required(to, "to")
        guard let address = UserAddress(parsing: callee, defaultDomain: defaultDomain) else {
            throw APIError(.requestInvalidValue, "The field \"callControlRequest.to\" is not an address such as sip:ann@example.com.")
        }
        return CallStartRequest(
            callerName: from.flatMap { NameAddress(parsing: $0, defaultDomain: defaultDomain)?.displayName },
            callee: address,
            sdp: try required(sdp, "sdp"),
            acceptsEarlyMedia: supported?.contains { $0.lowercased() == "earlymedia" } ?? false,
            customParameters: parameters
        )
    }

    private var parameters: [CustomParameter] {
        (customParameters ?? []).map { CustomParameter(name: $0.name, value: $0.value) }
    }

    private func required(_ value: String?, _ field: String) throws(APIError) -> String {
        guard let value, !value.isEmpty else {
            throw APIError(.requestMissingField, "The field \"callControlRequest.\(field)\" is missing; \"\(type)\" needs it.")
        }
        return value
    }

    private func refusal(belongsElsewhere: Set<String>, elsewhere: String) -> APIError {
        if Self.otherOperations.contains(type) || type == "join" {
            APIError(.callOperationNotSupported, "The operation \"\(type)\" is not offered by this gateway.")
        } else if belongsElsewhere.contains(type) {
            APIError(.callOperationUnknown, "The operation \"\(type)\" belongs to another resource: \(elsewhere).")
        } else {
            APIError(.callOperationUnknown, "There is no operation of that name.")
        }
    }
}
