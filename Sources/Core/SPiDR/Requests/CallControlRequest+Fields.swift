import CallControl
import SDP

/// The fields of a request in the terms of call handling.
extension CallControlRequest {
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

    /// The fields of `callStart` (spidr-wire §6.1).
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without a domain.
    func callStart(defaultDomain: String) throws(RequestFault) -> CallStartRequest {
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

    /// The fields of `callAnswer` and of `acceptCallReplace` (spidr-wire §6.3, §8.8).
    func callAnswer(acceptsReplacement: Bool) throws(RequestFault) -> CallAnswerRequest {
        CallAnswerRequest(
            sdp: try required(sdp, "sdp"), content: try content(), mediaPreferences: try wantedMedia().preferences,
            handlesReplacement: supports("replacecall"), acceptsReplacement: acceptsReplacement)
    }

    /// The candidates of `updateIceCandidate`, which must be there, within limits (spidr-wire §8.10).
    func candidates() throws(RequestFault) -> [TrickledLine] {
        guard let iceCandidates else { throw .missing("\(envelope).iceCandidates", in: type) }
        guard iceCandidates.count <= Self.maximumCandidates else {
            throw .tooManyCandidates(limit: Self.maximumCandidates)
        }
        for (index, candidate) in iceCandidates.enumerated() {
            try checkLength(of: candidate.candidate, Self.maximumCandidateBytes, "iceCandidates.\(index).candidate")
            try checkLength(of: candidate.sdpMid, Self.maximumCandidateTokenBytes, "iceCandidates.\(index).sdpMid")
            try checkLength(
                of: candidate.usernameFragment, Self.maximumCandidateTokenBytes,
                "iceCandidates.\(index).usernameFragment")
        }
        guard iceCandidates.reduce(0, { $0 + $1.bytes }) <= Self.maximumCandidatesBytes else {
            throw .candidatesTooLong(limit: Self.maximumCandidatesBytes)
        }
        return iceCandidates.map(\.line)
    }

    private func checkLength(of text: String?, _ limit: Int, _ field: String) throws(RequestFault) {
        guard text?.utf8.count ?? 0 <= limit else {
            throw .unusable(field: "\(envelope).\(field)", reason: "has more than \(limit) bytes")
        }
    }

    /// The address that a text means.
    ///
    /// - Parameter field: the name of the field below the envelope, for the fault.
    func address(_ text: String, _ field: String, defaultDomain: String) throws(RequestFault) -> UserAddress {
        guard let address = UserAddress(parsing: text, defaultDomain: defaultDomain) else {
            throw .unusable(field: "\(envelope).\(field)", reason: "is not an address such as sip:ann@example.com")
        }
        return address
    }

    /// The value of a field that the operation needs.
    ///
    /// - Throws: a fault if it is missing or empty.
    func required(_ value: String?, _ field: String) throws(RequestFault) -> String {
        guard let value, !value.isEmpty else { throw .missing("\(envelope).\(field)", in: type) }
        return value
    }

    /// Whether the client lists a feature in `supported`; compared without case.
    private func supports(_ feature: String) -> Bool { supported?.contains { $0.lowercased() == feature } ?? false }

    /// The values of `mediaPreferences` that are ignored, one sentence each, for `warnings` in the answer. `nil`: all
    /// values count.
    ///
    /// - Throws: a fault if a value of `mediaPreferences` is refused.
    func ignoredValues() throws(RequestFault) -> [String]? {
        let ignored = try wantedMedia().ignored
        return ignored.isEmpty ? nil : ignored
    }

    private func wantedMedia() throws(RequestFault) -> (preferences: MediaPreferences, ignored: [String]) {
        try mediaPreferences?.preferences(at: "\(envelope).mediaPreferences") ?? (MediaPreferences(), [])
    }
}
