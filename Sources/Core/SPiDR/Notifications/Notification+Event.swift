package import CallControl
package import Registration

extension Notification {
    /// The notification of a notice; `nil` if the protocol has no word for it.
    package init?(presenting notice: Notice) {
        switch notice {
        case .call(let entry): self.init(presenting: entry.event)
        case .service(let notice):
            self.init(EventType(of: notice))
            service = notice
        case .gone: self.init(.gone)
        case .overridden: self.init(.websocketOverridden)
        case .ping: self.init(.ping)
        case .lost(let count):
            self.init(.notificationsLost)
            lost = count
        }
    }

    /// What the devices of a leg are told of a fact (spidr-wire §5.3); `nil` if no device is told, or the protocol has
    /// no word for it.
    package init?(presenting event: CallEvent) {
        guard let audience = event.audience, let leg = event.leg else { return nil }
        switch event.fact {
        case .invited(_, let invitation): self.init(invitation, to: audience)
        case .alerted: self.init(.ringing, to: audience)
        case .progressed(let description):
            self.init(.sessionProgress, to: audience)
            sdp = description
        case .offered(let description, let content): self.init(.startCallUpdate, to: audience, description, content)
        case .answered(let description, let content):
            self.init(.respondCallUpdate, to: audience, description, content)
        case .unanswered(let seconds):
            self.init(.respondCallUpdate, to: audience)
            outcome = .pending
            retryAfter = seconds
            reasonText = "The other side did not answer in time"
        case .candidates(let lines):
            self.init(.iceCandidate, to: audience)
            candidates = lines
        case .content(let content): self.init(.customParameters, to: audience, nil, content)
        case .stoppedRinging(let reason, _):
            self.init(.callCancel, to: audience)
            cause = PartialEndingWord(reason).rawValue
            endedBy = .own
        case .changedDevice:
            self.init(.callEnd, to: audience)
            reasonText = "Continued on another device"
            cause = PartialEndingWord.continuedElsewhere.rawValue
            endedBy = .own
        case .released(let cause, let originator):
            self.init(cause, of: leg, by: originator, to: audience)
        case .completed(let purpose):
            self.init(.sessionComplete, to: audience)
            reasonText = purpose.completionText
        case .transferFailed(let failure):
            self.init(.sessionFail, to: audience)
            statusCode = failure.statusCode
            reasonText = failure.sentence
        case .pathLost(let affected): self.init(pathOf: affected, isLost: true, seenFrom: leg, to: audience)
        case .pathRecovered(let affected): self.init(pathOf: affected, isLost: false, seenFrom: leg, to: audience)
        case .playbackEnded: self.init(.mediaEnded, to: audience)
        case .qualityMeasured(let quality):
            self.init(.callQuality, to: audience)
            self.quality = quality
        // Devices that are asleep are told by push.
        case .waking, .awoke, .notWoken, .wakingOver, .joined, .rings, .talks, .established, .rejected, .forwarded,
            .renewedSubscription, .left, .moved, .ended,
            .held, .resumed, .transferStarted, .mediaReached, .mediaRestarted:
            return nil
        // Applications have no subscriptions.
        case .keyPressed, .played, .gathered: return nil
        }
    }

    private init(_ type: EventType, to audience: CallEvent.Audience) {
        self.init(type, session: audience.session, parties: Parties(audience))
    }

    private init(
        _ type: EventType, to audience: CallEvent.Audience, _ description: String?, _ content: CustomContent
    ) {
        self.init(type, to: audience)
        sdp = description
        customParameters = content.parameters
        customBodies = content.bodies
    }

    /// `call`, or `startCallReplace` (spidr-wire §6.2, §8.8).
    private init(_ invitation: CallEvent.Invitation, to audience: CallEvent.Audience) {
        self.init(
            invitation.replaces == nil ? .call : .startCallReplace, to: audience, invitation.description,
            invitation.content)
        replaces = invitation.replaces
        if replaces == nil { actions = [.answer, .reject] + (invitation.mayForward ? [.forward] : []) }
    }

    /// The last notification of a leg.
    private init(_ cause: CallEndCause, of leg: LegID, by originator: LegID?, to audience: CallEvent.Audience) {
        let type = EventType(cause, isCalled: audience.isCalled)
        self.init(type, to: audience)
        if type != .callCancel {
            statusCode = cause.toldStatusCode
            reasonText = cause.sentence
        }
        self.cause = cause.word.rawValue
        endedBy = CallSide(originator, seenFrom: leg)
    }

    private init(pathOf affected: LegID, isLost: Bool, seenFrom leg: LegID, to audience: CallEvent.Audience) {
        self.init(.mediaPath, to: audience)
        mediaPath = PathReport(side: CallSide(affected, seenFrom: leg), isLost: isLost)
    }
}

extension Notification.EventType {
    /// What tells the devices of a leg that the call is over.
    ///
    /// - Parameter isCalled: the leg was rung; the caller was not.
    fileprivate init(_ cause: CallEndCause, isCalled: Bool) {
        self =
            switch cause {
            // The user's own devices stop ringing.
            case .rejected: isCalled ? .callCancel : .callEnd
            // The two calls stay as they are.
            case .joinFailed: .sessionFail
            case .completed, .cancelled, .unanswered, .unreachable, .mediaFailed, .subscriptionEnded, .callerLeft,
                .clientLost, .transferred, .targetNotReached, .tooLong, .drained, .endedByOperator, .interrupted:
                .callEnd
            }
    }
}

extension CallEndCause {
    /// `statusCode` of the last notification; `nil`: none, which clients expect after a conversation (spidr-wire §6.7).
    ///
    /// Clients read 480 as a callee who is offline, and 487 as a callee who did not answer (spidr-wire §12.1).
    fileprivate var toldStatusCode: Int? {
        switch self {
        case .completed, .transferred: nil
        case .cancelled, .rejected, .unanswered, .unreachable, .mediaFailed, .subscriptionEnded, .callerLeft,
            .clientLost, .joinFailed, .targetNotReached, .tooLong, .drained, .endedByOperator, .interrupted:
            statusCode
        }
    }
}

extension Notification.Parties {
    /// The parties as a leg sees them. All five names and numbers are in every notification, because clients differ in
    /// which of them they look at (spidr-wire §5.2). Clients recognise a conference by its address in the caller's
    /// place, even on a leg that dialled (§8.7).
    package init(_ audience: CallEvent.Audience) {
        self.init(
            local: audience.local, remote: audience.remote, isCalled: audience.isCalled || audience.isConference)
    }

    /// The parties of a leg.
    ///
    /// - Parameter isCalled: the leg is shown as the callee, and the remote party as the caller.
    package init(local: DisplayName, remote: ShownParty, isCalled: Bool) {
        let remote = remote.displayName
        let (caller, callee) = isCalled ? (remote, local) : (local, remote)
        self.init(
            callerName: caller.name, callerDisplayNumber: caller.number, calleeDisplayNumber: callee.number,
            remoteName: remote.name, remoteDisplayNumber: remote.number)
    }
}

extension ShownParty {
    /// The name and the number that clients show. Clients recognise a conference by the start of its number
    /// (spidr-wire §5.2).
    package var displayName: DisplayName {
        switch self {
        case .user(let name): name
        case .conference(let domain): DisplayName(name: "Conference", number: "conference@\(domain)")
        }
    }
}

extension HandoverPurpose {
    /// The sentence that clients show.
    fileprivate var completionText: String {
        switch self {
        case .transfer: "Transfer Successful"
        case .join: "Join Successful"
        }
    }
}
