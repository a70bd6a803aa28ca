import CallRuntime
import EventAPI
import Foundation
import Primitives

/// Who is sent events, as requests need it.
struct WebhookReceiver: Sendable {
    /// Where events are sent.
    let url: String
    /// The keys that sign them, in bytes; the newest first. One whose text is no Base64 is left out.
    let keys: Redacted<[[UInt8]]>

    init(_ webhook: Webhook) {
        url = webhook.url
        keys = Redacted(
            webhook.keys.value.compactMap { text -> [UInt8]? in
                Data(base64Encoded: String(text.dropFirst(WebhookSignature.keyPrefix.count))).map(Array.init)
            })
    }
}
