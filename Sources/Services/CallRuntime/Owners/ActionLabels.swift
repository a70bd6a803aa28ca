import CallControl
import Primitives
import Registration

extension CallAction {
    /// For the log: the action, without names, addresses and descriptions.
    var label: String {
        switch self {
        case .event(let event): event.label
        case .prepareMedia(let leg, _): "prepareMedia \(leg)"
        case .prepareHeadless(let leg, let source): "prepareHeadless \(leg) \(source.label)"
        case .connectMedia(let leg, _): "connectMedia \(leg)"
        case .releaseMedia: "releaseMedia"
        case .play(let playback, let number, let leg): "play #\(number) \(playback.source.label) to \(leg)"
        case .stopPlaying(let leg): "stopPlaying \(leg)"
        case .sendDigits(let digits, let leg): "sendDigits ×\(digits.digits.utf8.count) to \(leg)"
        case .detach(let leg, _): "detach \(leg)"
        case .route(let leg, let route): "route \(leg) \(route)"
        case .releaseLeg(let leg): "releaseLeg \(leg)"
        case .say(let leg, let speech): "say \(leg) \(speech.label)"
        case .peerCall(let action): action.label
        }
    }
}

extension Speech {
    /// For the log: what is to be done, without the names of files.
    fileprivate var label: String {
        switch self {
        case .play(let list, let number, _, let mode): "play #\(number) ×\(list.items.count) \(mode)"
        case .stop: "stop"
        case .stopList(let number): "stop #\(number)"
        case .mute(let isMuted): isMuted ? "mute" : "unmute"
        case .pause(let isPaused): isPaused ? "pause" : "continue"
        case .stream(let stream): "stream \(stream)"
        case .record(.start(let id, let request)): "record \(id) as \(request.format)"
        case .record(.pause): "pause the recording"
        case .record(.resume): "resume the recording"
        case .record(.stop): "stop the recording"
        }
    }
}

extension PeerCallAction {
    /// For the log: the action, without what users said.
    fileprivate var label: String {
        switch self {
        case .requestHandover(let call, _): "requestHandover of \(call)"
        case .offerHandover(let call, let handover): "offerHandover of \(handover.legs.count) to \(call)"
        case .refuseHandover(let call): "refuseHandover to \(call)"
        case .takeHandover(let call, let legs, let purpose): "takeHandover of \(legs.count) from \(call) for \(purpose)"
        case .declineHandover(let call): "declineHandover of \(call)"
        case .passOn(let call, let leg, let event): "passOn to \(call) \(leg) \(event.label)"
        }
    }
}

extension CallEvent {
    /// For the log: what happened, to which leg, and how many devices are told.
    fileprivate var label: String {
        let told = audience.map { " ×\($0.devices.count)" } ?? ""
        return "\(leg.map { "\($0) " } ?? "")\(fact.label)\(told)"
    }
}

extension Playback.Source {
    /// For the log: without file names, which may reveal something about a call.
    fileprivate var label: String {
        switch self {
        case .music: "music"
        case .tone(let tone): "\(tone)"
        case .file: "file"
        }
    }
}

extension HeadlessSource {
    /// For the log: without file names.
    fileprivate var label: String {
        switch self {
        case .silence: "silence"
        case .echo: "echo"
        case .playback(let playback): playback.source.label
        }
    }
}

extension CallEndCause {
    /// For the log: the cause, without the words that users gave for it.
    var label: String {
        switch self {
        case .completed(let leg, _): "completed by \(leg)"
        case .cancelled: "cancelled"
        case .rejected: "rejected"
        case .unanswered: "unanswered"
        case .unreachable(let reason): "unreachable \(reason)"
        case .mediaFailed(let leg, let failure): "mediaFailed \(leg) \(failure)"
        case .subscriptionEnded(let leg): "subscriptionEnded \(leg)"
        case .callerLeft: "callerLeft"
        case .clientLost(let leg): "clientLost \(leg)"
        case .transferred(let leg): "transferred by \(leg)"
        case .joinFailed: "joinFailed"
        case .targetNotReached(let cause, _): "targetNotReached \(cause.label)"
        case .tooLong: "tooLong"
        case .drained: "drained"
        case .endedByOperator: "endedByOperator"
        case .interrupted: "interrupted"
        }
    }
}

extension TransferFailure {
    /// For the log: why, without the words that users gave for it.
    var label: String {
        switch self {
        case .targetNotReached(let cause): cause.label
        case .callNotHandedOver: "callNotHandedOver"
        }
    }
}

extension LegEvent {
    /// For the log: the event, without the words that users gave for it.
    var label: String {
        switch self {
        case .ended: "ended"
        case .mediaFailed(let failure): "mediaFailed \(failure)"
        case .subscriptionEnded: "subscriptionEnded"
        case .clientLost: "clientLost"
        case .replaced: "replaced"
        }
    }
}

extension Notice {
    /// For the log: what is told.
    fileprivate var label: String {
        switch self {
        case .call(let entry): entry.event.fact.label
        case .service(let notice): notice.label
        case .gone: "gone"
        case .overridden: "overridden"
        case .ping: "ping"
        case .lost(let count): "\(count) lost"
        }
    }
}

extension ServiceNotice {
    /// For the log: what is told, without the words of users.
    fileprivate var label: String {
        switch self {
        case .message: "message"
        case .messageResult(let result): "message \(result.outcome.rawValue)"
        case .presence: "presence"
        case .voicemail: "voicemail"
        case .event(let report): "event \(report.kind.rawValue)"
        case .pushInvalidated: "push invalidated"
        }
    }
}

extension ServiceMessage {
    /// For the log: what is told, without the words of users.
    fileprivate var label: String {
        switch self {
        case .messageResult(let result): "message \(result.outcome.rawValue)"
        case .presence, .askedPresence: "presence"
        case .voicemail, .voicemailFor: "voicemail"
        case .unwatched: "unwatched"
        case .pushInvalidated: "push invalidated"
        }
    }
}

extension ServiceChange {
    /// For the log: what is kept, without the words of users.
    fileprivate var label: String {
        switch self {
        case .owed(let owed): "owed #\(owed.number) \(owed.message.label)"
        case .settled(let numbers): "settled ×\(numbers.count)"
        case .messageKept: "message kept"
        case .messagesRemoved(let names, _): "messages removed ×\(names.count)"
        case .presence: "presence"
        case .interests: "interests"
        case .voicemail: "voicemail"
        }
    }
}

extension RegistrationChange {
    /// For the log: without channels and content.
    fileprivate var label: String {
        switch self {
        case .subscribed(let stored): "subscribed \(stored.id)"
        case .unsubscribed(let id): "unsubscribed \(id)"
        case .notified(let id, let frame): "notified \(id) #\(frame.eventID)"
        case .transmitted(let id, let number): "transmitted \(id) #\(number)"
        case .numbered(let id, let number): "numbered \(id) #\(number)"
        case .forgotten(let id, let number, let lost): "forgotten \(id) #\(number), \(lost) lost"
        case .service(let change): change.label
        }
    }
}

extension RegistrationAction {
    /// For the log: without channels, which are secrets, and without content, which belongs to the users of the call.
    var label: String {
        switch self {
        case .store(let change): "store \(change.label)"
        case .transmit(let frame, let socket):
            "transmit \(frame.notice.label) #\(frame.eventID) to \(socket.rawValue)"
        case .replay(let frame, let socket): "replay \(frame.notice.label) #\(frame.eventID) to \(socket.rawValue)"
        case .close(let socket, let closure): "close \(socket.rawValue) \(closure)"
        case .inform(let call, let leg, .joined(let device, _, _)):
            "inform \(call) \(leg) joined \(device.subscription)"
        case .inform(let call, let leg, .listens(let subscription, _)):
            "inform \(call) \(leg) listens \(subscription)"
        case .inform(let call, let leg, .left(let subscription, _)): "inform \(call) \(leg) left \(subscription)"
        case .inform(let call, let leg, .notWoken(let device)): "inform \(call) \(leg) not woken \(device.rawValue)"
        case .inform(let call, let leg, .userRemoved): "inform \(call) \(leg) user removed"
        case .inform(let call, let leg, .channelsOpen(let areOpen)):
            "inform \(call) \(leg) \(areOpen ? "listens" : "does not listen")"
        case .inform(let call, let leg, .qualityReporting(let receivers)):
            "inform \(call) \(leg) quality to \(receivers.count)"
        case .tell(let user, let message): "tell \(Redacted(user)) \(message.label)"
        case .push(let push): "push \(push.label)"
        case .keptMessagesChanged(let difference): "kept messages \(difference > 0 ? "+" : "")\(difference)"
        case .discarded(let count, let subscription): "discarded \(count) of \(subscription)"
        case .subscriptionsChanged(let difference): "subscriptions \(difference > 0 ? "+" : "")\(difference)"
        case .networkChanged: "network"
        }
    }
}

extension SilentPush {
    /// For the log: without the channel, which is a secret, and without the names of devices.
    fileprivate var label: String {
        switch occasion {
        case .gone(let subscription, _): "gone \(subscription)"
        case .messageWaiting: "message waiting"
        case .refresh(let subscription): "refresh \(subscription)"
        }
    }
}
