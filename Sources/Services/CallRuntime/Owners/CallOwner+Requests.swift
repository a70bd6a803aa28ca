import CallControl
import Primitives
import SDP

/// Requests of clients to a call that has been started.
extension CallOwner {
    /// - Parameter device: that asks, if it is known; the same with every request below.
    func ringing(by leg: Leg, from device: Device?) throws(CallError) {
        try command("ringing", leg) { call throws(CallError) in try call.ringing(by: leg) }
        history.rang(leg, device?.subscription, at: environment.clock.now)
    }

    func answer(by leg: Leg, _ request: CallAnswerRequest, from device: Device?) throws(CallError) {
        var random = environment.random.generator
        let now = environment.clock.now
        try command("answer", leg, device) { call throws(CallError) in
            try call.answer(by: leg, request, at: now, random: &random)
        }
        if let session = call?[leg]?.party.session { registrations[leg]?.inbox.post(.answered(session)) }
    }

    func reject(by leg: Leg, from device: Device?, replacement: Bool) throws(CallError) {
        let now = environment.clock.now
        try command("reject", leg, device) { call throws(CallError) in
            try call.reject(by: leg, replacement: replacement, at: now)
        }
    }

    func party(talkingTo leg: Leg) -> CallParty? { call?.party(talkingTo: leg) }

    func replaceableParty(talkingTo leg: Leg) -> CallParty? { call?.replaceableParty(talkingTo: leg) }

    /// Whether the same has been asked for, and is under way.
    func isReplacing(_ other: CallID, by leg: Leg) -> Bool { call?.isReplacing(other, by: leg) == true }

    func end(by leg: Leg, from device: Device?, reasonText: String?) throws(CallError) {
        let now = environment.clock.now
        try command("end", leg, device) { call throws(CallError) in
            try call.end(by: leg, from: device?.subscription, reasonText: reasonText, at: now)
        }
    }

    func checkPlay(by leg: Leg) throws(CallError) {
        guard let call else { throw .noSuchCall }
        try call.checkPlay(by: leg)
    }

    func play(_ playback: Playback, to target: MediaTarget, by leg: Leg) throws(CallError) {
        try command("play", leg) { call throws(CallError) in try call.play(playback, to: target, by: leg) }
    }

    func stopPlaying(to target: MediaTarget, by leg: Leg) throws(CallError) {
        try command("stopPlaying", leg) { call throws(CallError) in try call.stopPlaying(to: target, by: leg) }
    }

    func sendDigits(_ digits: DigitSequence, to target: MediaTarget, by leg: Leg) throws(CallError) {
        let now = environment.clock.now
        try command("sendDigits", leg) { call throws(CallError) in
            try call.sendDigits(digits, to: target, by: leg, at: now)
        }
    }

    func offer(by leg: Leg, _ request: CallUpdateRequest, from device: Device?) throws(CallError) {
        var random = environment.random.generator
        let now = environment.clock.now
        try command("offer", leg) { call throws(CallError) in
            if let device { return try call.offer(by: leg, request, from: device, at: now, random: &random) }
            return try call.offer(by: leg, request, at: now, random: &random)
        }
    }

    func respond(by leg: Leg, _ request: CallUpdateRequest, from device: Device?) throws(CallError) {
        var random = environment.random.generator
        let now = environment.clock.now
        try command("respond", leg) { call throws(CallError) in
            try call.checkAnswers(for: leg, from: device?.subscription)
            return try call.respond(by: leg, request, at: now, random: &random)
        }
    }

    func candidates(_ candidates: [TrickledLine], by leg: Leg) throws(CallError) {
        try command("candidates", leg) { call throws(CallError) in try call.candidates(candidates, by: leg) }
    }

    func send(_ content: CustomContent, by leg: Leg) throws(CallError) {
        try command("content", leg) { call throws(CallError) in try call.send(content, by: leg) }
    }

    func session(for leg: Leg) throws(CallError) -> CallSession {
        guard let call else { throw .noSuchCall }
        return try call.session(for: leg, history)
    }

    func audit(by leg: Leg) throws(CallError) {
        let now = environment.clock.now
        try command("audit", leg) { call throws(CallError) in
            try call.audit(by: leg, at: now)
            return []
        }
    }

    // MARK: Somebody else is to be rung

    /// Throws unless the call could go to somebody else now; to be asked before anybody is looked up.
    func check(_ diversion: Diversion, by leg: Leg) throws(CallError) {
        guard let call else { throw .noSuchCall }
        switch diversion {
        case .transfer: try call.checkTransfer(by: leg)
        case .forward: try call.checkForward(by: leg)
        }
    }

    /// A number for somebody who has a device that is now to be rung.
    func takeLeg(for diversion: Diversion, by leg: Leg) throws(CallError) -> Leg {
        try check(diversion, by: leg)
        guard let taken = call?.takeLeg() else { throw .noSuchCall }
        return taken
    }

    /// Whether the same has been asked for, and is under way.
    func isDiverting(_ diversion: Diversion, _ leg: Leg, to address: UserAddress) -> Bool {
        diversion == .transfer && call?.isTransferring(leg, to: address) == true
    }

    /// - Parameter replaced: the target's call that this one is to take the place of.
    func divert(
        _ diversion: Diversion, by leg: Leg, to party: CallParty, as target: Leg, _ registration: RegistrationOwner,
        replacing replaced: (session: SessionID, in: Neighbour)? = nil
    ) throws(CallError) {
        let target = CallTarget(
            leg: target, party: party, identity: try reserveLeg(),
            replacing: replaced.map { ReplacedCall(call: $0.in.owner.id, keeper: $0.in.leg, session: $0.session) })
        if let replaced { neighbours[replaced.in.owner.id] = replaced.in }
        var random = environment.random.generator
        let now = environment.clock.now
        precondition(registrations[target.leg] == nil, "no end of the call has this number")
        registrations[target.leg] = registration
        do throws(CallError) {
            try command(diversion.rawValue, leg) { call throws(CallError) in
                switch diversion {
                case .transfer: try call.transfer(by: leg, to: target, at: now, random: &random)
                case .forward: try call.forward(by: leg, to: target, at: now, random: &random)
                }
            }
        } catch {
            registrations[target.leg] = nil
            throw error
        }
    }

    func transferUnreachable(by leg: Leg, _ reason: CallEndCause.Unreachable) throws(CallError) {
        try command("transferUnreachable", leg) { call throws(CallError) in
            try call.transferUnreachable(by: leg, reason)
        }
    }

    /// Brings who this leg talks to together with whom the same user talks to in another call.
    func consult(by leg: Leg, with party: UserAddress, in neighbour: Neighbour) throws(CallError) {
        let now = environment.clock.now
        var random = environment.random.generator
        neighbours[neighbour.owner.id] = neighbour
        try command("consult", leg) { call throws(CallError) in
            try call.consult(by: leg, with: party, in: neighbour.owner.id, at: now, random: &random)
        }
    }
}
