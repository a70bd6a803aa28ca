package import CallControl
package import Registration
internal import SPiDR

extension NotificationMessage {
    /// `imnotificationParams`: a message for the user (spidr-wire §9).
    package struct MessageParameters: Codable, Equatable, Sendable {
        /// The URI of the sender, `sip:user@domain`.
        package var primaryContact: String
        /// The display name of the sender; may be empty.
        package var fullName: String
        /// The text.
        package var msgText: String
        /// What the sender's client calls the kind of text, such as `A2`.
        package var type: String
        /// What the sender's client calls the characters of the text, such as `UTF-8`.
        package var charset: String

        /// Makes the parameters of a message.
        package init(_ message: InstantMessage) {
            primaryContact = "sip:\(message.sender.text)"
            fullName = message.senderName
            msgText = message.text
            type = message.type
            charset = message.charset
        }
    }

    /// `imresponseNotificationParams`: what has become of a message of the user (spidr-wire §9).
    package struct MessageResultParameters: Codable, Equatable, Sendable {
        /// A SIP response code as text: 200 if it was given to a device, 202 if it is kept, 408 if it was kept for as
        /// long as messages are.
        package var responseCode: String
        /// The `messageId` of the message.
        package var callid: String
        /// The address of the user whom it is for.
        package var userName: String

        /// Makes the parameters of a result.
        package init(_ result: MessageResult) {
            responseCode = String(result.outcome.responseCode)
            callid = result.message
            userName = result.receiver.text
        }
    }

    /// `presenceWatcherNotificationParams`: the presence of another user (spidr-wire §9).
    package struct PresenceParameters: Codable, Equatable, Sendable {
        /// The address of the user.
        package var name: String
        /// Where the presence comes from; always `User`. Clients do not act on it.
        package var type: String
        /// `open` or `closed`.
        package var status: String
        /// What the user does, in one of nine words.
        package var activity: String
        /// The user's own words; may be empty.
        package var note: String

        /// Makes the parameters of a report.
        package init(_ report: PresenceReport) {
            name = report.user.text
            type = "User"
            status = report.presence.status.word
            activity = report.presence.activity.word
            note = report.presence.note
        }
    }

    /// `mwiNotificationParams`: how many voice messages the user has (spidr-wire §9).
    package struct VoicemailParameters: Codable, Equatable, Sendable {
        /// `yes` if there are messages that the user has not heard, otherwise `no`.
        package var mwi: String
        /// The number of all messages, as text.
        package var totalVoice: String
        /// The number of those that the user has not heard, as text.
        package var unheardVoice: String

        /// Makes the parameters of a count.
        package init(_ count: VoicemailCount) {
            mwi = count.word
            totalVoice = String(count.total)
            unheardVoice = String(count.unheard)
        }
    }

    /// `genericNotificationParams`: what a subscription to events is told (spidr-wire §10). The members are those of
    /// the notification that tells the same without such a subscription.
    package struct EventParameters: Codable, Equatable, Sendable {
        /// The name of the subscription to events.
        package var sessionData: String
        /// `event:presence`: the address of the user.
        package var name: String?
        /// `event:presence`: `open` or `closed`.
        package var status: String?
        /// `event:presence`: what the user does, in one of nine words.
        package var activity: String?
        /// `event:presence`: the user's own words; may be empty.
        package var note: String?
        /// `event:message-summary`: whether there are messages that the user has not heard, `yes` or `no`.
        package var mwi: String?
        /// `event:message-summary`: the number of all messages, as text.
        package var totalVoice: String?
        /// `event:message-summary`: the number of those that the user has not heard, as text.
        package var unheardVoice: String?

        /// Makes the parameters of a report.
        package init(_ report: EventReport) {
            sessionData = report.subscription
            name = report.presence?.user.text
            status = report.presence?.presence.status.word
            activity = report.presence?.presence.activity.word
            note = report.presence?.presence.note
            mwi = report.voicemail?.word
            totalVoice = report.voicemail.map { String($0.total) }
            unheardVoice = report.voicemail.map { String($0.unheard) }
        }
    }

    /// `pushNotificationParams`: a registration for push that has ended (spidr-wire §11).
    package struct PushInvalidationParameters: Codable, Equatable, Sendable {
        /// The path of the registration.
        package var registration: String
        /// The app.
        package var bundleID: String
        /// The device's name for itself; `nil`: it has none.
        package var clientCorrelator: String?
        /// The provider's word for the reason.
        package var reason: String

        /// Makes the parameters of a registration of a user.
        package init(_ invalidation: PushInvalidation, of user: UserAddress) {
            registration = ResourcePath(of: user).push(invalidation.provider, invalidation.device)
            bundleID = invalidation.bundleID
            clientCorrelator = invalidation.clientCorrelator
            reason = invalidation.reason
        }
    }

    /// Fills in the parameters of a notice of a service besides calls.
    mutating func tell(_ notice: ServiceNotice, _ user: UserAddress) {
        switch notice {
        case .message(let message): imnotificationParams = MessageParameters(message)
        case .messageResult(let result): imresponseNotificationParams = MessageResultParameters(result)
        case .presence(let report): presenceWatcherNotificationParams = PresenceParameters(report)
        case .voicemail(let count): mwiNotificationParams = VoicemailParameters(count)
        case .event(let report): genericNotificationParams = EventParameters(report)
        case .pushInvalidated(let invalidation):
            pushNotificationParams = PushInvalidationParameters(invalidation, of: user)
        }
    }
}
