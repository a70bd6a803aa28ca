import CallControl
import Primitives
import SDP

/// Requests of clients to a call that has been started.
extension CallOwner {
    /// Carries out a command.
    ///
    /// - Parameter device: the user's device that asks; `nil`: unknown.
    func perform(_ request: CallCommand, by leg: LegID, from device: Device?) throws(CallError) {
        var random = environment.random.generator
        let now = environment.clock.now
        try command(request.kind, leg) { call throws(CallError) in
            try call.perform(request, by: leg, from: device, at: now, random: &random)
        }
        // The registration records that the leg does not ring any more.
        if case .answer = request, let session = call?[leg]?.party.session, let endpoint = endpoints[leg] {
            environment.router.post(.answered(session), to: endpoint)
        }
    }

    /// Tells the endpoints of legs that have become established. Each hears the end by `detach`.
    func tellEstablished() {
        guard let call else { return }
        for leg in call.legs where !established.contains(leg.id) && call.legState(leg.id).isEstablished {
            established.insert(leg.id)
            guard let endpoint = endpoints[leg.id] else { continue }
            environment.router.post(.established(leg.party.session), to: endpoint)
        }
    }

    /// Throws if nothing could be played now; to be called before a file is loaded.
    func checkPlay(by leg: LegID) throws(CallError) {
        guard let call else { throw .noSuchCall }
        try call.checkPlay(by: leg)
    }

    /// The call as one of its legs may see it.
    ///
    /// - Throws: `noSuchCall`.
    func session(for leg: LegID) throws(CallError) -> CallSession {
        guard let call else { throw .noSuchCall }
        return try call.session(for: leg, history)
    }
}
