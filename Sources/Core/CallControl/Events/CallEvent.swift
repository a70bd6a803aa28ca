/// One fact about a call: which leg it concerns, what happened, and which devices are told.
///
/// The call decides and emits facts. Everything else that speaks of a call is made from them: the notifications of each
/// dialect, the timeline, the call records, and the metrics. An event contains no word of any dialect, and is complete:
/// a notification is a function of the event alone.
///
/// `Codable`: the written form is that of the event log (docs/call-events.md). A case or a field is never renamed or
/// removed; an added one is optional.
package struct CallEvent: Equatable, Sendable, Codable {
    /// The leg that it concerns; `nil`: the whole call.
    package var leg: LegID?
    /// What happened, with all that a dialect or a record needs to say of it.
    package var fact: Fact
    /// The subscriptions of that leg's user that are told; `nil`: nobody is told.
    package var audience: Audience?

    /// Makes an event of its parts; each parameter is the property of that name.
    package init(_ leg: LegID?, _ fact: Fact, to audience: Audience? = nil) {
        self.leg = leg
        self.fact = fact
        self.audience = audience
    }
}

extension CallEvent {
    /// Subscriptions of one leg's user, and what that leg knows of the call: its name for it, and who is on the other
    /// side.
    package struct Audience: Equatable, Sendable, Codable {
        /// The subscriptions that are told. Empty if no device of the user knows the call, or none asked for the fact.
        package var devices: [SubscriptionID]
        /// The name of the user's leg (`sessionData`, spidr-wire §5.1).
        package var session: SessionID
        /// The user of this leg, as others see it.
        package var local: DisplayName
        /// The party that this leg talks to.
        package var remote: ShownParty
        /// The leg was rung; otherwise it dialled.
        package var isCalled: Bool
        /// The call is a conference, or about to become one.
        package var isConference: Bool

        /// Makes an audience of its parts; each parameter is the property of that name.
        package init(
            devices: [SubscriptionID], session: SessionID, local: DisplayName, remote: ShownParty, isCalled: Bool,
            isConference: Bool = false
        ) {
            self.devices = devices
            self.session = session
            self.local = local
            self.remote = remote
            self.isCalled = isCalled
            self.isConference = isConference
        }
    }

    /// What happened.
    package enum Fact: Equatable, Sendable, Codable {
        // MARK: Legs

        /// The leg is part of the call from now on.
        case joined(Participant)
        /// Devices of the leg are rung.
        case invited(devices: [Device], invitation: Invitation)
        /// Devices of the leg are woken by push, to ring for this. No subscription is told.
        case waking(devices: [PushDeviceID], invitation: Invitation)
        /// A device that was woken is back: what the user is told from now on, it is told as this subscription.
        case awoke(device: PushDeviceID, as: SubscriptionID)
        /// A device cannot be woken: its push has failed. It is not awaited, and told nothing more.
        case notWoken(device: PushDeviceID)
        /// Devices that were woken, and have not come back, need not ring any more, and are told so by push.
        /// `hasVideo`: the call that they were woken for has video.
        case wakingOver(devices: [PushDeviceID], end: WakingEnd, hasVideo: Bool)
        /// A device of the leg shows the call, or is assumed to, because it cannot report it. `device`: which; `nil`:
        /// the request does not say.
        case rings(device: SubscriptionID?)
        /// The caller learns that a device of the callee rings.
        case alerted
        /// The caller can hear something before the answer. `description` is a provisional answer.
        case progressed(description: String)
        /// The leg talks from now on. `device`: the one that answered; `nil`: unknown, or no device had to answer.
        case talks(device: SubscriptionID?)
        /// The call has been answered.
        case established(Establishment)
        /// Devices of the leg need not ring any more, although the call goes on. `device`: the one that answered;
        /// `nil`: unknown, or none did.
        case stoppedRinging(StopReason, device: SubscriptionID?)
        /// The leg declines the call. `device`: the one that declined; `nil`: unknown.
        case rejected(device: SubscriptionID?)
        /// The call was forwarded to the address before this leg answered. The leg has no part in it any more.
        case forwarded(to: UserAddress)
        /// The user continues the call on this device. The audience is the devices that had the call before.
        case changedDevice(to: SubscriptionID)
        /// A device that knows the call has a new subscription in place of its old one.
        case renewedSubscription(from: SubscriptionID, to: SubscriptionID)
        /// The call is over for this leg, or did not come to it. `by`: the leg that caused it; `nil`: the gateway.
        case released(CallEndCause, by: LegID?)
        /// The leg has left a call that the other legs continue. `by`: the leg that caused it; `nil`: the gateway.
        case left(CallEndCause, by: LegID?)
        /// The leg is part of another call from now on.
        case moved
        /// The last fact of every call. `by`: the leg that caused the end; `nil`: the gateway. `device`: the device of
        /// that leg's user; `nil`: unknown.
        case ended(CallRecord, by: LegID?, device: SubscriptionID?)

        // MARK: Offer and answer

        /// The leg is offered media; without a description it is asked for an offer (RFC 3264).
        case offered(description: String?, content: CustomContent)
        /// An offer of the leg is answered.
        case answered(description: String?, content: CustomContent)
        /// An offer of the leg was not answered in time. The client may repeat it after `retryAfter` seconds.
        case unanswered(retryAfter: Int)
        /// Candidates of the other leg, where media goes from peer to peer (RFC 8838).
        case candidates([TrickledLine])
        /// The leg holds the other legs from now on.
        case held
        /// The leg holds the other legs no more.
        case resumed

        // MARK: Transfer and conference

        /// The leg asks to connect the other legs with `party`.
        case transferStarted(party: UserAddress)
        /// The transfer that the leg asked for has failed, and the leg is where it was.
        case transferFailed(reason: TransferFailure)
        /// The leg has done its part in a transfer or a conference; its client only has to end the call.
        case completed(HandoverPurpose)

        // MARK: Media

        /// The media path of the leg has reached this step.
        case mediaReached(MediaProgress)
        /// The peer of the leg started anew, with another media path.
        case mediaRestarted
        /// No packets come from the peer of `leg` any more; told to every leg that talks.
        case pathLost(of: LegID)
        /// Packets come from the peer of `leg` again; told to every leg that talks.
        case pathRecovered(of: LegID)
        /// What the leg had asked to be played is over.
        case playbackEnded
        /// The audio quality of the leg was measured.
        case qualityMeasured(CallQuality)

        // MARK: Applications

        /// Parameters and bodies that the application of another leg sent.
        case content(CustomContent)
        /// The peer of the leg `of` has pressed a key; told to each application that hears it. Without one, the leg of
        /// the event is that of the presser. `milliseconds`: how long it was pressed; `nil`: unknown, because the key
        /// was found in the audio.
        case keyPressed(key: Key, milliseconds: Int?, of: LegID)
        /// A list that the leg, an application, had played is over.
        case played(PlayedList)
        /// A gathering of keys by the leg, an application, is over.
        case gathered(GatheredKeys)
    }
}

extension CallEvent {
    /// A leg that has become part of a call.
    package struct Participant: Equatable, Sendable, Codable {
        /// How a leg came into a call.
        package enum Arrival: String, Equatable, Sendable, Codable {
            /// It started the call, or the conference.
            case dialled
            /// It is rung.
            case called
            /// It talked in another call.
            case handedOver
        }

        /// The user of the leg, or the address at which an application has it.
        package var user: UserAddress
        /// The name of the application whose leg it is; `nil`: it is a user's, or the gateway's own.
        package var application: ApplicationName?
        /// The number of that application (``ApplicationIdentity``); `nil`: there is none, or the event was written
        /// before applications had numbers.
        package var applicationNumber: Int64?
        /// The user's display name, as others see it; may be empty.
        package var name: String
        /// The name of the leg towards its user (`sessionData`).
        package var session: SessionID
        /// The devices that know of the call already.
        package var devices: [Device]
        /// How the leg came into the call.
        package var arrival: Arrival
        /// The leg was rung, in this call or in the one that it comes from.
        package var isCalled: Bool
        /// The party that the leg talks to.
        package var remote: ShownParty
        /// The leg holds the others.
        package var holds: Bool
        /// How far its media path has come; `nil` if media goes from peer to peer.
        package var progress: MediaProgress?
        /// The trace of the request that made the leg; `nil`: it is part of none.
        package var trace: TraceContext?

        /// Whose the leg is.
        package var holder: LegHolder {
            application.map { .application(ApplicationIdentity(name: $0, number: applicationNumber ?? 0)) }
                ?? .user(user)
        }
    }

    /// What a device is told of a call that it is to ring for, or to take in place of another one.
    package struct Invitation: Equatable, Sendable, Codable {
        /// An offer; `nil`: the callee makes the offer.
        package var description: String?
        /// Parameters and bodies for the callee's applications.
        package var content: CustomContent
        /// The callee may forward the call to another address.
        package var mayForward: Bool
        /// The user's call that this one is to replace (RFC 3891), in which case the device does not ring; `nil`: none.
        package var replaces: SessionID?
        /// How long the application that is invited may take to decide, in milliseconds, 1 or more; `nil`: nobody is
        /// asked.
        package var decisionMilliseconds: Int?

        /// Makes an invitation of its parts; each parameter is the property of that name.
        package init(
            description: String? = nil, content: CustomContent = CustomContent(), mayForward: Bool = false,
            replaces: SessionID? = nil, decisionMilliseconds: Int? = nil
        ) {
            self.description = description
            self.content = content
            self.mayForward = mayForward
            self.replaces = replaces
            self.decisionMilliseconds = decisionMilliseconds
        }
    }

    /// How a call was answered.
    package struct Establishment: Equatable, Sendable {
        /// The time from the start to the answer.
        package var setup: Duration
        /// Parameters and bodies of the answer.
        package var content: CustomContent

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(setup: Duration, content: CustomContent = CustomContent()) {
            self.setup = setup
            self.content = content
        }
    }

    /// Why devices that were woken need not ring any more, with what a device with an open channel is told.
    package enum WakingEnd: Equatable, Sendable, Codable {
        /// The call goes on without them, as in `Fact.stoppedRinging`.
        case stoppedRinging(StopReason, device: SubscriptionID?)
        /// The call is over for the leg, as in `Fact.released`.
        case released(CallEndCause, by: LegID?)

        /// The fact that a device with an open channel is told.
        package var fact: Fact {
            switch self {
            case .stoppedRinging(let reason, let device): .stoppedRinging(reason, device: device)
            case .released(let cause, let originator): .released(cause, by: originator)
            }
        }
    }

    /// Why devices stop ringing in a call that goes on.
    package enum StopReason: String, Equatable, Sendable, Codable {
        /// This device has answered.
        case answeredHere
        /// Another device of the user has answered.
        case answeredElsewhere
        /// The call was forwarded to another address.
        case forwarded
    }
}

// MARK: - Written form

/// The keys of values that have no label; the others are written with their labels.
extension CallEvent.Fact {
    private enum JoinedCodingKeys: String, CodingKey { case _0 = "party" }
    private enum EstablishedCodingKeys: String, CodingKey { case _0 = "answer" }
    private enum StoppedRingingCodingKeys: String, CodingKey {
        case _0 = "reason"
        case device
    }
    private enum ReleasedCodingKeys: String, CodingKey {
        case _0 = "cause"
        case by
    }
    private enum LeftCodingKeys: String, CodingKey {
        case _0 = "cause"
        case by
    }
    private enum EndedCodingKeys: String, CodingKey {
        case _0 = "record"
        case by, device
    }
    private enum CandidatesCodingKeys: String, CodingKey { case _0 = "lines" }
    private enum CompletedCodingKeys: String, CodingKey { case _0 = "purpose" }
    private enum MediaReachedCodingKeys: String, CodingKey { case _0 = "step" }
    private enum QualityMeasuredCodingKeys: String, CodingKey { case _0 = "quality" }
    private enum ContentCodingKeys: String, CodingKey { case _0 = "content" }
    private enum PlayedCodingKeys: String, CodingKey { case _0 = "list" }
    private enum GatheredCodingKeys: String, CodingKey { case _0 = "result" }
}

/// The same for the end of waking.
extension CallEvent.WakingEnd {
    private enum StoppedRingingCodingKeys: String, CodingKey {
        case _0 = "reason"
        case device
    }
    private enum ReleasedCodingKeys: String, CodingKey {
        case _0 = "cause"
        case by
    }
}
