/// What a client is told on its channel, before an `eventId` and a time are put on it (spidr-wire §5).
package struct Notification: Hashable, Sendable {
    package var type: EventType
    /// The receiver's own leg.
    package var session: SessionID?
    package var sdp: String?
    /// On `call`: what the user may do with it.
    package var actions: [Action]
    /// SIP-style reason code inside `sessionParams`, such as 487.
    package var statusCode: Int?
    package var reasonText: String?
    /// Names and numbers shown to the user; all five are sent on every call notification (spidr-wire §5.2).
    package var parties: Parties?
    package var customParameters: [CustomParameter]
    package var customBodies: [CustomBody] = []
    /// On `startCallReplace`: the receiver's session that this one is to take the place of.
    package var replaces: SessionID?
    /// On `IceCandidate`.
    package var candidates: [TrickledLine] = []
    /// What became of an offer.
    package var outcome = Outcome.done
    /// Seconds after which it makes sense to offer again.
    package var retryAfter: Int?
    /// On `callQuality`.
    package var quality: CallQuality?
    /// Of an end: one word, of the list in docs/call-states.md; an addition of ours.
    package var cause: String?
    /// Of an end; an addition of ours.
    package var endedBy: CallSide?
    /// On `mediaPath`.
    package var mediaPath: PathReport?

    package init(
        _ type: EventType, session: SessionID? = nil, sdp: String? = nil, actions: [Action] = [],
        statusCode: Int? = nil,
        reasonText: String? = nil, parties: Parties? = nil, customParameters: [CustomParameter] = []
    ) {
        self.type = type
        self.session = session
        self.sdp = sdp
        self.actions = actions
        self.statusCode = statusCode
        self.reasonText = reasonText
        self.parties = parties
        self.customParameters = customParameters
    }

    /// `eventType`, spelt as on the wire (spidr-wire §5.3).
    package enum EventType: String, Hashable, Sendable {
        case call
        case ringing
        case sessionProgress
        case respondCallUpdate
        case startCallUpdate
        case callCancel
        case callEnd
        /// A transfer or a conference has come about, and this end of it is done.
        case sessionComplete
        /// A transfer or a conference has not come about.
        case sessionFail
        /// This call is to take the place of another one that the receiver has (spidr-wire §8.8).
        case startCallReplace
        case iceCandidate = "IceCandidate"
        /// Custom parameters and bodies alone; an addition of ours.
        case customParameters
        /// An announcement has come to its end; an addition of ours.
        case mediaEnded
        /// How good the call is, every few seconds; an addition of ours.
        case callQuality
        /// The media path of an end is lost, or there again; an addition of ours.
        case mediaPath
        case gone
        case websocketOverridden
        case ping
    }

    /// `statusCode` of the message, not of the session (spidr-wire §5).
    package enum Outcome: Int, Hashable, Sendable {
        case done = 0
        /// The offer has met another one, or had no answer; everything is as before it (spidr-wire §8.9).
        case pending = 49
    }

    package enum Action: String, Hashable, Sendable {
        case answer
        case reject
        case forward
    }

    package struct PathReport: Hashable, Sendable {
        /// Whose path, seen from the receiver.
        package var side: CallSide
        package var isLost: Bool

        package init(side: CallSide, isLost: Bool) {
            self.side = side
            self.isLost = isLost
        }
    }

    /// `callNotificationParams`.
    package struct Parties: Hashable, Sendable {
        package var callerName: String
        package var callerDisplayNumber: String
        package var calleeDisplayNumber: String
        package var remoteName: String
        package var remoteDisplayNumber: String

        package init(
            callerName: String, callerDisplayNumber: String, calleeDisplayNumber: String, remoteName: String,
            remoteDisplayNumber: String
        ) {
            self.callerName = callerName
            self.callerDisplayNumber = callerDisplayNumber
            self.calleeDisplayNumber = calleeDisplayNumber
            self.remoteName = remoteName
            self.remoteDisplayNumber = remoteDisplayNumber
        }
    }
}

/// A candidate as clients trickle it (spidr-wire §8.10).
package struct TrickledLine: Hashable, Sendable {
    /// The value of `a=candidate`, with or without that name.
    package var candidate: String
    package var mid: String?
    package var mediaIndex: Int?
    package var usernameFragment: String?

    package init(candidate: String, mid: String? = nil, mediaIndex: Int? = nil, usernameFragment: String? = nil) {
        self.candidate = candidate
        self.mid = mid
        self.mediaIndex = mediaIndex
        self.usernameFragment = usernameFragment
    }
}

/// A notification on its way to one subscription: numbered and stamped once, so that a replay is recognised.
package struct NotificationFrame: Hashable, Sendable {
    /// Unique within the subscription, decimal digits on the wire (spidr-wire §4.3).
    package var eventID: UInt64
    /// Milliseconds since 1970.
    package var time: Int64
    package var user: UserAddress
    package var channel: ChannelID
    package var notification: Notification

    package init(eventID: UInt64, time: Int64, user: UserAddress, channel: ChannelID, notification: Notification) {
        self.eventID = eventID
        self.time = time
        self.user = user
        self.channel = channel
        self.notification = notification
    }
}
