/// Requests to an application's own push service and its answers (Standard Webhooks 1.0.0).
package enum WebhookPush {
    /// The most bytes of a content, which is what the specification recommends.
    package static let contentLimit = 20_000

    /// What the service is asked to do for a push, without its signature.
    ///
    /// - Throws: `tooLarge` if no form of the message fits.
    package static func request(for message: PushMessage, to registration: PushRegistration) throws(PushFailure)
        -> ProviderRequest
    {
        let fitted = try ProviderRequest.fitting(message, limit: contentLimit) { form in
            let content = content(message, registration, form)
            return (content, content.count)
        }
        return ProviderRequest(
            path: nil, fields: [("content-type", "application/json"), ("webhook-id", name(of: message))],
            content: fitted.content, form: fitted.form)
    }

    /// `webhook-id`: the same however often the push is sent. It has no full stop, which separates what is signed.
    package static func name(of message: PushMessage) -> String { "msg_" + message.id.text }

    private static func content(_ message: PushMessage, _ registration: PushRegistration, _ form: String?) -> [UInt8] {
        var json = JSONBytes(reserving: 1_024 + (form?.utf8.count ?? 0))
        json.object { root in
            root.text("type", type(of: message.kind))
            root.text("timestamp", UTCTime(milliseconds: message.time).text)
            root.object("data") { data in
                data.text("registration", registration.id)
                data.text("user", registration.user)
                data.text("bundleID", registration.bundleID)
                data.text("realm", registration.realm)
                if let correlator = registration.clientCorrelator { data.text("clientCorrelator", correlator) }
                data.text("expires", UTCTime(milliseconds: message.expires).text)
                if let call = message.call { data.object("call") { $0.callMembers(of: message, call) } }
                if case .notification(let alert) = message.kind {
                    data.object("alert") { text in
                        text.text("title", alert.title)
                        text.text("body", alert.body)
                    }
                }
                if let form { data.json("notificationMessage", form.utf8) }
            }
        }
        return json.bytes
    }

    private static func type(of kind: PushMessage.Kind) -> String {
        switch kind {
        case .call: "push.call"
        case .callOver: "push.call_over"
        case .notification: "push.notification"
        case .silent: "push.silent"
        case .refresh: "push.refresh"
        }
    }

    /// What an answer means. A redirect is refused: nothing says that the other URL is meant to get pushes.
    package static func verdict(status: Int, after delay: Duration? = nil) -> PushVerdict {
        switch status {
        case 200...299: .delivered(name: nil)
        case 410: .registrationDead(reason: "status 410", since: nil)
        case 408, 425, 429, 500...599: .retry(reason: "status \(status)", after: delay)
        default: .refused(status: status, reason: "status \(status)")
        }
    }

    // MARK: Signature

    /// The prefix of a key in its text form.
    package static let keyPrefix = "whsec_"
    /// The bytes that a key may have.
    package static let keySizes = 24...64

    /// The bytes that are signed: name, time of the attempt in seconds since 1970, and content.
    package static func signedBytes(name: String, seconds: UInt64, content: [UInt8]) -> [UInt8] {
        Array("\(name).\(seconds).".utf8) + content
    }

    /// The header field `webhook-signature` for codes in Base64: one for each key that is in use.
    package static func signature(codes: [String]) -> String { codes.map { "v1,\($0)" }.joined(separator: " ") }
}

/// A time of the day in UTC, as RFC 3339 writes it.
struct UTCTime {
    let milliseconds: UInt64

    /// Such as `2022-11-03T20:26:10.344Z`.
    var text: String {
        let seconds = milliseconds / 1_000
        let (year, month, day) = Self.date(daysSince1970: seconds / 86_400)
        let padded = { (number: UInt64, width: Int) in
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        let time = [seconds / 3_600 % 24, seconds / 60 % 60, seconds % 60].map { padded($0, 2) }.joined(separator: ":")
        return "\(date)T\(time).\(padded(milliseconds % 1_000, 3))Z"
    }

    /// The date of the Gregorian calendar. A year is counted from March, so that the day that leap years have is its
    /// last one; 400 years have 146,097 days.
    private static func date(daysSince1970 days: UInt64) -> (year: UInt64, month: UInt64, day: UInt64) {
        let shifted = days + 719_468  // since March 1 of the year 0
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * monthFromMarch + 2) / 5 + 1)
    }
}
