import CallControl
import Primitives

extension CallEvent {
    /// The type and the members of `data`; `nil` for what only the gateway and devices need.
    ///
    /// - Parameter time: when it happened, in milliseconds since 1970.
    func content(at time: Int64) -> (type: String, data: [String: EventValue])? {
        switch fact {
        case .joined(let party): ("leg.joined", party.members)
        case .invited(let devices, let invitation):
            ("leg.invited", members(of: invitation, to: devices.count, audience, at: time))
        case .waking(let devices, _): ("leg.waking", ["devices": .integer(Int64(devices.count))])
        case .awoke: ("leg.awoke", [:])
        case .notWoken: ("leg.not_woken", [:])
        case .rings: ("leg.ringing", [:])
        case .progressed: ("leg.progressed", [:])
        case .talks: ("leg.answered", [:])
        case .established(let establishment):
            (
                "call.answered",
                members(of: establishment.content)
                    .merging(["setupMilliseconds": .milliseconds(establishment.setup)]) { member, _ in member }
            )
        case .rejected: ("leg.rejected", [:])
        case .forwarded(let address): ("leg.forwarded", ["to": .string(address.text)])
        case .changedDevice: ("leg.device_changed", [:])
        case .released(let cause, let originator): ("leg.released", members(of: cause, by: originator))
        case .left(let cause, let originator): ("leg.left", members(of: cause, by: originator))
        case .moved: ("leg.moved", [:])
        case .ended(let record, let originator, _): ("call.ended", members(of: record, by: originator))
        case .held: ("leg.held", [:])
        case .resumed: ("leg.resumed", [:])
        case .transferStarted(let party): ("transfer.started", ["to": .string(party.text)])
        case .transferFailed(let failure):
            ("transfer.failed", members(of: failure))
        case .completed(let purpose): (purpose.type, [:])
        case .mediaReached(let step): (step.type, [:])
        case .mediaRestarted: ("media.restarted", [:])
        // One event for the leg that is lost, not one for each listener.
        case .pathLost(let affected): affected == leg ? ("media.lost", [:]) : nil
        case .pathRecovered(let affected): affected == leg ? ("media.recovered", [:]) : nil
        case .playbackEnded: ("playback.ended", [:])
        case .qualityMeasured(let quality): ("media.quality", quality.members)
        case .content(let content): ("leg.received", members(of: content))
        case .keyPressed(let key, let milliseconds, let pressing):
            ("key.pressed", members(of: key, milliseconds, by: pressing))
        case .played(let list): ("playback.ended", list.members)
        case .gathered(let result): ("gather.ended", result.members)
        case .wakingOver, .alerted, .stoppedRinging, .renewedSubscription, .offered, .answered, .unanswered,
            .candidates:
            nil
        }
    }
}

/// Only if an application is asked: `session`, its name of the call; `decideBy`, until when it may decide; `from`,
/// `fromName` and `to`: who calls whom, as it is shown that.
private func members(
    of invitation: CallEvent.Invitation, to devices: Int, _ audience: CallEvent.Audience?, at time: Int64
) -> [String: EventValue] {
    var members = members(of: invitation.content)
    members["devices"] = .integer(Int64(devices))
    guard let milliseconds = invitation.decisionMilliseconds, let audience else { return members }
    members["decideBy"] = .integer(time + Int64(milliseconds))
    members["session"] = .string(audience.session.rawValue)
    members["to"] = .string(audience.local.number)
    if case .user(let caller) = audience.remote {
        members["from"] = .string(caller.number)
        members["fromName"] = .string(caller.name)
    }
    return members
}

/// `parameters`, in the sender's order; `bodies`, only if there are any: each with `contentType`, `contentDisposition`
/// if it is stated, and `body`.
private func members(of content: CustomContent) -> [String: EventValue] {
    let parameters = content.parameters.map { parameter in
        EventValue.object(["name": .string(parameter.name), "value": .string(parameter.value)])
    }
    var members: [String: EventValue] = ["parameters": .list(parameters)]
    if !content.bodies.isEmpty { members["bodies"] = .list(content.bodies.map { .object($0.members) }) }
    return members
}

extension CustomBody {
    fileprivate var members: [String: EventValue] {
        var members: [String: EventValue] = ["contentType": .string(contentType), "body": .string(body)]
        members["contentDisposition"] = contentDisposition.map { .string($0) }
        return members
    }
}

/// `cause` and `statusCode`; `reason`, the words of a user; `failure`, what was wrong with the media.
private func members(of cause: CallEndCause) -> [String: EventValue] {
    var content: [String: EventValue] = [
        "cause": .string(cause.word.rawValue), "statusCode": .integer(Int64(cause.statusCode)),
    ]
    switch cause {
    case .completed(_, let words), .cancelled(let words), .rejected(let words), .endedByOperator(let words):
        content["reason"] = words.map { .string($0) }
    case .mediaFailed(_, let failure): content["failure"] = .string(failure.word)
    case .targetNotReached(let cause, _): return members(of: cause)
    case .unanswered, .unreachable, .subscriptionEnded, .callerLeft, .clientLost, .transferred, .joinFailed, .tooLong,
        .drained, .interrupted:
        break
    }
    return content
}

/// The same, and `endedBy`, which is a leg's number and absent for the gateway.
private func members(of cause: CallEndCause, by originator: LegID?) -> [String: EventValue] {
    var members = members(of: cause)
    members["endedBy"] = originator.map { .integer(Int64($0.number)) }
    return members
}

/// As of the end of the target's leg; `cause` is `transfer_failed` if the other call did not hand over its leg.
private func members(of failure: TransferFailure) -> [String: EventValue] {
    switch failure {
    case .targetNotReached(let cause): members(of: cause)
    case .callNotHandedOver:
        [
            "cause": .string(PartialEndingWord.transferFailed.rawValue),
            "statusCode": .integer(Int64(failure.statusCode)),
        ]
    }
}

private func members(of record: CallRecord, by originator: LegID?) -> [String: EventValue] {
    var members = members(of: record.cause, by: originator)
    members["setupMilliseconds"] = record.setup.map { .milliseconds($0) }
    members["talkMilliseconds"] = record.talk.map { .milliseconds($0) }
    return members
}

/// `by` is the number of the leg whose peer pressed the key; `milliseconds` is absent if it is not known.
private func members(of key: Key, _ milliseconds: Int?, by leg: LegID) -> [String: EventValue] {
    var members: [String: EventValue] = ["key": .string(key.rawValue), "by": .integer(Int64(leg.number))]
    members["milliseconds"] = milliseconds.map { .integer(Int64($0)) }
    return members
}

extension PlayedList {
    /// Its members in `data`.
    var members: [String: EventValue] {
        var members: [String: EventValue] = [
            "heardMilliseconds": .integer(Int64(heard)), "outcome": .string(outcome.rawValue),
        ]
        members["tag"] = tag.map { .string($0) }
        return members
    }
}

extension GatheredKeys {
    /// Its members in `data`.
    var members: [String: EventValue] {
        var members: [String: EventValue] = ["keys": .string(text), "outcome": .string(outcome.rawValue)]
        members["tag"] = tag.map { .string($0) }
        return members
    }
}

extension CallEvent.Participant {
    fileprivate var members: [String: EventValue] {
        [
            "address": .string(user.text), "name": .string(name), "session": .string(session.rawValue),
            "arrival": .string(arrival.word), "role": .string(isCalled ? "callee" : "caller"),
        ]
    }
}

extension CallEvent.Participant.Arrival {
    fileprivate var word: String {
        switch self {
        case .dialled: "dialled"
        case .called: "called"
        case .handedOver: "handedOver"
        }
    }
}

extension HandoverPurpose {
    fileprivate var type: String {
        switch self {
        case .transfer: "transfer.completed"
        case .join: "join.completed"
        }
    }
}

extension MediaFailure {
    fileprivate var word: String {
        switch self {
        case .setupTimeout: "setupTimeout"
        case .neverConnected: "neverConnected"
        case .consentExpired: "consentExpired"
        case .handshakeFailed: "handshakeFailed"
        case .fingerprintMismatch: "fingerprintMismatch"
        case .overloaded: "overloaded"
        }
    }
}

extension CallQuality {
    fileprivate var members: [String: EventValue] {
        var members: [String: EventValue] = [:]
        members["sent"] = sent.map { .object($0.members) }
        members["heard"] = heard.map { .object($0.members) }
        members["roundTripMilliseconds"] = roundTrip.map { .number($0.inMilliseconds) }
        return members
    }
}

extension CallQuality.Direction {
    fileprivate var members: [String: EventValue] {
        ["mos": .number(mos), "loss": .number(loss), "jitterMilliseconds": .number(jitter.inMilliseconds)]
    }
}

extension MediaProgress {
    fileprivate var type: String {
        switch self {
        case .waiting: "media.waiting"
        case .checked: "media.connected"
        case .secured: "media.secured"
        case .flowing: "media.flowing"
        }
    }
}

extension EventValue {
    fileprivate static func milliseconds(_ duration: Duration) -> EventValue {
        .integer(duration.wholeNanoseconds / 1_000_000)
    }
}
