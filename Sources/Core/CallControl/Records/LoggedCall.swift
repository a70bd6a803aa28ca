import Primitives

/// A call of a process that has ended: what its log says of it, and the events that end it (docs/adr/0013).
///
/// Unless the call had ended before, it cannot go on, because its media is gone. Every device that knew of it is told,
/// once.
package struct LoggedCall: Sendable {
    /// A leg that was part of the call to the end.
    fileprivate struct Leg: Sendable {
        let id: LegID
        let session: SessionID
        var local: DisplayName
        var remote: ShownParty
        let isCalled: Bool
        /// The leg was part of another call before.
        let wasHandedOver: Bool
        var isConference = false
        /// The leg talks; otherwise it rings, or waits for another one to answer.
        var talks: Bool
        /// The subscriptions that know of the call, and have not been told that it is over for them.
        var devices: [SubscriptionID]
        /// The devices that were woken, have not come back, and have not been told that the call rings no more.
        var waking: [PushDeviceID] = []
        /// Those devices were told of a call with video.
        var hasVideo = false
    }

    /// The history of the call, of which the records are made.
    private var history: CallHistory
    private var legs: [Leg] = []
    /// The users of legs whose joining the log lacks, because it is damaged.
    private var strangers: [LegID: UserAddress] = [:]
    /// The time from the start to the answer, and the time of the answer; `nil`: there was none.
    private var establishment: (setup: Duration, elapsed: Duration)?
    /// The last event of the call.
    private var last: LoggedEvent
    /// Whether the call has ended, so that nothing is left to do.
    private var isOver = false
    /// The number of the event before; 0: there was none.
    private var sequence = 0

    /// Reads the log of a call.
    ///
    /// - Parameter events: all events of the call, in order. Without any, there is no call.
    package init?(_ events: [LoggedEvent]) {
        guard let last = events.last else { return nil }
        self.last = last
        history = CallHistory(origin: Moment(.zero, epochMilliseconds: last.startedAt))
        for event in events { take(event) }
    }

    /// The events that end the call for the legs that were part of it, and the records of their users. None, if the
    /// call is over.
    ///
    /// - Parameters:
    ///   - stoppedAt: when the gateway is last known to have run, milliseconds since 1970.
    ///   - elsewhere: the sessions of legs that another call had taken over, which does not show in the log of this one
    ///     yet. They end there.
    package func interruption(
        at stoppedAt: Int64, without elsewhere: Set<SessionID> = []
    ) -> (events: [LoggedEvent], records: [CallLogRecord]) {
        guard !isOver else { return ([], []) }
        let elapsed = max(last.elapsed, .milliseconds(stoppedAt - last.startedAt))
        let cause = CallEndCause.interrupted
        var record = CallRecord(cause: cause)
        if let establishment {
            record.setup = establishment.setup
            record.talk = elapsed - establishment.elapsed
        }
        var (history, records, events) = (history, [CallLogRecord](), [LoggedEvent]())
        func add(_ event: CallEvent) {
            events.append(
                LoggedEvent(
                    call: last.call, sequence: last.sequence + events.count + 1, startedAt: last.startedAt,
                    elapsed: elapsed, event: event))
            records += history.record(event, at: .zero + elapsed)
        }
        for leg in legs where !elsewhere.contains(leg.session) {
            let audience = CallEvent.Audience(
                devices: leg.devices, session: leg.session, local: leg.local, remote: leg.remote,
                isCalled: leg.isCalled, isConference: leg.isConference)
            let seen = cause.seen(byRinging: leg.isCalled && !leg.talks)
            if !leg.waking.isEmpty {
                var asleep = audience
                asleep.devices = []
                let end = CallEvent.WakingEnd.released(seen, by: nil)
                add(
                    CallEvent(
                        leg.id, .wakingOver(devices: leg.waking, end: end, hasVideo: leg.hasVideo), to: asleep))
            }
            add(CallEvent(leg.id, .released(seen, by: nil), to: audience))
        }
        add(CallEvent(nil, .ended(record, by: nil, device: nil)))
        return (events, records)
    }

    /// The call.
    package var id: CallID { last.call }

    /// The sessions of the legs that the call has taken over from other calls.
    package var takenOver: [SessionID] { legs.filter(\.wasHandedOver).map(\.session) }

    /// Whose the legs are, present and past. A leg whose joining the log lacks counts as that of a user.
    package var holders: [LegHolder] { history.holders + strangers.values.map { LegHolder.user($0) } }

    /// The trace that the call is part of; `nil`: none.
    package var trace: TraceContext? { history.trace }

    /// The user of a leg, present or past; `nil`: there is no such leg.
    package func user(of leg: LegID) -> UserAddress? { history.user(of: leg) ?? strangers[leg] }
}

// MARK: - Reading the log

extension LoggedCall {
    private mutating func take(_ event: LoggedEvent) {
        last = event
        let missing = event.sequence - sequence - 1
        if missing > 0 { history.omit(missing, at: .zero + event.elapsed) }
        sequence = event.sequence
        // The records of legs that left in time have been made.
        _ = history.record(event.event, at: .zero + event.elapsed)
        switch event.event.fact {
        case .joined(let party): if let leg = event.event.leg { legs.append(Leg(leg, party)) }
        case .established(let answer): establishment = (answer.setup, event.elapsed)
        case .ended: isOver = true
        case .invited, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .progressed, .talks, .stoppedRinging,
            .rejected,
            .forwarded, .changedDevice,
            .renewedSubscription, .released, .left, .moved, .offered, .answered, .unanswered, .candidates, .held,
            .resumed, .transferStarted, .transferFailed, .completed, .mediaReached, .mediaRestarted, .pathLost,
            .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            break
        }
        if let leg = event.event.leg, let audience = event.event.audience { meet(leg, audience) }
        guard let leg = event.event.leg, let index = legs.firstIndex(where: { $0.id == leg }) else { return }
        if let audience = event.event.audience { legs[index].learn(audience) }
        legs[index].follow(event.event.fact, told: event.event.audience?.devices)
        if event.event.fact.isLastOfLeg { legs.remove(at: index) }
    }

    /// Makes a leg of what its devices are told, if it is not known that it joined.
    private mutating func meet(_ leg: LegID, _ audience: CallEvent.Audience) {
        guard user(of: leg) == nil, let user = UserAddress(parsing: audience.local.number) else { return }
        strangers[leg] = user
        legs.append(Leg(leg, audience))
    }
}

extension LoggedCall.Leg {
    fileprivate init(_ id: LegID, _ audience: CallEvent.Audience) {
        self.init(
            id: id, session: audience.session, local: audience.local, remote: audience.remote,
            isCalled: audience.isCalled, wasHandedOver: false, isConference: audience.isConference, talks: false,
            devices: audience.devices)
    }

    fileprivate init(_ id: LegID, _ party: CallEvent.Participant) {
        self.init(
            id: id, session: party.session, local: DisplayName(name: party.name, number: party.user.text),
            remote: party.remote, isCalled: party.isCalled, wasHandedOver: party.arrival == .handedOver,
            talks: party.arrival == .handedOver,
            devices: party.devices.map(\.subscription))
    }

    /// What the leg knows of the call from now on.
    fileprivate mutating func learn(_ audience: CallEvent.Audience) {
        (local, remote, isConference) = (audience.local, audience.remote, audience.isConference)
    }

    /// Who knows of the call after this fact.
    ///
    /// - Parameter told: the subscriptions that are told the fact; `nil`: nobody is.
    fileprivate mutating func follow(_ fact: CallEvent.Fact, told: [SubscriptionID]?) {
        switch fact {
        case .invited(let invited, _):
            devices += invited.map(\.subscription).filter { !devices.contains($0) }
        case .waking(let woken, let invitation):
            waking += woken
            hasVideo = invitation.hasVideo
        case .awoke(let device, _), .notWoken(let device): waking.removeAll { $0 == device }
        case .wakingOver(let told, _, _): waking.removeAll { told.contains($0) }
        case .talks(let device):
            talks = true
            if let device, devices.contains(device) { devices = [device] }
        case .changedDevice(let device): devices = [device]
        case .renewedSubscription(let former, let device):
            devices = devices.map { $0 == former ? device : $0 }
        // Only some devices are told these.
        case .stoppedRinging, .qualityMeasured: break
        case .rejected(let device):
            // As in `Call.declined`: no other device can have declined, and it knows that it has.
            if device == nil, devices.isEmpty, waking.count == 1 { waking = [] }
            devices = told ?? devices
        // All devices that know of the call are told everything else.
        case .joined, .rings, .alerted, .progressed, .established, .forwarded, .released, .left, .moved,
            .ended, .offered, .answered, .unanswered, .candidates, .held, .resumed, .transferStarted, .transferFailed,
            .completed, .mediaReached, .mediaRestarted, .pathLost, .pathRecovered, .playbackEnded, .content,
            .keyPressed, .played, .gathered:
            devices = told ?? devices
        }
    }
}

extension CallEvent.Fact {
    /// Whether a log from which this was removed still says who has a part in the call, and which devices know of it.
    package var isOmissible: Bool {
        switch self {
        case .offered, .answered, .unanswered, .candidates, .held, .resumed, .transferFailed, .mediaRestarted,
            .pathLost,
            .pathRecovered, .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            true
        case .joined, .invited, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .progressed, .talks,
            .established,
            .stoppedRinging, .rejected, .forwarded, .changedDevice, .renewedSubscription, .released, .left, .moved,
            .ended,
            .transferStarted, .completed, .mediaReached:
            false
        }
    }

    /// Whether the leg has no part in the call after this.
    fileprivate var isLastOfLeg: Bool {
        switch self {
        case .released, .left, .moved, .forwarded, .completed: true
        case .joined, .invited, .waking, .awoke, .notWoken, .wakingOver, .rings, .alerted, .progressed, .talks,
            .established,
            .stoppedRinging, .rejected, .changedDevice, .renewedSubscription, .ended, .offered, .answered, .unanswered,
            .candidates, .held,
            .resumed, .transferStarted, .transferFailed, .mediaReached, .mediaRestarted, .pathLost, .pathRecovered,
            .playbackEnded, .qualityMeasured, .content, .keyPressed, .played, .gathered:
            false
        }
    }
}
