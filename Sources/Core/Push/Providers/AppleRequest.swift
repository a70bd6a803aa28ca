internal import Primitives

/// Requests to Apple's push service and its answers ("Sending notification requests to APNs", "Handling notification
/// responses from APNs").
package enum ApplePush {
    /// The most bytes of a VoIP push.
    package static let voipLimit = 5_120
    /// The most bytes of another push.
    package static let standardLimit = 4_096

    /// What the service is asked to do for a push.
    ///
    /// A call, and its end, is a VoIP push to the topic of the app with `.voip`; everything else goes to the standard
    /// token.
    ///
    /// - Throws: `noToken` if the device has none for it; `tooLarge` if no form of the message fits.
    package static func request(
        for message: PushMessage, to tokens: PushRegistration.AppleTokens, bundleID: String
    ) throws(PushFailure) -> ProviderRequest {
        let isCall = message.call != nil
        guard let token = isCall ? tokens.voip : tokens.standard else {
            throw .noToken(isCall ? .voip : .standard)
        }
        let (type, priority) = delivery(of: message.kind)
        let fitted = try ProviderRequest.fitting(message, limit: isCall ? voipLimit : standardLimit) { form in
            let content = payload(message, form)
            return (content, content.count)
        }
        var fields: [(name: String, value: String)] = [
            ("apns-topic", isCall ? bundleID + ".voip" : bundleID), ("apns-push-type", type),
            ("apns-priority", priority), ("apns-expiration", String(max(1, (message.expires + 999) / 1_000))),
            ("apns-id", message.id.text), ("content-type", "application/json"),
        ]
        if let key = message.collapseKey(limit: 64) { fields.append(("apns-collapse-id", key)) }
        return ProviderRequest(
            path: "/3/device/" + token.value, fields: fields, content: fitted.content, form: fitted.form)
    }

    /// The type and the priority of a push. A background push must have 5.
    private static func delivery(of kind: PushMessage.Kind) -> (type: String, priority: String) {
        switch kind {
        case .call, .callOver: ("voip", "10")
        case .notification: ("alert", "10")
        case .silent, .refresh: ("background", "5")
        }
    }

    private static func payload(_ message: PushMessage, _ form: String?) -> [UInt8] {
        var json = JSONBytes(reserving: 512 + (form?.utf8.count ?? 0))
        json.object { payload in
            payload.object("aps") { aps in
                switch message.kind {
                case .call, .callOver, .silent, .refresh: aps.number("content-available", 1)
                case .notification(let alert):
                    aps.object("alert") { text in
                        text.text("title", alert.title)
                        text.text("body", alert.body)
                    }
                    aps.text("sound", "default")
                }
            }
            if let call = message.call { payload.object("call") { $0.callMembers(of: message, call) } }
            if let form { payload.json("notificationMessage", form.utf8) }
        }
        return json.bytes
    }

    /// What an answer means.
    ///
    /// - Parameters:
    ///   - status: the status of the response.
    ///   - reason: the member `reason` of its content.
    ///   - since: the member `timestamp`: since when the token is of no use, in milliseconds since 1970.
    ///   - name: the header field `apns-id`.
    ///   - delay: the header field `Retry-After`.
    package static func verdict(
        status: Int, reason: String?, since: UInt64? = nil, name: String? = nil, after delay: Duration? = nil
    ) -> PushVerdict {
        if status == 200 { return .delivered(as: name) }
        let word = PushVerdict.printable(reason) ?? "status \(status)"
        switch reason {
        case "BadDeviceToken", "Unregistered", "ExpiredToken":
            return .registrationDead(reason: word, since: since)
        // An operator's mistake has the same answer for every device, so that no registration ends with it.
        case "DeviceTokenNotForTopic": return .refused(status: status, reason: "\(word) (\(topicAdvice))")
        // The key of an invalid one may have been replaced; a new one is tried once.
        case "ExpiredProviderToken", "InvalidProviderToken": return .credentialExpired(reason: word)
        // The service ends connections that were quiet; the push itself is well.
        case "IdleTimeout", "TooManyRequests", "TooManyProviderTokenUpdates", "InternalServerError",
            "ServiceUnavailable", "Shutdown":
            return .retry(reason: word, after: delay)
        default:
            // A reason that is new is judged by the status.
            switch status {
            case 410: return .registrationDead(reason: word, since: since)
            case 429, 500...599: return .retry(reason: word, after: delay)
            default: return .refused(status: status, reason: word)
            }
        }
    }

    /// What to look at if a token is not one of the app.
    package static let topicAdvice =
        "the token is another app's, or the key another team's: check bundleID of the registration, and push.apple_team "
        + "or the app's file in push.applications_folder"
}
