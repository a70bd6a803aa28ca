/// What a provider is sent for one push, without the credential of the gateway.
package struct ProviderRequest: Hashable, Sendable {
    /// The path of the request; `nil` for a webhook, whose URL the registration has.
    package var path: String?
    /// Header fields: names in small letters, and values.
    package var fields: [(name: String, value: String)]
    /// The content, JSON.
    package var content: [UInt8]
    /// Which of the message's forms it has, from 0; `nil`: it has no `notificationMessage`.
    package var form: Int?

    /// Whether two requests are the same.
    package static func == (a: Self, b: Self) -> Bool {
        a.path == b.path && a.content == b.content && a.form == b.form && a.fields.elementsEqual(b.fields, by: ==)
    }

    /// Mixes the content, which tells requests apart.
    package func hash(into hasher: inout Hasher) { hasher.combine(content) }

    /// Takes the first form of a message for which `make` returns a content within a limit.
    ///
    /// - Parameters:
    ///   - size: the size of a content that counts; the number of its bytes unless given.
    /// - Throws: `tooLarge` if all forms are too large.
    static func fitting(
        _ message: PushMessage, limit: Int, make: (String?) -> (content: [UInt8], size: Int)
    ) throws(PushFailure) -> (content: [UInt8], form: Int?) {
        guard !message.forms.isEmpty else {
            let made = make(nil)
            guard made.size <= limit else { throw .tooLarge(bytes: made.size, limit: limit) }
            return (made.content, nil)
        }
        var least = Int.max
        for (index, form) in message.forms.enumerated() {
            // What is too large by itself need not be put together.
            guard form.utf8.count <= limit else {
                least = min(least, form.utf8.count)
                continue
            }
            let made = make(form)
            if made.size <= limit { return (made.content, index) }
            least = min(least, made.size)
        }
        throw .tooLarge(bytes: least, limit: limit)
    }
}

extension JSONBytes {
    /// Adds what a device needs to show a call, in CallKit's words.
    mutating func callMembers(of message: PushMessage, _ call: PushedCall) {
        text("uuid", call.uuid.text)
        text("sessionData", call.session)
        text("callerName", call.callerName)
        object("handle") { handle in
            handle.text("type", call.handleType)
            handle.text("value", call.callerNumber)
        }
        truth("hasVideo", call.hasVideo)
        number("expires", message.expires / 1_000)
        switch message.kind {
        case .callOver(_, let ending):
            text("state", "ended")
            text("endedReason", ending.rawValue)
        case .call, .notification, .silent, .refresh: text("state", "ringing")
        }
    }
}
