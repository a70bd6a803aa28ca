internal import CallControl
package import Registration
package import SPiDR

/// `notificationMessage`, the only object that travels on a notification channel (spidr-wire §5).
package struct NotificationMessage: WireObject, Equatable {
    /// The top-level key of the text frame (spidr-wire §4.1).
    package static let wrapper = "notificationMessage"

    /// What happened, such as `callEnd`; selects the handler in the client (spidr-wire §5.3).
    package var eventType: String
    /// The number of the notification within its subscription, in decimal digits.
    ///
    /// It goes up by one. Clients drop a notification whose number is repeated or missing (spidr-wire §4.3).
    package var eventId: String
    /// When the notification was made: milliseconds since 1970, as text.
    package var time: String
    /// 0, or 49 if an offer was not answered in time (spidr-wire §8.9).
    package var statusCode: Int
    /// The receiver's address, `user@domain`. Clients do not act on it.
    package var userId: String
    /// The identifier of the receiver's channel, the last segment of its path. Clients do not act on it.
    package var notificationChannelId: String
    /// Always `true`, as text. Clients do not act on it.
    package var active: String
    /// The receiver's leg and what happened to it. `nil` if the notification is not about a call.
    package var sessionParams: SessionParameters?
    /// Names and addresses of the parties. `nil` if the notification is not about a call.
    package var callNotificationParams: CallParameters?
    /// Parameters from the other party's application (spidr-wire §8.4). `nil`: none.
    package var customParameters: [CustomParameterField]?
    /// Bodies from the other party's application (spidr-wire §8.4), an addition of this gateway. `nil`: none.
    package var customBodies: [CustomBodyField]?
    /// On `startCallReplace`: the `sessionData` of the receiver's call that is replaced (spidr-wire §8.8).
    package var replaces: String?
    /// On `startCallReplace`: the address of the party that the receiver is to talk to (spidr-wire §8.8).
    package var remoteParty: String?
    /// On `callQuality`: the ratings of the receiver's audio.
    package var quality: QualityField?
    /// On `mediaPath`: which media path was lost or recovered.
    package var mediaPath: MediaPathField?
    /// On `notificationsLost`: how many notifications the client will never be sent.
    package var lost: Int?
    /// On `IM`: the message.
    package var imnotificationParams: MessageParameters?
    /// On `IMResponse`: what has become of a message of the user.
    package var imresponseNotificationParams: MessageResultParameters?
    /// On `presenceWatcher`: the presence of another user.
    package var presenceWatcherNotificationParams: PresenceParameters?
    /// On `mwi`: how many voice messages the user has.
    package var mwiNotificationParams: VoicemailParameters?
    /// On `event:…`: what the subscription to events is told.
    package var genericNotificationParams: EventParameters?
    /// On `pushSubscriptionInvalidated`: the registration that has ended; an addition of this gateway.
    package var pushNotificationParams: PushInvalidationParameters?

    /// Whose media path was lost or recovered; an addition of this gateway (docs/client.md).
    package struct MediaPathField: Codable, Equatable, Sendable {
        /// `self` for the receiver's own path, `peer` for the other party's.
        package var leg: String
        /// `lost` or `recovered`.
        package var state: String
    }

    /// `sessionParams`: the receiver's leg and what happened to it (spidr-wire §5.1).
    package struct SessionParameters: Codable, Equatable, Sendable {
        /// The name of the receiver's own leg, and the last segment of the call's path.
        package var sessionData: String
        /// The offer or answer. `nil` on `call` and `startCallUpdate`: the client is asked for an offer (spidr-wire
        /// §8.1).
        package var sdp: String?
        /// In pushes: how `sdp` is written, `compressed`; `nil`: as it is.
        package var sdpFormat: String?
        /// On `call`: what the callee may do, out of `answer`, `reject` and `forward`. `nil` on other events.
        package var actions: [String]?
        /// Why the call or the operation ended, as a SIP status code. `nil` at the normal end of an answered call.
        package var statusCode: Int?
        /// Why the call or the operation ended, as a text for people.
        package var reasonText: String?
        /// On `callEnd` and `callCancel`: the reason in one word (spidr-wire §6.6, docs/call-states.md); an addition of
        /// this gateway.
        package var cause: String?
        /// On `callEnd` and `callCancel`: the side that caused it, `self`, `peer` or `gateway`; an addition of this
        /// gateway.
        package var endedBy: String?
        /// Seconds after which the client repeats its offer; with `statusCode` 49 (spidr-wire §8.9).
        package var retryAfter: Int?
        /// On `IceCandidate`: the other party's candidates (spidr-wire §8.10).
        package var iceCandidates: [CandidateField]?
    }

    /// `callNotificationParams`: names and addresses of the parties (spidr-wire §5.2).
    ///
    /// All five members are always present: some clients search in a member without asking whether it is there.
    package struct CallParameters: Codable, Equatable, Sendable {
        /// The caller's display name; `Conference` in a conference.
        package var callerName: String
        /// The caller's address; `conference@<domain>` in a conference.
        package var callerDisplayNumber: String
        /// The callee's address.
        package var calleeDisplayNumber: String
        /// The display name of the party that the receiver talks to.
        package var remoteName: String
        /// The address of the party that the receiver talks to.
        package var remoteDisplayNumber: String
    }

    /// Makes the message of a frame in the words of the client protocol.
    ///
    /// - Returns: `nil` where the protocol has no word for what the frame is about.
    package init?(_ frame: NotificationFrame) {
        guard let notification = Notification(presenting: frame.notice) else { return nil }
        self.init(notification, in: frame)
    }

    /// Makes the message of a notification.
    ///
    /// - Parameter frame: its receiver, its channel, its number and its time.
    package init(_ notification: Notification, in frame: NotificationFrame) {
        eventType = notification.type.rawValue
        eventId = String(frame.eventID)
        time = String(frame.time)
        statusCode = notification.outcome.rawValue
        userId = frame.user.text
        notificationChannelId = frame.channel.rawValue
        active = "true"
        sessionParams = notification.session.map { session in
            SessionParameters(
                sessionData: session.rawValue,
                sdp: notification.sdp,
                actions: notification.actions.isEmpty ? nil : notification.actions.map(\.rawValue),
                statusCode: notification.statusCode,
                reasonText: notification.reasonText,
                cause: notification.cause,
                endedBy: notification.endedBy?.word,
                retryAfter: notification.retryAfter,
                iceCandidates: notification.candidates.isEmpty ? nil : notification.candidates.map(CandidateField.init)
            )
        }
        callNotificationParams = notification.parties.map { parties in
            CallParameters(
                callerName: parties.callerName,
                callerDisplayNumber: parties.callerDisplayNumber,
                calleeDisplayNumber: parties.calleeDisplayNumber,
                remoteName: parties.remoteName,
                remoteDisplayNumber: parties.remoteDisplayNumber
            )
        }
        customParameters =
            notification.customParameters.isEmpty
            ? nil : notification.customParameters.map { CustomParameterField(name: $0.name, value: $0.value) }
        customBodies = notification.customBodies.isEmpty ? nil : notification.customBodies.map(CustomBodyField.init)
        replaces = notification.replaces?.rawValue
        remoteParty = notification.replaces.flatMap { _ in notification.parties?.remoteDisplayNumber }
        quality = notification.quality.map(QualityField.init)
        mediaPath = notification.mediaPath.map {
            MediaPathField(leg: $0.side.word, state: $0.isLost ? "lost" : "recovered")
        }
        lost = notification.lost
        if let notice = notification.service { tell(notice, frame.user) }
    }
}
