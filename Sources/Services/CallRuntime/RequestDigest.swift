import CallControl

/// A request that begins a call, as far as it takes to know it again when it comes twice: its client, or the HTTP library of its client,
/// asks once more when there is no answer. No two descriptions of WebRTC are alike, for each has credentials of its own (RFC 8839 §5.4).
struct RequestDigest: Equatable, Sendable {
    private let value: Int

    /// `nil` if there are no such credentials in the description. Without any description it is the device, whom it calls and what it
    /// says along, which tells as long as nobody has answered (`Call.isBegun`).
    init?(_ request: CallStartRequest) {
        guard request.sdp.isEmpty else {
            self.init(["start", request.callee.text], request.sdp)
            return
        }
        var hasher = Hasher()
        hasher.combine(request.callee)
        hasher.combine(request.callerName)
        hasher.combine(request.content)
        hasher.combine(request.device)
        self.init(value: hasher.finalize())
    }

    init?(joining first: SessionID, _ second: SessionID, _ request: CallUpdateRequest) {
        self.init(["join", first.rawValue, second.rawValue], request.sdp)
    }

    private init?(_ names: [String], _ description: String) {
        guard description.contains("a=ice-pwd:") else { return nil }
        self.init(value: (names + [description]).hashValue)
    }

    private init(value: Int) { self.value = value }
}
