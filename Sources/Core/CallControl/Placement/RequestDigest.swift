import Primitives

/// The identity of a request that starts a call, by which a repetition is recognised: the client or its HTTP library
/// sends the request again if there is no answer. No two WebRTC descriptions are equal, because each has ICE
/// credentials of its own (RFC 8839 §5.4).
package struct RequestDigest: Hashable, Sendable {
    private var digest = FowlerNollVo()

    /// Makes `nil` if the description has no such credentials. Without any description, the request is identified by
    /// its device, the callee and the content, which is sufficient until the call is answered (`Call.isRepeated(by:)`).
    package init?(_ request: CallStartRequest) {
        guard request.sdp.isEmpty else {
            guard combine(["start", request.callee.text], description: request.sdp) else { return nil }
            return
        }
        combine(request.callee.text)
        combine(request.callerName)
        combine(request.device?.rawValue)
        for parameter in request.content.parameters {
            combine(parameter.name)
            combine(parameter.value)
        }
        for body in request.content.bodies {
            combine(body.contentType)
            combine(body.contentDisposition)
            combine(body.body)
        }
    }

    /// The identity of a request to join two calls; `nil` if its description has no ICE credentials.
    package init?(joining first: SessionID, _ second: SessionID, _ request: CallUpdateRequest) {
        guard combine(["join", first.rawValue, second.rawValue], description: request.sdp) else { return nil }
    }

    /// - Returns: whether there are ICE credentials in the description.
    private mutating func combine(_ names: [String], description: String) -> Bool {
        for name in names { combine(name) }
        combine(description)
        return description.contains("a=ice-pwd:")
    }

    /// Adds a text, separated from the next one.
    private mutating func combine(_ text: String?) {
        digest.combine(text == nil ? 0 : 1)
        digest.combine((text ?? "")[...])
        // A byte that does not occur in UTF-8.
        digest.combine(UInt8.max)
    }
}
