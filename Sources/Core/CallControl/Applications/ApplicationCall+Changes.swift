/// How what an application sees of a call changes.
extension ApplicationCall {
    /// The application is invited, and shown who calls whom.
    mutating func meet(_ audience: CallEvent.Audience) {
        to = UserAddress(written: audience.local.number) ?? to
        guard case .user(let caller) = audience.remote else { return }
        fromName = caller.name
        from = UserAddress(written: caller.number) ?? from
    }

    /// The call is so, as the application's leg sees it.
    ///
    /// - Parameter isHeardEarly: the caller hears the leg before the answer.
    mutating func see(_ session: CallSession, isHeardEarly: Bool) {
        answeredAt = session.answeredAt ?? answeredAt
        isConference = session.isConference
        trace = session.trace
        members = session.members.dropFirst().map { member in
            Member(
                address: member.address, name: member.name, isCalled: member.isCalled, state: member.state,
                holds: member.holds)
        }
        switch session.state {
        case .initial, .dialing, .ringing, .answering:
            // One that has answered may still wait for the caller's description.
            state = answeredAt != nil ? .talking : isHeardEarly || session.hearsEarly ? .progressing : .ringing
        case .sessionProgress: state = .progressing
        case .inCall, .remotelyHeld: state = .talking
        case .onHold, .onDoubleHold: state = .held
        case .ended: break
        }
    }

    /// A command was carried out, which makes a new version. What it ends is shown as ended at once.
    ///
    /// - Parameters:
    ///   - leg: the application's leg.
    ///   - refusal: the reason that the application gave when it refused the call; `nil`: it did not.
    mutating func finish(_ command: ApplicationCommand, by leg: LegID, refusal: CallEndCause?) {
        version += 1
        switch (command, state.phase) {
        case (.mute, _): isMuted = true
        case (.unmute, _): isMuted = false
        case (.reject, _): state = .ended(refusal)
        case (.end(let words), .talking), (.end(let words), .held):
            state = .ended(.completed(by: leg, reasonText: words))
        case (.end(let words), _):
            state = .ended(direction == .incoming ? .rejected(reasonText: words) : .cancelled(reasonText: words))
        case (.leave, _): state = .ended(.completed(by: leg, reasonText: nil))
        case (.transfer, .ringing), (.transfer, .progressing): state = .ended(nil)
        case (.ring, _), (.progress, _), (.answer, _), (.hold, _), (.resume, _), (.transfer, _), (.transferToCall, _),
            (.bridge, _), (.join, _), (.send, _), (.keys, _), (.play, _), (.stop, _), (.gather, _), (.record, _):
            break
        }
    }
}
