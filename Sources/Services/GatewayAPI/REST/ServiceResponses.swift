package import Registration
import SPiDR

/// `imResponse`: a message was taken (spidr-wire §9). What becomes of it comes as `IMResponse`.
package struct InstantMessageResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "imResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The name of the message.
    package var messageId: String

    /// Makes the answer to a message.
    package init(messageId: String) { self.messageId = messageId }
}

/// `presenceResponse`: the presence was changed (spidr-wire §9).
package struct PresenceResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "presenceResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0

    /// Makes the answer.
    package init() {}
}

/// `presenceWatcherResponse`: the answer to `watch`, `stopwatch` and `get` (spidr-wire §9).
package struct PresenceWatcherResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "presenceWatcherResponse"

    /// 0; or 2 if some of the users are watched by as many as may watch (spidr-wire §1.6).
    package var statusCode: Int
    /// On `watch`: how many seconds the watch lasts; clients renew it at half of that. `nil` on other actions.
    package var expiryValue: Int64?

    /// Makes the answer to `watch`.
    package init(_ grant: WatchGrant) {
        statusCode = grant.isPartial ? 2 : 0
        expiryValue = grant.time.components.seconds
    }

    /// Makes the answer to `stopwatch` and `get`.
    package init() {
        statusCode = 0
    }
}

/// `mwiresponse`: how many voice messages the user has (spidr-wire §9).
package struct VoicemailResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "mwiresponse"

    /// 0; or 52 if there are none (spidr-wire §1.6).
    package var statusCode: Int
    /// `yes` if there are messages that the user has not heard, otherwise `no`.
    package var mwi: String
    /// The number of all messages, as text.
    package var totalVoice: String
    /// The number of those that the user has not heard, as text.
    package var unheardVoice: String

    /// Makes the answer with a count.
    package init(_ count: VoicemailCount) {
        statusCode = count.total == 0 ? 52 : 0
        mwi = count.word
        totalVoice = String(count.total)
        unheardVoice = String(count.unheard)
    }
}

/// `eventSubscriptionResponse`: a subscription to events has started, lasts longer, or is over (spidr-wire §10).
package struct EventSubscriptionResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "eventSubscriptionResponse"

    /// 0; or 2 if some of the users are watched by as many as may watch (spidr-wire §1.6).
    package var statusCode: Int
    /// How many seconds it lasts. `nil` once it is over.
    package var expires: Int64?
    /// Its name, the last segment of its path. `nil` once it is over.
    package var sessionData: String?

    /// Makes the answer of a subscription that goes on.
    package init(_ grant: WatchGrant, id: String) {
        statusCode = grant.isPartial ? 2 : 0
        expires = grant.time.components.seconds
        sessionData = id
    }

    /// Makes the answer of a subscription that is over.
    package init() {
        statusCode = 0
    }
}
