package import CallControl

/// What programs are told of that is no fact of a call.
package enum OtherEvent: Sendable {
    /// How far a recording has come. The raw value is the second word of the type.
    package enum RecordingStep: String, Hashable, Sendable, CaseIterable {
        /// It has started.
        case started
        /// It leaves out what is said.
        case paused
        /// It goes on.
        case resumed
        /// It is over, and its file can be fetched.
        case stopped
    }

    /// A recording has come so far. `milliseconds`: how long it is by now, if it is not over; `nil`: it has just
    /// started, or is over.
    case recording(RecordingStep, Recording, milliseconds: Int?)
    /// A list that an application's leg had played, or was to, is over; told after the leg was gone from the call.
    case listEnded(PlayedList, of: LegAddress)
    /// A gathering of keys by an application's leg is over; it is told after the leg was gone from the call.
    case gatheringEnded(GatheredKeys, of: LegAddress)
    /// A provider says that a device cannot be reached by push any more.
    case pushRegistrationRemoved(
        user: UserAddress, registration: String, provider: String, bundleID: String, reason: String)
    /// The command in the answer of a webhook was not carried out. `session`: the application's call; `call`: the same
    /// in events; `nil`: it is not known. `code` and `reason`: why (docs/errors.md).
    case webhookAnswerRefused(webhook: String, session: SessionID, call: CallID?, code: String, reason: String)
}

extension EventBody {
    /// The form of an event that is no fact of a call.
    ///
    /// - Parameters:
    ///   - time: when it happened, in milliseconds since 1970.
    ///   - trace: the trace that the call is part of which it is about; `nil`: none, or it is about no call.
    package init(_ event: OtherEvent, at time: Int64, trace: TraceContext? = nil) {
        switch event {
        case .recording(let step, let recording, let milliseconds):
            var data: [String: EventValue] = [
                "recording": .string(recording.id.description), "session": .string(recording.session.rawValue),
                "format": .string(recording.format.rawValue),
            ]
            data["tag"] = recording.tag.map { .string($0) }
            data["milliseconds"] = milliseconds.map { .integer(Int64($0)) }
            if let end = recording.end {
                data["reason"] = .string(end.rawValue)
                data["milliseconds"] = .integer(Int64(recording.milliseconds))
                data["bytes"] = .integer(Int64(recording.bytes))
            }
            self.init("recording.\(step.rawValue)", at: time, call: recording.call, trace: trace, data: data)
        case .listEnded(let list, let place):
            self.init(
                "playback.ended", at: time, call: place.call, leg: place.leg, trace: trace, data: list.members)
        case .gatheringEnded(let keys, let place):
            self.init("gather.ended", at: time, call: place.call, leg: place.leg, trace: trace, data: keys.members)
        case .pushRegistrationRemoved(let user, let registration, let provider, let bundleID, let reason):
            self.init(
                "push.registration_removed", at: time,
                data: [
                    "user": .string(user.text), "registration": .string(registration), "provider": .string(provider),
                    "bundleID": .string(bundleID), "reason": .string(reason),
                ])
        case .webhookAnswerRefused(let webhook, let session, let call, let code, let reason):
            self.init(
                "webhook.answer_refused", at: time, call: call, trace: trace,
                data: [
                    "webhook": .string(webhook), "session": .string(session.rawValue), "code": .string(code),
                    "reason": .string(reason),
                ])
        }
    }
}
