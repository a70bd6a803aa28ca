/// The header fields of a webhook (Standard Webhooks 1.0.0), and the keys that sign it.
package enum WebhookSignature {
    /// The prefix of a key in its text form; what follows is Base64.
    package static let keyPrefix = "whsec_"
    /// The bytes of a key that the gateway makes.
    package static let keySize = 32

    /// `webhook-id`: the same however often the event is sent. It has no full stop, which separates what is signed.
    package static func name(of cursor: EventCursor) -> String { "evt_\(cursor)" }

    /// The bytes that are signed: name, time of the attempt in seconds since 1970, and content.
    package static func signedBytes(name: String, seconds: Int64, content: [UInt8]) -> [UInt8] {
        Array("\(name).\(seconds).".utf8) + content
    }

    /// The header field `webhook-signature` for codes in Base64: one for each key that is in use.
    package static func field(codes: [String]) -> String { codes.map { "v1,\($0)" }.joined(separator: " ") }

    /// What an answer means.
    ///
    /// - Parameters:
    ///   - status: of the answer. A redirect is a failure: nothing says that the other URL is meant to get events.
    ///   - delay: how long the receiver asks to wait; `nil`: it does not say.
    package static func outcome(status: Int, after delay: Duration?) -> WebhookQueue.Outcome {
        switch status {
        case 200...299: .delivered
        case 429, 503: .failed(reason: "status \(status)", after: delay)
        default: .failed(reason: "status \(status)")
        }
    }

    /// The status with which a receiver says that it wants no more events.
    package static let goneStatus = 410
}
