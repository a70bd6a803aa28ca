package import Registration

extension Notification.EventType {
    /// What tells a notice of a service besides calls (spidr-wire §9, §10).
    init(of notice: ServiceNotice) {
        self =
            switch notice {
            case .message: .message
            case .messageResult: .messageResult
            case .presence: .presenceWatcher
            case .voicemail: .voicemail
            case .pushInvalidated: .pushInvalidated
            case .event(let report):
                switch report.kind {
                case .presence: .presenceEvent
                case .messageSummary: .messageSummaryEvent
                }
            }
    }
}

extension MessageResult.Outcome {
    /// The SIP response code that says the same (RFC 3428 §7, §8; RFC 3261 §21.4.9).
    package var responseCode: Int {
        switch self {
        case .delivered: 200
        case .kept: 202
        case .expired: 408
        }
    }
}

extension VoicemailCount {
    /// `yes` if there are messages that the user has not heard, otherwise `no` (spidr-wire §9).
    package var word: String { unheard > 0 ? "yes" : "no" }
}

extension Presence.Status {
    /// The word of the protocol (spidr-wire §9).
    package var word: String {
        switch self {
        case .open: "open"
        case .closed: "closed"
        }
    }
}

extension Presence.Activity {
    /// The word of the protocol (spidr-wire §9).
    package var word: String {
        switch self {
        case .active: "active"
        case .idle: "idle"
        case .away: "away"
        case .lunch: "lunch"
        case .other: "other"
        case .busy: "busy"
        case .vacation: "vacation"
        case .onThePhone: "on-the-phone"
        case .unknown: "unknown"
        }
    }
}

extension EventPackage {
    /// The word of the protocol, which is also the `eventType` of its notifications (spidr-wire §10).
    package var word: String {
        Registration.Configuration.service(of: self)
    }
}
