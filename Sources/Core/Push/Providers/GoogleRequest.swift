package import Primitives

/// Requests to Firebase Cloud Messaging and its answers (FCM HTTP v1 API: `projects.messages.send`, "FCM error codes").
package enum GooglePush {
    /// The most bytes of the data of a message: its keys and its values.
    package static let dataLimit = 4_096
    /// The longest time that a message is kept, in seconds: 4 weeks.
    package static let longestTime: UInt64 = 2_419_200

    /// What the service is asked to do for a push: a data message, which the app gets whether or not it runs.
    ///
    /// - Parameter now: milliseconds since 1970.
    /// - Throws: `tooLarge` if no form of the message fits.
    package static func request(
        for message: PushMessage, to token: Redacted<String>, project: String, now: UInt64
    ) throws(PushFailure) -> ProviderRequest {
        let call = message.call.map { call in
            var json = JSONBytes(reserving: 256)
            json.object { $0.callMembers(of: message, call) }
            return json.bytes
        }
        let left = message.expires > now ? min((message.expires - now) / 1_000, longestTime) : 0
        let fitted = try ProviderRequest.fitting(message, limit: dataLimit) { form in
            var size = 0
            var json = JSONBytes(reserving: 1_024 + 2 * (form?.utf8.count ?? 0))
            json.object { root in
                root.object("message") { target in
                    target.text("token", token.value)
                    target.object("data") { data in
                        if let call {
                            data.quoted("call", call)
                            size += "call".utf8.count + call.count
                        }
                        if case .notification(let alert) = message.kind {
                            data.text("title", alert.title)
                            data.text("body", alert.body)
                            size += "titlebody".utf8.count + alert.title.utf8.count + alert.body.utf8.count
                        }
                        if let form {
                            data.quoted("notificationMessage", form.utf8)
                            size += "notificationMessage".utf8.count + form.utf8.count
                        }
                    }
                    target.object("android") { android in
                        let canWait = message.kind == .silent || message.kind == .refresh
                        android.text("priority", canWait ? "NORMAL" : "HIGH")
                        android.text("ttl", "\(left)s")
                        if let key = message.collapseKey(limit: 64) { android.text("collapse_key", key) }
                    }
                }
            }
            return (json.bytes, size)
        }
        return ProviderRequest(
            path: "/v1/projects/\(project)/messages:send", fields: [("content-type", "application/json")],
            content: fitted.content, form: fitted.form)
    }

    /// What the content of an error says.
    package struct Problem: Hashable, Sendable {
        /// `error.status`, such as `NOT_FOUND`.
        package var status: String?
        /// `error.message`, a text for people.
        package var message: String?
        /// `errorCode` of the detail `google.firebase.fcm.v1.FcmError`.
        package var code: String?
        /// The fields that the detail `google.rpc.BadRequest` finds fault with.
        package var fields: [String]

        /// Makes a problem of its parts; each parameter is the property of that name.
        package init(status: String? = nil, message: String? = nil, code: String? = nil, fields: [String] = []) {
            self.status = status
            self.message = message
            self.code = code
            self.fields = fields
        }

        /// Whether it is the token that the service cannot use. The service tells it by the field, or only in the text.
        fileprivate var isAboutToken: Bool {
            if !fields.isEmpty { return fields.contains("message.token") }
            return code == "INVALID_ARGUMENT" && (message?.contains("registration token") ?? false)
        }
    }

    /// What an answer means.
    ///
    /// - Parameters:
    ///   - status: the status of the response.
    ///   - problem: what its content says.
    ///   - name: the member `name` of the content of a success.
    ///   - delay: the header field `Retry-After`.
    package static func verdict(
        status: Int, problem: Problem = Problem(), name: String? = nil, after delay: Duration? = nil
    )
        -> PushVerdict
    {
        if status == 200 { return .delivered(as: name) }
        let word = PushVerdict.printable(problem.code ?? problem.status) ?? "status \(status)"
        switch problem.code {
        case "UNREGISTERED": return .registrationDead(reason: word, since: nil)
        // The account of another project has the same answer for every device, so that no registration ends with it.
        case "SENDER_ID_MISMATCH": return .refused(status: status, reason: "\(word) (\(senderAdvice))")
        case "INVALID_ARGUMENT" where problem.isAboutToken: return .registrationDead(reason: word, since: nil)
        case "QUOTA_EXCEEDED": return .retry(reason: word, after: delay ?? quotaDelay)
        case "UNAVAILABLE", "INTERNAL": return .retry(reason: word, after: delay)
        // The project's key for Apple or for web pushes, which the operator has to mend.
        case "THIRD_PARTY_AUTH_ERROR": return .refused(status: status, reason: word)
        default:
            switch status {
            case 400 where problem.isAboutToken: return .registrationDead(reason: word, since: nil)
            case 401: return .credentialExpired(reason: word)
            case 429: return .retry(reason: word, after: delay ?? quotaDelay)
            case 500...599: return .retry(reason: word, after: delay)
            default: return .refused(status: status, reason: word)
            }
        }
    }

    /// What to look at if a token is not one of the project.
    package static let senderAdvice =
        "the token is one of another Firebase project: check the project of the app, and push.google_account_file or "
        + "the app's file in push.applications_folder"

    /// How long to wait where a quota is exceeded and the service names no time ("Scale FCM").
    private static let quotaDelay = Duration.seconds(60)
}
