package import CallControl
package import Registration

/// What a client is told on its channel, without the `eventId` and the time (spidr-wire §5).
package struct Notification: Hashable, Sendable {
    /// What the notification is about; decides which other properties are used.
    package var type: EventType
    /// The receiver's own leg; `nil` on notifications about the channel.
    package var session: SessionID?
    /// The offer or answer; `nil`: there is none, or (on `startCallUpdate`) the receiver is asked for an offer.
    package var sdp: String?
    /// On `call`: what the user may do with it; otherwise empty.
    package var actions: [Action]
    /// The SIP response code in `sessionParams`, such as 487; `nil`: none.
    package var statusCode: Int?
    /// The sentence that goes with it; `nil`: none.
    package var reasonText: String?
    /// The names and numbers that are shown to the user; all five are in every call notification (spidr-wire §5.2).
    /// `nil` on notifications about the channel.
    package var parties: Parties?
    /// The custom parameters of the sender's application (spidr-wire §8.4).
    package var customParameters: [CustomParameter]
    /// The custom bodies of the sender's application (spidr-wire §6.1).
    package var customBodies: [CustomBody] = []
    /// On `startCallReplace`: the receiver's session that this one is to replace.
    package var replaces: SessionID?
    /// On `IceCandidate`: the candidates of the other leg.
    package var candidates: [TrickledLine] = []
    /// On `respondCallUpdate`: what became of the offer.
    package var outcome = Outcome.done
    /// On `respondCallUpdate` that is `pending`: seconds after which the client may offer again; otherwise `nil`.
    package var retryAfter: Int?
    /// On `callQuality`: the measurement.
    package var quality: CallQuality?
    /// On the end of a call: the cause in one word, from the list in docs/call-states.md; an addition of this gateway.
    package var cause: String?
    /// On the end of a call: who caused it, seen from the receiver; an addition of this gateway.
    package var endedBy: CallSide?
    /// On `mediaPath`: what has changed.
    package var mediaPath: PathReport?
    /// On `notificationsLost`: how many.
    package var lost: Int?
    /// On notifications of services besides calls: what is told.
    package var service: ServiceNotice?

    /// Makes a notification of its parts; each parameter is the property of that name. The properties without a
    /// parameter have their initial values.
    package init(
        _ type: EventType, session: SessionID? = nil, sdp: String? = nil, actions: [Action] = [],
        statusCode: Int? = nil, reasonText: String? = nil, parties: Parties? = nil,
        customParameters: [CustomParameter] = []
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
        /// A call comes in.
        case call
        /// A device of the callee rings.
        case ringing
        /// Early media, with a provisional answer.
        case sessionProgress
        /// The answer to the receiver's offer; or that it is pending.
        case respondCallUpdate
        /// An offer; without `sdp`, a request for one.
        case startCallUpdate
        /// The receiver need not ring any more.
        case callCancel
        /// The call is over for the receiver.
        case callEnd
        /// A transfer or a conference has succeeded, and the receiver's part in it is done.
        case sessionComplete
        /// A transfer or a conference has failed.
        case sessionFail
        /// A call that is to replace another call of the receiver (spidr-wire §8.8).
        case startCallReplace
        /// Candidates of the other leg.
        case iceCandidate = "IceCandidate"
        /// Custom parameters and bodies alone; an addition of this gateway.
        case customParameters
        /// A playback has reached its end; an addition of this gateway.
        case mediaEnded
        /// The quality of the audio, every few seconds; an addition of this gateway.
        case callQuality
        /// The media path of a leg is lost, or works again; an addition of this gateway.
        case mediaPath
        /// A message for the user (spidr-wire §9).
        case message = "IM"
        /// What has become of a message of the user (spidr-wire §9).
        case messageResult = "IMResponse"
        /// The presence of another user (spidr-wire §9).
        case presenceWatcher
        /// How many voice messages the user has: the message waiting indication (spidr-wire §9).
        case voicemail = "mwi"
        /// The presence of another user, for a subscription to events (spidr-wire §10).
        case presenceEvent = "event:presence"
        /// How many voice messages the user has, for a subscription to events (spidr-wire §10).
        case messageSummaryEvent = "event:message-summary"
        /// A registration for push has ended (spidr-wire §11); an addition of this gateway.
        case pushInvalidated = "pushSubscriptionInvalidated"
        /// The subscription is over.
        case gone
        /// Another socket has taken over the channel (spidr-wire §4.4).
        case websocketOverridden
        /// The subscription should be extended now (spidr-wire §4.2).
        case ping
        /// Notifications were given up before the client could be sent them; an addition of this gateway.
        case notificationsLost
    }

    /// `statusCode` of the message, as opposed to that of the session (spidr-wire §5).
    package enum Outcome: Int, Hashable, Sendable {
        /// Everything went well.
        case done = 0
        /// The offer met another one, or was not answered; the call is as it was before (spidr-wire §8.9).
        case pending = 49
    }

    /// What the user may do with a call that comes in.
    package enum Action: String, Hashable, Sendable {
        /// Answer it.
        case answer
        /// Decline it.
        case reject
        /// Forward it to another address (spidr-wire §6.4).
        case forward
    }

    /// A change of a leg's media path.
    package struct PathReport: Hashable, Sendable {
        /// The leg whose path it is, seen from the receiver.
        package var side: CallSide
        /// The path is lost; otherwise it works again.
        package var isLost: Bool

        /// Makes a report of its parts; each parameter is the property of that name.
        package init(side: CallSide, isLost: Bool) {
            self.side = side
            self.isLost = isLost
        }
    }

    /// `callNotificationParams`: the names and numbers that clients show (spidr-wire §5.2).
    package struct Parties: Hashable, Sendable {
        /// The display name of the caller; may be empty.
        package var callerName: String
        /// The address of the caller.
        package var callerDisplayNumber: String
        /// The address of the callee.
        package var calleeDisplayNumber: String
        /// The display name of the other party; may be empty.
        package var remoteName: String
        /// The address of the other party.
        package var remoteDisplayNumber: String

        /// Makes a value of its parts; each parameter is the property of that name.
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
