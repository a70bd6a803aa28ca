package import CallControl

/// `notificationMessage`, the one object that travels on a channel (spidr-wire §5).
package struct NotificationMessage: WireObject, Equatable {
    package static let wrapper = "notificationMessage"

    package var eventType: String
    /// Decimal digits; clients drop a repeated or missing one (spidr-wire §4.3).
    package var eventId: String
    /// Milliseconds since 1970, as text.
    package var time: String
    package var statusCode: Int
    package var userId: String
    package var notificationChannelId: String
    package var active: String
    package var sessionParams: SessionParameters?
    package var callNotificationParams: CallParameters?
    package var customParameters: [CustomParameterField]?
    package var customBodies: [CustomBodyField]?
    /// On `startCallReplace`: the receiver's session that is replaced.
    package var replaces: String?
    /// On `startCallReplace`: with whom the receiver is to talk.
    package var remoteParty: String?
    /// On `callQuality`.
    package var quality: QualityField?
    /// On `mediaPath`.
    package var mediaPath: MediaPathField?

    /// An addition of ours.
    package struct MediaPathField: Decodable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        /// `lost` or `recovered`.
        package var state: String
    }

    package struct SessionParameters: Decodable, Equatable, Sendable {
        package var sessionData: String
        package var sdp: String?
        package var actions: [String]?
        package var statusCode: Int?
        package var reasonText: String?
        /// Of an end, an addition of ours: one word.
        package var cause: String?
        /// Of an end, an addition of ours: `self`, `peer` or `gateway`.
        package var endedBy: String?
        /// Seconds.
        package var retryAfter: Int?
        package var iceCandidates: [CandidateField]?
    }

    /// All five are always present: some clients search in a field without asking whether it is there (spidr-wire §5.2).
    package struct CallParameters: Decodable, Equatable, Sendable {
        package var callerName: String
        package var callerDisplayNumber: String
        package var calleeDisplayNumber: String
        package var remoteName: String
        package var remoteDisplayNumber: String
    }

    package init(_ frame: NotificationFrame) {
        let notification = frame.notification
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
                endedBy: notification.endedBy?.rawValue,
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
            MediaPathField(leg: $0.side.rawValue, state: $0.isLost ? "lost" : "recovered")
        }
    }
}

// MARK: - Writing

extension NotificationMessage: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("eventType", eventType)
            object.member("eventId", eventId)
            object.member("time", time)
            object.member("statusCode", statusCode)
            object.member("userId", userId)
            object.member("notificationChannelId", notificationChannelId)
            object.member("active", active)
            if let sessionParams { object.member("sessionParams", sessionParams) }
            if let callNotificationParams { object.member("callNotificationParams", callNotificationParams) }
            object.member("customParameters", customParameters)
            object.member("customBodies", customBodies)
            object.member("replaces", replaces)
            object.member("remoteParty", remoteParty)
            if let quality { object.member("quality", quality) }
            if let mediaPath { object.member("mediaPath", mediaPath) }
        }
    }
}

extension NotificationMessage.MediaPathField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("leg", leg)
            object.member("state", state)
        }
    }
}

extension NotificationMessage.SessionParameters: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("sessionData", sessionData)
            object.member("sdp", sdp)
            object.member("actions", actions)
            object.member("statusCode", statusCode)
            object.member("reasonText", reasonText)
            object.member("cause", cause)
            object.member("endedBy", endedBy)
            object.member("retryAfter", retryAfter.map(Int64.init))
            object.member("iceCandidates", iceCandidates)
        }
    }
}

extension NotificationMessage.CallParameters: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("callerName", callerName)
            object.member("callerDisplayNumber", callerDisplayNumber)
            object.member("calleeDisplayNumber", calleeDisplayNumber)
            object.member("remoteName", remoteName)
            object.member("remoteDisplayNumber", remoteDisplayNumber)
        }
    }
}
