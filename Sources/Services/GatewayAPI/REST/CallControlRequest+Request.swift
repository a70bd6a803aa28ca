package import CallControl
import SDP

/// The translation of a request body into the request that call handling carries out.
extension CallControlRequest {
    /// Operations of the protocol that are refused. The gateway mixes conferences by itself, so it needs no `refer`
    /// (spidr-wire §8.7).
    private static let otherOperations: Set<String> = ["refer"]
    /// Operations of `POST …/callControl`.
    private static let creations: Set<String> = ["callStart", "join"]
    /// Operations of `PUT …/callSessions/{session}`.
    private static let operations: Set<String> = [
        "ringing", "callAnswer", "audit", "startCallUpdate", "respondCallUpdate", "transfer", "sendCustomHeaders",
        "updateIceCandidate",
        "acceptCallReplace", "rejectCallReplace",
    ]
    /// How many candidates one request may carry; a client has a few dozen at most.
    private static let maximumCandidates = 100
    /// The limit of one candidate line. A browser's line has some 150 bytes, and 300 with an IPv6 address and a related
    /// address.
    private static let maximumCandidateBytes = 1_024
    /// The limit of `sdpMid` and of `usernameFragment`. A username fragment has 256 characters at most (RFC 8839 §5.4).
    private static let maximumCandidateTokenBytes = 256
    /// The limit of all candidates of a request together. JSON may make the text six times as long; that still fits
    /// into the queue where notifications wait for a reader.
    private static let maximumCandidatesBytes = 65_536

    /// What a `POST …/callControl` asks for: `callStart` or `join` (spidr-wire §6.1, §8.7).
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without a domain.
    /// - Throws: `request.missing_field` or `request.invalid_value`, with the name of the field;
    ///   `call.operation_not_supported` or `call.operation_unknown` for another `type`.
    package func creation(defaultDomain: String) throws(APIError) -> CallRequest {
        switch type {
        case "callStart": .start(try callStart(defaultDomain: defaultDomain))
        case "join":
            .join(
                SessionID(try required(firstSessionData, "firstSessionData")),
                SessionID(try required(secondSessionData, "secondSessionData")),
                CallUpdateRequest(sdp: try required(sdp, "sdp"), content: try content()))
        default: throw refusal(belongsElsewhere: Self.operations, elsewhere: "PUT on the call session")
        }
    }

    /// What a `PUT …/callSessions/{session}` asks for (spidr-wire §6).
    ///
    /// - Parameters:
    ///   - session: the requester's leg, from the path.
    ///   - defaultDomain: completes names and telephone numbers without a domain.
    /// - Throws: `request.missing_field` or `request.invalid_value`, with the name of the field;
    ///   `call.operation_not_supported` or `call.operation_unknown` for another `type`.
    package func operation(on session: SessionID, defaultDomain: String) throws(APIError) -> CallRequest {
        guard type == "transfer" else { return .command(session, try command()) }
        return .transfer(
            session, to: try address(required(address, "address"), "address", defaultDomain: defaultDomain),
            consultation: sessionData.flatMap { $0.isEmpty ? nil : SessionID($0) })
    }

    private func command() throws(APIError) -> CallCommand {
        switch type {
        case "ringing": .ring
        case "callAnswer", "acceptCallReplace":
            .answer(
                CallAnswerRequest(
                    sdp: try required(sdp, "sdp"), content: try content(),
                    mediaPreferences: try wantedMedia().preferences,
                    handlesReplacement: supports("replacecall"), acceptsReplacement: type == "acceptCallReplace"))
        case "rejectCallReplace": .reject(replacement: true)
        case "audit": .audit
        case "startCallUpdate": .offer(CallUpdateRequest(sdp: sdp ?? "", content: try content()))
        case "respondCallUpdate": .respond(CallUpdateRequest(sdp: try required(sdp, "sdp"), content: try content()))
        case "updateIceCandidate": .candidates(try candidates())
        case "sendCustomHeaders": .send(try someContent())
        default:
            throw refusal(
                belongsElsewhere: Self.creations,
                elsewhere: "POST on \(envelope == Self.wrapper ? "callControl" : "callMe")")
        }
    }

    private func candidates() throws(APIError) -> [TrickledLine] {
        guard let iceCandidates else {
            throw APIError(
                .requestMissingField, "The field \"\(envelope).iceCandidates\" is missing; \"\(type)\" needs it.")
        }
        guard iceCandidates.count <= Self.maximumCandidates else {
            throw APIError(.requestInvalidValue, "One request can carry \(Self.maximumCandidates) candidates.")
        }
        for (index, candidate) in iceCandidates.enumerated() {
            try checkLength(of: candidate.candidate, Self.maximumCandidateBytes, "iceCandidates.\(index).candidate")
            try checkLength(of: candidate.sdpMid, Self.maximumCandidateTokenBytes, "iceCandidates.\(index).sdpMid")
            try checkLength(
                of: candidate.usernameFragment, Self.maximumCandidateTokenBytes,
                "iceCandidates.\(index).usernameFragment")
        }
        guard iceCandidates.reduce(0, { $0 + $1.bytes }) <= Self.maximumCandidatesBytes else {
            throw APIError(
                .requestInvalidValue,
                "The candidates of one request can have \(Self.maximumCandidatesBytes) bytes together.")
        }
        return iceCandidates.map(\.line)
    }

    private func checkLength(of text: String?, _ limit: Int, _ field: String) throws(APIError) {
        guard text?.utf8.count ?? 0 <= limit else {
            throw APIError(.requestInvalidValue, "The field \"\(envelope).\(field)\" has more than \(limit) bytes.")
        }
    }

    private func address(_ text: String, _ field: String, defaultDomain: String) throws(APIError) -> UserAddress {
        guard let address = UserAddress(parsing: text, defaultDomain: defaultDomain) else {
            throw APIError(
                .requestInvalidValue,
                "The field \"\(envelope).\(field)\" is not an address such as sip:ann@example.com.")
        }
        return address
    }

    private func callStart(defaultDomain: String) throws(APIError) -> CallStartRequest {
        let callee = try address(required(to, "to"), "to", defaultDomain: defaultDomain)
        return CallStartRequest(
            callerName: from.flatMap { NameAddress(parsing: $0, defaultDomain: defaultDomain)?.displayName },
            callee: callee,
            sdp: sdp ?? "",
            acceptsEarlyMedia: supports("earlymedia"),
            handlesReplacement: supports("replacecall"),
            content: try content(),
            mediaPreferences: try wantedMedia().preferences
        )
    }

    /// Whether the client lists a feature in `supported`; compared without case.
    private func supports(_ feature: String) -> Bool { supported?.contains { $0.lowercased() == feature } ?? false }

    /// The values of `mediaPreferences` that are ignored, one sentence each, for `warnings` in the answer. `nil`: all
    /// values count.
    ///
    /// - Throws: `request.invalid_value` if a value of `mediaPreferences` is refused.
    package func ignoredValues() throws(APIError) -> [String]? {
        let ignored = try wantedMedia().ignored
        return ignored.isEmpty ? nil : ignored
    }

    private func wantedMedia() throws(APIError) -> (preferences: MediaPreferences, ignored: [String]) {
        try mediaPreferences?.preferences(at: "\(envelope).mediaPreferences") ?? (MediaPreferences(), [])
    }

    private func required(_ value: String?, _ field: String) throws(APIError) -> String {
        guard let value, !value.isEmpty else {
            throw APIError(.requestMissingField, "The field \"\(envelope).\(field)\" is missing; \"\(type)\" needs it.")
        }
        return value
    }

    private func refusal(belongsElsewhere: Set<String>, elsewhere: String) -> APIError {
        if Self.otherOperations.contains(type) {
            APIError(.callOperationNotSupported, "The operation \"\(type)\" is not offered by this gateway.")
        } else if belongsElsewhere.contains(type) {
            APIError(.callOperationUnknown, "The operation \"\(type)\" belongs to another resource: \(elsewhere).")
        } else {
            APIError(.callOperationUnknown, "There is no operation of that name.")
        }
    }
}
