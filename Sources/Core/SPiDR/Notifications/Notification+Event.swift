package import CallControl
package import Registration

extension Notification {
    /// The notification of a notice; `nil` if the protocol has no word for it.
    package init?(presenting notice: Notice) {
        switch notice {
        case .call(let event): self.init(presenting: event)
        case .gone: self.init(.gone)
        case .overridden: self.init(.websocketOverridden)
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
            cause = CallEnding.PartialCause(reason).rawValue
            endedBy = .own
        case .changedDevice:
            self.init(.callEnd, to: audience)
            reasonText = "Continued on another device"
            cause = CallEnding.PartialCause.continuedElsewhere.rawValue
            endedBy = .own
        case .released(let cause, let originator):
            self.init(cause, of: leg, by: originator, to: audience)
        case .completed(let purpose):
            self.init(.sessionComplete, to: audience)
            reasonText = purpose.completionText
        case .transferFailed(let statusCode, let reasonText):
            self.init(.sessionFail, to: audience)
            self.statusCode = statusCode
            self.reasonText = reasonText
        case .pathLost(let affected): self.init(pathOf: affected, isLost: true, seenFrom: leg, to: audience)
        case .pathRecovered(let affected): self.init(pathOf: affected, isLost: false, seenFrom: leg, to: audience)
        case .playbackEnded: self.init(.mediaEnded, to: audience)
        case .qualityMeasured(let quality):
            self.init(.callQuality, to: audience)
            self.quality = quality
        case .joined, .rings, .talks, .established, .rejected, .forwarded, .renewedSubscription, .left, .moved, .ended,
            .held, .resumed, .transferStarted, .mediaReached, .mediaRestarted:
            return nil
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
    private init?(_ cause: CallEndCause, of leg: LegID, by originator: LegID?, to audience: CallEvent.Audience) {
        guard let farewell = cause.farewell(to: leg, isCalled: audience.isCalled) else { return nil }
        self.init(EventType(farewell.kind), to: audience)
        statusCode = farewell.statusCode
        reasonText = farewell.reasonText
        self.cause = cause.word
        endedBy = CallSide(originator, seenFrom: leg)
    }

    private init(pathOf affected: LegID, isLost: Bool, seenFrom leg: LegID, to audience: CallEvent.Audience) {
        self.init(.mediaPath, to: audience)
        mediaPath = PathReport(side: CallSide(affected, seenFrom: leg), isLost: isLost)
    }
}

extension Notification.EventType {
    fileprivate init(_ farewell: CallEndCause.Farewell.Kind) {
        self =
            switch farewell {
            case .end: .callEnd
            case .cancel: .callCancel
            case .fail: .sessionFail
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
    package init(local: DisplayName, remote: DisplayName, isCalled: Bool) {
        let (caller, callee) = isCalled ? (remote, local) : (local, remote)
        self.init(
            callerName: caller.name, callerDisplayNumber: caller.number, calleeDisplayNumber: callee.number,
            remoteName: remote.name, remoteDisplayNumber: remote.number)
    }
}

extension CallEnding.PartialCause {
    fileprivate init(_ reason: CallEvent.StopReason) {
        self =
            switch reason {
            case .answeredHere: .answeredHere
            case .answeredElsewhere: .answeredElsewhere
            case .forwarded: .forwarded
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
