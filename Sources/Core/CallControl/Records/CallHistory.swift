package import Primitives

/// The history of a call. It folds the call's events into the timeline, the records of its users, and the answers to
/// what a client may ask about the call.
///
/// It depends on nothing but the events and their order: the same events make the same history.
package struct CallHistory: Equatable, Sendable {
    private let origin: Moment
    private(set) var timeline = Timeline()
    /// All legs, present and past, in the order in which they joined.
    private(set) var participants: [Participant] = []
    private(set) var operation: Call.Operation.Kind?
    package private(set) var startParameters: [CustomParameter] = []
    /// The custom parameters that came with its answer.
    package private(set) var answerParameters: [CustomParameter] = []

    /// A leg, present or past.
    struct Participant: Equatable, Sendable {
        /// Without its media, which would be copied with every change; how far that is stands below.
        var leg: CallLeg
        var progress: MediaProgress?
        let arrivedAt: Int64
        var answeredAt: Int64?
        /// All that have known the call, in the order in which they were told; one that subscribes again keeps its place.
        var devices: [SubscriptionID] = []
        var names: Notification.Parties?
        /// No part of the call any more; its record is written.
        var isGone = false
        /// The user exists, so that a record has a reader.
        var isKnown = true
    }

    /// - Parameter origin: when the call began; all stamps are reckoned from it.
    package init(origin: Moment) { self.origin = origin }

    /// Which device of which end has asked for something.
    package struct Asker: Equatable, Sendable {
        let leg: Leg
        let device: SubscriptionID

        package init(leg: Leg, device: SubscriptionID) { (self.leg, self.device) = (leg, device) }
    }

    /// A device of an end says that it shows the call.
    ///
    /// - Parameter device: `nil`: the request does not say which; it is named only where no other says such a thing.
    package mutating func rang(_ leg: Leg, _ device: SubscriptionID? = nil, at now: MonotonicTime) {
        guard let participant = self[leg] else { return }
        let candidates = participant.leg.party.devices.filter(\.sendsRingingFeedback)
        let number = number(of: device ?? (candidates.count == 1 ? candidates[0].subscription : nil), at: leg)
        guard
            number == nil
                || !timeline.entries.contains(where: { $0.event == .ringing && $0.leg == leg && $0.device == number })
        else { return }
        note(.ringing, leg, device: number, at: now)
    }

    /// A device that subscribed again is the one it was.
    package mutating func deviceChanged(_ leg: Leg, _ change: DeviceChange) {
        guard case .joined(let device, let former?) = change else { return }
        edit(leg) { participant in
            guard let place = participant.devices.firstIndex(of: former),
                !participant.devices.contains(device.subscription)
            else { return }
            participant.devices[place] = device.subscription
        }
    }

    /// - Parameter asker: whose request it was; `nil`: nobody's, or it is not known whose.
    /// - Returns: records of users for whom the call is over with this step.
    package mutating func advance(
        to call: Call, doing actions: [CallAction], for asker: Asker? = nil, at now: MonotonicTime
    ) -> [CallLogRecord] {
        welcome(call, at: now)
        for leg in call.legs { follow(leg, call, asker, at: now) }
        follow(Call.Operation.Kind(call), of: call, at: now)
        var records: [CallLogRecord] = []
        note(actions, call, asker, at: now)
        records += dismiss(call, actions, at: now)
        for case .ended(let record) in actions { records += end(call, record.cause, asker, at: now) }
        return records
    }
}

extension CallHistory.Participant {
    fileprivate init(_ leg: CallLeg, at time: Int64) {
        self.leg = leg
        arrivedAt = time
        see(leg)
    }

    fileprivate mutating func see(_ leg: CallLeg) {
        self.leg = leg
        self.leg.media = nil
        progress = leg.media?.progress ?? progress
        for device in leg.party.devices where !devices.contains(device.subscription) {
            devices.append(device.subscription)
        }
    }
}

// MARK: - Questions

extension CallHistory {
    func start(of leg: Leg) -> Int64 { self[leg]?.arrivedAt ?? origin.epochMilliseconds }
    func answer(of leg: Leg) -> Int64? { self[leg]?.answeredAt }

    func timeline(seenFrom own: Leg) -> [CallLogRecord.Event] {
        timeline.entries.map { CallLogRecord.Event(side: CallSide($0.leg, seenFrom: own), entry: $0) }
    }

    subscript(leg: Leg) -> Participant? { participants.first { $0.leg.id == leg } }

    private func number(of device: SubscriptionID?, at leg: Leg) -> Int? {
        guard let device else { return nil }
        return self[leg]?.devices.firstIndex(of: device).map { $0 + 1 }
    }

    /// Of the device that asked, if it is one of this end.
    private func number(of asker: Asker?, at leg: Leg?) -> Int? {
        guard let asker, asker.leg == leg else { return nil }
        return number(of: asker.device, at: asker.leg)
    }

    func stamp(_ now: MonotonicTime) -> Int64 {
        origin.epochMilliseconds + (now - origin.monotonic).wholeNanoseconds / 1_000_000
    }
}

// MARK: - Keeping records

extension CallHistory {
    private mutating func edit(_ leg: Leg, _ change: (inout Participant) -> Void) {
        guard let index = participants.firstIndex(where: { $0.leg.id == leg }) else { return }
        change(&participants[index])
    }

    mutating func note(
        _ event: TimelineEntry.Event, _ leg: Leg?, party: String? = nil, device: Int? = nil,
        _ ending: CallEnding? = nil, at now: MonotonicTime
    ) {
        timeline.append(
            TimelineEntry(
                time: stamp(now), event, leg: leg, party: party ?? leg.flatMap { self[$0]?.leg.party.user.text },
                device: device,
                statusCode: ending?.statusCode, reasonText: ending?.reasonText, cause: ending?.cause))
    }

    /// Ends that are new.
    private mutating func welcome(_ call: Call, at now: MonotonicTime) {
        let (isBeginning, time) = (participants.isEmpty, stamp(now))
        for leg in call.legs where self[leg.id] == nil {
            participants.append(Participant(leg, at: isBeginning ? origin.epochMilliseconds : time))
            // Whoever is in conversation from the beginning comes from another call.
            if !isBeginning, leg.isTalking {
                edit(leg.id) { $0.answeredAt = time }
                note(.joined, leg.id, at: now)
            }
        }
        if isBeginning { note(.created, .caller, at: origin.monotonic) }
    }

    /// An end that was there before.
    private mutating func follow(_ leg: CallLeg, _ call: Call, _ asker: Asker?, at now: MonotonicTime) {
        guard let former = self[leg.id] else { return }
        let before = former.leg
        edit(leg.id) { $0.see(leg) }
        if !before.isTalking, leg.isTalking {
            let time = stamp(now)
            edit(leg.id) { $0.answeredAt = $0.answeredAt ?? time }
            // Who dialled is answered by that.
            if leg.isCalled { note(.answered, leg.id, device: number(of: asker, at: leg.id), at: now) }
        }
        if let new = leg.media?.progress {
            let old = former.progress ?? .waiting
            if new < old { note(.mediaRestarted, leg.id, at: now) }
            let from = new < old ? .waiting : old
            if from < .checked, new >= .checked { note(.iceConnected, leg.id, at: now) }
            if from < .secured, new >= .secured { note(.dtlsConnected, leg.id, at: now) }
            if from < .flowing, new >= .flowing { note(.firstPacket, leg.id, at: now) }
        }
        if before.isPathLost != leg.isPathLost {
            note(leg.isPathLost ? .mediaPathLost : .mediaPathRecovered, leg.id, at: now)
        }
        if before.holds != leg.holds { note(leg.holds ? .held : .resumed, leg.id, at: now) }
        if case .completed = leg.stage, before.isTalking { note(.completed, leg.id, at: now) }
    }

    private mutating func follow(_ next: Call.Operation.Kind?, of call: Call, at now: MonotonicTime) {
        defer { operation = next }
        guard next != operation else { return }
        switch next {
        case .transfer(let leg, let target): note(.transferStarted, leg, party: call[target]?.party.user.text, at: now)
        case .consultation(let leg, let party): note(.transferStarted, leg, party: party.text, at: now)
        case nil: break
        }
    }

    private mutating func note(_ actions: [CallAction], _ call: Call, _ asker: Asker?, at now: MonotonicTime) {
        let isAnswer = actions.contains { if case .answered = $0 { true } else { false } }
        for case .notify(let leg, let receivers, let notification) in actions {
            if let parties = notification.parties { edit(leg) { $0.names = parties } }
            switch notification.type {
            case .call, .startCallReplace:
                if case .unanswered = call.state { startParameters = notification.customParameters }
                for receiver in receivers { offered(to: receiver, leg, call, at: now) }
            case .respondCallUpdate where isAnswer, .startCallUpdate where isAnswer:
                answerParameters = notification.customParameters
            case .callCancel: stoppedRinging(receivers, leg, notification.cause, asker, at: now)
            default: note(notification, to: leg, call, at: now)
            }
        }
    }

    private mutating func note(_ notification: Notification, to leg: Leg, _ call: Call, at now: MonotonicTime) {
        switch notification.type {
        case .sessionProgress: note(.progress, leg, at: now)
        // That the whole call ends is said elsewhere.
        case .sessionFail where !call.hasEnded:
            note(
                .transferFailed, leg,
                CallEnding(
                    statusCode: notification.statusCode ?? 480, reasonText: notification.reasonText,
                    cause: CallEnding.PartialCause.notTransferred.rawValue),
                at: now)
        default: break
        }
    }

    /// Devices need not ring any more. Where it is not known which of them has answered, neither is which have not.
    private mutating func stoppedRinging(
        _ devices: [SubscriptionID], _ leg: Leg, _ cause: String?, _ asker: Asker?, at now: MonotonicTime
    ) {
        let acting = number(of: asker, at: leg)
        if cause == CallEndCause.rejected(reasonText: nil).word { note(.rejected, leg, device: acting, at: now) }
        guard cause == CallEnding.PartialCause.answeredElsewhere.rawValue, acting != nil else { return }
        for other in devices.map({ number(of: $0, at: leg) }) where other != acting {
            note(.answeredElsewhere, leg, device: other, at: now)
        }
    }

    private mutating func offered(to device: SubscriptionID, _ leg: Leg, _ call: Call, at now: MonotonicTime) {
        let number = number(of: device, at: leg)
        note(.offered, leg, device: number, at: now)
        let reports = call[leg]?.party.devices.first { $0.subscription == device }?.sendsRingingFeedback ?? true
        if !reports { note(.ringing, leg, device: number, at: now) }
    }
}

// MARK: - Ends that go

extension CallHistory {
    /// Ends that are no part of the call any more, or have done their part in it.
    private mutating func dismiss(_ call: Call, _ actions: [CallAction], at now: MonotonicTime) -> [CallLogRecord] {
        var records: [CallLogRecord] = []
        for participant in participants where !participant.isGone {
            let leg = participant.leg
            if let present = call[leg.id] {
                guard case .completed = present.stage else { continue }
                records += close(
                    leg.id, CallEnding(statusCode: 200, cause: "normal_clearing", endedBy: leg.id), at: now)
            } else if case .unanswered = call.state {
                note(.forwarded, leg.id, party: call.callee.flatMap { call[$0]?.party.user.text }, at: now)
                records += close(leg.id, .forwarded(by: leg.id), at: now)
            } else if !actions.contains(.detach(leg.id, leg.party.session)) {
                note(.moved, leg.id, at: now)
                records += close(leg.id, nil, at: now)
            } else {
                let ending = ending(ofLeaving: leg, actions)
                if leg.isTalking { note(.left, leg.id, ending, at: now) }
                records += close(leg.id, ending, at: now)
            }
        }
        return records
    }

    /// Who leaves by itself is told nothing.
    private func ending(ofLeaving leg: CallLeg, _ actions: [CallAction]) -> CallEnding {
        for case .notify(leg.id, _, let last) in actions where last.type == .callEnd || last.type == .callCancel {
            guard let cause = last.cause else { continue }
            return CallEnding(
                statusCode: last.statusCode ?? (last.type == .callEnd ? 200 : 487), reasonText: last.reasonText,
                cause: cause,
                endedBy: last.endedBy == .own ? leg.id : nil)
        }
        return CallEnding(statusCode: 200, cause: "normal_clearing", endedBy: leg.id)
    }

    private mutating func end(_ call: Call, _ cause: CallEndCause, _ asker: Asker?, at now: MonotonicTime)
        -> [CallLogRecord]
    {
        let ending = CallEnding(cause, callee: call.callee ?? .callee)
        note(.ended, ending.endedBy, device: number(of: asker, at: ending.endedBy), ending, at: now)
        if cause == .unreachable(.noSuchUser) { edit(.callee) { $0.isKnown = false } }
        return participants.filter { !$0.isGone }.flatMap { participant in
            close(participant.leg.id, CallEnding(cause.seen(by: participant.leg), callee: ending.endedBy), at: now)
        }
    }

    private mutating func close(_ leg: Leg, _ ending: CallEnding?, at now: MonotonicTime) -> [CallLogRecord] {
        guard let participant = self[leg] else { return [] }
        edit(leg) { $0.isGone = true }
        return participant.isKnown ? [record(for: participant, ending, at: now)] : []
    }

    private func record(for own: Participant, _ ending: CallEnding?, at now: MonotonicTime) -> CallLogRecord {
        let leg = own.leg
        let others = participants.filter { $0.leg.id != leg.id }
        let wasTaken = own.answeredAt != nil || ending?.endedBy == leg.id
        return CallLogRecord(
            id: leg.party.session, user: leg.party.user,
            direction: leg.isCalled ? wasTaken ? .incoming : .missed : .outgoing,
            startedAt: own.arrivedAt, answeredAt: own.answeredAt, endedAt: stamp(now),
            names: own.names ?? leg.assumedNames,
            parties: ([own] + others).map { other in
                CallLogRecord.Party(
                    side: CallSide(other.leg.id, seenFrom: leg.id), name: other.leg.party.name,
                    address: other.leg.party.user.text,
                    isCalled: other.leg.isCalled)
            },
            ending: ending, endedBy: CallSide(ending?.endedBy, seenFrom: leg.id), timeline: timeline(seenFrom: leg.id))
    }
}

extension CallEnding {
    fileprivate static func forwarded(by leg: Leg) -> CallEnding {
        CallEnding(statusCode: 302, cause: PartialCause.forwarded.rawValue, endedBy: leg)
    }
}

extension CallLeg {
    /// Of an end that was never told anything.
    fileprivate var assumedNames: Notification.Parties {
        let (caller, callee) = isCalled ? (remote, party.shown) : (party.shown, remote)
        return Notification.Parties(
            callerName: caller.name, callerDisplayNumber: caller.number, calleeDisplayNumber: callee.number,
            remoteName: remote.name,
            remoteDisplayNumber: remote.number)
    }
}

extension Call {
    fileprivate var hasEnded: Bool { if case .ended = state { true } else { false } }
}

extension Call.Operation {
    /// An operation that belongs into the books.
    enum Kind: Equatable, Sendable {
        case transfer(by: Leg, to: Leg)
        case consultation(by: Leg, with: UserAddress)

        init?(_ call: Call) {
            guard case .answered(let answered) = call.state else { return nil }
            switch answered.operation {
            case .transfer(let transfer): self = .transfer(by: transfer.transferor, to: transfer.target)
            case .consultation(let consultation):
                self = .consultation(by: consultation.transferor, with: consultation.party)
            case .update, .handover, nil: return nil
            }
        }
    }
}
