package import Primitives

/// The history of a call. It folds the call's events into the timeline, the records of its users, and the answers to
/// what a client may ask about the call.
///
/// It depends on nothing but the events and their order: the same events make the same history.
package struct CallHistory: Equatable, Sendable {
    /// When the call was started, on both clocks.
    package let origin: Moment
    /// What has happened so far.
    private(set) var timeline = Timeline()
    /// All legs, present and past, in the order in which they joined.
    private(set) var participants: [Participant] = []
    /// The custom parameters that came with the start of the call.
    package private(set) var startParameters: [CustomParameter] = []
    /// The custom parameters that came with its answer.
    package private(set) var answerParameters: [CustomParameter] = []
    /// The call has been answered.
    private var isEstablished = false

    /// A leg, present or past.
    struct Participant: Equatable, Sendable {
        /// The number of the leg.
        let leg: LegID
        /// What the call knew of the leg when it joined.
        var party: CallEvent.Participant
        /// When the leg became part of the call, milliseconds since 1970.
        let arrivedAt: Int64
        /// When the leg started to talk, milliseconds since 1970; `nil`: never.
        var answeredAt: Int64?
        /// All devices that have known the call, in the order in which they were told. A device that renews its
        /// subscription keeps its place.
        var devices: LegDevices
        /// The names as this leg last saw them.
        var names: Names
        /// How far its media path has come; `nil` if media goes from peer to peer.
        var progress: MediaProgress?
        /// The leg is not part of the call any more, and its record has been made.
        var isGone = false
        /// The user exists, so that a record has a reader.
        var isKnown = true
    }

    /// The names that a leg is shown for the caller and the callee.
    struct Names: Equatable, Sendable {
        var caller: ShownParty
        var callee: ShownParty
    }

    /// Makes an empty history.
    ///
    /// - Parameter origin: when the call was started; all times are computed from it.
    package init(origin: Moment) { self.origin = origin }

    /// Takes the next event of the call.
    ///
    /// - Returns: the records of the users for whom the call is over with this event.
    package mutating func record(_ event: CallEvent, at now: MonotonicTime) -> [CallLogRecord] {
        guard let leg = event.leg else {
            if case .established(let establishment) = event.fact {
                isEstablished = true
                answerParameters = establishment.content.parameters
            }
            guard case .ended(let record, let originator, let device) = event.fact else { return [] }
            return end(record.cause, by: originator, device, at: now)
        }
        if let audience = event.audience { edit(leg) { $0.names = Names(audience) } }
        return record(event.fact, of: leg, event.audience, at: now)
    }
}

// MARK: - What is missing

extension CallHistory {
    /// The log of the call lacks events here.
    ///
    /// - Parameter count: how many, 1 or more.
    mutating func omit(_ count: Int, at now: MonotonicTime) {
        timeline.append(TimelineEntry(time: stamp(now), .omitted, count: count))
    }
}

// MARK: - Facts about one leg

extension CallHistory {
    private mutating func record(
        _ fact: CallEvent.Fact, of leg: LegID, _ audience: CallEvent.Audience?, at now: MonotonicTime
    ) -> [CallLogRecord] {
        switch fact {
        case .joined(let party): addParticipant(leg, party, at: now)
        case .invited(let devices, let invitation):
            if !isEstablished { startParameters = invitation.content.parameters }
            for device in devices { offered(to: device, leg, at: now) }
        case .waking(_, let invitation):
            if !isEstablished { startParameters = invitation.content.parameters }
            note(.waking, leg, at: now)
        case .rings(let device): rang(leg, device, at: now)
        case .progressed: note(.progress, leg, at: now)
        case .held: note(.held, leg, at: now)
        case .resumed: note(.resumed, leg, at: now)
        case .talks(let device): talks(leg, device, at: now)
        case .rejected(let device): note(.rejected, leg, device: number(of: device, at: leg), at: now)
        case .stoppedRinging(let reason, let winner):
            if reason == .answeredElsewhere { answeredElsewhere(leg, audience?.devices ?? [], winner, at: now) }
        case .changedDevice(let device): edit(leg) { $0.devices.add(Device(device)) }
        case .renewedSubscription(let former, let device): edit(leg) { $0.devices.replace(former, with: device) }
        case .transferStarted(let party): note(.transferStarted, leg, party: party.text, at: now)
        case .transferFailed(let reason): note(.transferFailed, leg, .transferFailed(reason), at: now)
        case .mediaReached(let step): reached(step, leg, at: now)
        case .mediaRestarted: restarted(leg, at: now)
        case .pathLost(leg): note(.mediaPathLost, leg, at: now)
        case .pathRecovered(leg): note(.mediaPathRecovered, leg, at: now)
        case .forwarded(let address):
            note(.forwarded, leg, party: address.text, at: now)
            return close(leg, CallEnding(.forwarded, by: leg), at: now)
        case .completed:
            note(.completed, leg, at: now)
            return close(leg, CallEnding(.ended(.completed(by: leg, reasonText: nil)), by: leg), at: now)
        case .moved:
            note(.moved, leg, at: now)
            return close(leg, nil, at: now)
        case .left(let cause, let originator):
            if self[leg]?.answeredAt != nil { note(.left, leg, .ended(cause), at: now) }
            return close(leg, CallEnding(.ended(cause), by: originator), at: now)
        case .awoke, .notWoken, .wakingOver, .alerted, .established, .released, .ended, .offered, .answered,
            .unanswered,
            .candidates,
            .pathLost, .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            break
        }
        return []
    }

    /// A leg has become part of the call.
    private mutating func addParticipant(_ leg: LegID, _ party: CallEvent.Participant, at now: MonotonicTime) {
        let time = stamp(now)
        // True for the caller, and for the callee that it called.
        let isThereFromTheStart = participants.count < 2 && party.arrival != .handedOver
        participants.append(Participant(leg, party, at: isThereFromTheStart ? origin.epochMilliseconds : time))
        // The gateway reads no call log.
        if party.user == .connector { edit(leg) { $0.isKnown = false } }
        if participants.count == 1 { note(.created, leg, at: origin.monotonic) }
        guard party.arrival == .handedOver else { return }
        edit(leg) { $0.answeredAt = time }
        note(.joined, leg, at: now)
    }

    private mutating func offered(to device: Device, _ leg: LegID, at now: MonotonicTime) {
        guard let index = index(of: leg) else { return }
        let place = participants[index].devices.add(device)
        note(.offered, leg, device: place + 1, at: now)
    }

    /// A device of a leg says that it shows the call. A device that does not name itself is identified only if no other
    /// device of the leg could have said so.
    private mutating func rang(_ leg: LegID, _ device: SubscriptionID?, at now: MonotonicTime) {
        guard let index = index(of: leg) else { return }
        let number = number(of: device ?? participants[index].devices.onlyOneThatRings, at: leg)
        let isKnown = timeline.entries.contains { $0.event == .ringing && $0.leg == leg && $0.device == number }
        if number == nil || !isKnown { note(.ringing, leg, device: number, at: now) }
    }

    private mutating func talks(_ leg: LegID, _ device: SubscriptionID?, at now: MonotonicTime) {
        let time = stamp(now)
        edit(leg) { $0.answeredAt = $0.answeredAt ?? time }
        // A leg that dialled is answered by another one.
        if self[leg]?.party.isCalled == true { note(.answered, leg, device: number(of: device, at: leg), at: now) }
    }

    /// If it is not known which device has answered, it is not known either which devices have not.
    private mutating func answeredElsewhere(
        _ leg: LegID, _ devices: [SubscriptionID], _ winner: SubscriptionID?, at now: MonotonicTime
    ) {
        guard let acting = number(of: winner, at: leg) else { return }
        for other in devices.map({ number(of: $0, at: leg) }) where other != acting {
            note(.answeredElsewhere, leg, device: other, at: now)
        }
    }

    private mutating func reached(_ step: MediaProgress, _ leg: LegID, at now: MonotonicTime) {
        guard let from = self[leg].map({ $0.progress ?? .waiting }) else { return }
        edit(leg) { $0.progress = step }
        if from < .checked, step >= .checked { note(.pathChecked, leg, at: now) }
        if from < .secured, step >= .secured { note(.pathSecured, leg, at: now) }
        if from < .flowing, step >= .flowing { note(.firstPacket, leg, at: now) }
    }

    private mutating func restarted(_ leg: LegID, at now: MonotonicTime) {
        guard let progress = self[leg]?.progress, progress > .waiting else { return }
        edit(leg) { $0.progress = .waiting }
        note(.mediaRestarted, leg, at: now)
    }
}

extension CallHistory.Participant {
    fileprivate init(_ leg: LegID, _ party: CallEvent.Participant, at time: Int64) {
        self.leg = leg
        self.party = party
        arrivedAt = time
        devices = LegDevices(party.devices)
        progress = party.progress
        let local = DisplayName(name: party.name, number: party.user.text)
        names = CallHistory.Names(local: local, remote: party.remote, isCalled: party.isCalled)
    }
}

extension CallHistory.Names {
    fileprivate init(local: DisplayName, remote: ShownParty, isCalled: Bool) {
        (caller, callee) = isCalled ? (remote, .user(local)) : (.user(local), remote)
    }

    /// In a conference, the conference is shown as the caller of every leg.
    fileprivate init(_ audience: CallEvent.Audience) {
        self.init(local: audience.local, remote: audience.remote, isCalled: audience.isCalled || audience.isConference)
    }
}

// MARK: - Queries

extension CallHistory {
    /// When the leg became part of the call, milliseconds since 1970.
    func start(of leg: LegID) -> Int64 { self[leg]?.arrivedAt ?? origin.epochMilliseconds }
    /// When the leg started to talk, milliseconds since 1970; `nil`: it has not.
    func answer(of leg: LegID) -> Int64? { self[leg]?.answeredAt }

    /// The timeline, as this leg sees it.
    func timeline(seenFrom own: LegID) -> [CallLogRecord.Event] {
        timeline.entries.map { CallLogRecord.Event(side: CallSide($0.leg, seenFrom: own), entry: $0) }
    }

    /// A leg that is or was part of the call, with the call as its user may see it.
    package struct View: Equatable, Sendable {
        /// The number of the leg.
        package var leg: LegID
        /// The user of the leg.
        package var user: UserAddress
        /// The name of the leg towards its user (`sessionData`).
        package var session: SessionID
        /// When the leg became part of the call, milliseconds since 1970.
        package var startedAt: Int64
        /// When the leg started to talk, milliseconds since 1970; `nil`: never.
        package var answeredAt: Int64?
        /// What has happened in the call, in order, as the leg sees it.
        package var timeline: [CallLogRecord.Event]
    }

    /// The views of all legs, present and past, in the order in which they joined.
    package var views: [View] {
        participants.map {
            View(
                leg: $0.leg, user: $0.party.user, session: $0.party.session, startedAt: $0.arrivedAt,
                answeredAt: $0.answeredAt, timeline: timeline(seenFrom: $0.leg))
        }
    }

    /// The user of a leg, present or past; `nil`: there is no such leg.
    package func user(of leg: LegID) -> UserAddress? { self[leg]?.party.user }

    /// Whose the legs are, present and past, in the order in which these joined.
    package var holders: [LegHolder] { participants.map(\.party.holder) }

    /// Whose legs an event is for: all of them, present and past. Keys, as the digits of a card, are for the
    /// application that hears them, and for whoever presses them. Where no application hears them, they are for all
    /// legs that talk at the time.
    package func holders(seeing event: CallEvent) -> [LegHolder] {
        let legs: [LegID?]
        switch event.fact {
        case .keyPressed(_, _, let presser) where event.leg == presser:
            return participants.filter { $0.leg == presser || ($0.answeredAt != nil && !$0.isGone) }
                .map(\.party.holder)
        case .keyPressed(_, _, let presser): legs = [presser, event.leg]
        case .gathered: legs = [event.leg]
        case .joined, .invited, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .progressed, .talks,
            .established, .stoppedRinging, .rejected, .forwarded, .changedDevice, .renewedSubscription, .released,
            .left,
            .moved, .ended, .offered, .answered, .unanswered, .candidates, .held, .resumed, .transferStarted,
            .transferFailed, .completed, .mediaReached, .mediaRestarted, .pathLost, .pathRecovered, .playbackEnded,
            .qualityMeasured, .content, .played:
            return holders
        }
        return legs.compactMap { leg in leg.flatMap { self[$0]?.party.holder } }
    }

    /// The trace that the call is part of: that of the first leg, present or past, which has one; `nil`: it is part of
    /// none.
    package var trace: TraceContext? { participants.lazy.compactMap(\.party.trace).first }

    /// The session of a leg, present or past; `nil`: there is no such leg.
    package func session(of leg: LegID) -> SessionID? { self[leg]?.party.session }

    subscript(leg: LegID) -> Participant? { participants.first { $0.leg == leg } }

    /// Where a leg is among the participants: to look at a part of it without a copy of all.
    private func index(of leg: LegID) -> Int? { participants.firstIndex { $0.leg == leg } }

    /// The number of a device among those of the leg's user, from 1; `nil`: unknown.
    private func number(of device: SubscriptionID?, at leg: LegID?) -> Int? {
        guard let device, let index = leg.flatMap(index(of:)) else { return nil }
        return participants[index].devices.place(of: device).map { $0 + 1 }
    }

    /// A time on the monotonic clock as milliseconds since 1970, as if the wall clock had not been set since the start.
    func stamp(_ now: MonotonicTime) -> Int64 {
        origin.epochMilliseconds + (now - origin.monotonic).wholeNanoseconds / 1_000_000
    }
}

// MARK: - Keeping records

extension CallHistory {
    private mutating func edit(_ leg: LegID, _ change: (inout Participant) -> Void) {
        if let index = index(of: leg) { change(&participants[index]) }
    }

    private mutating func note(
        _ event: TimelineEntry.Event, _ leg: LegID?, party: String? = nil, device: Int? = nil,
        _ cause: EndingCause? = nil, at now: MonotonicTime
    ) {
        timeline.append(
            TimelineEntry(
                time: stamp(now), event, leg: leg,
                party: party ?? leg.flatMap(index(of:)).map { participants[$0].party.user.text },
                device: device, cause: cause))
    }

    /// The call is over: makes the records of all legs that were still part of it.
    private mutating func end(
        _ cause: CallEndCause, by originator: LegID?, _ device: SubscriptionID?, at now: MonotonicTime
    ) -> [CallLogRecord] {
        note(.ended, originator, device: number(of: device, at: originator), .ended(cause), at: now)
        if cause == .unreachable(.noSuchUser) { edit(.callee) { $0.isKnown = false } }
        return participants.filter { !$0.isGone }.flatMap { participant in
            let isRinging = participant.party.isCalled && participant.answeredAt == nil
            let seen = cause.seen(byRinging: isRinging)
            return close(participant.leg, CallEnding(.ended(seen), by: seen.originator(callee: originator)), at: now)
        }
    }

    /// Makes the record of a leg that is not part of the call any more; none if the user does not exist.
    private mutating func close(_ leg: LegID, _ ending: CallEnding?, at now: MonotonicTime) -> [CallLogRecord] {
        guard let participant = self[leg], !participant.isGone else { return [] }
        edit(leg) { $0.isGone = true }
        return participant.isKnown ? [record(for: participant, ending, at: now)] : []
    }

    private func record(for own: Participant, _ ending: CallEnding?, at now: MonotonicTime) -> CallLogRecord {
        let others = participants.filter { $0.leg != own.leg }
        let wasTaken = own.answeredAt != nil || ending?.endedBy == own.leg
        return CallLogRecord(
            id: own.party.session, user: own.party.user,
            direction: own.party.isCalled ? wasTaken ? .incoming : .missed : .outgoing,
            startedAt: own.arrivedAt, answeredAt: own.answeredAt, endedAt: stamp(now),
            caller: own.names.caller, callee: own.names.callee,
            parties: ([own] + others).map { other in
                CallLogRecord.Party(
                    side: CallSide(other.leg, seenFrom: own.leg), name: other.party.name,
                    address: other.party.user.text, isCalled: other.party.isCalled)
            },
            ending: ending, endedBy: CallSide(ending?.endedBy, seenFrom: own.leg), timeline: timeline(seenFrom: own.leg)
        )
    }
}
