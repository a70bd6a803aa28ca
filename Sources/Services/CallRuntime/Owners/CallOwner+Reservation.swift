import CallControl
import Primitives
import SDP

/// The identities that the gateway writes into the descriptions of the legs.
extension CallOwner {
    /// The identity of one more leg of this call; `nil` if media goes from peer to peer, or the leg is headless.
    ///
    /// - Throws: `limitOfCalls`, or `draining`.
    func reserveLeg(of party: CallParty) throws(CallError) -> LegIdentity? {
        try reserve(isNew: false).flatMap { identity(of: party, $0) }
    }

    /// The identities of the two legs with which the call starts.
    ///
    /// - Throws: `limitOfCalls`, or `draining`.
    func reserveMedia(of parties: PerLeg<CallParty>) throws(CallError) -> MediaMode {
        guard let reservation = try reserve(isNew: true) else { return .direct }
        return .anchored(
            PerLeg(caller: identity(of: parties.caller, reservation), callee: identity(of: parties.callee, reservation))
        )
    }

    /// A place in the media plane for this call; `nil` if media goes from peer to peer.
    private func reserve(isNew: Bool) throws(CallError) -> MediaReservation? {
        guard environment.configuration.media == .anchored else { return nil }
        do throws(MediaUnavailable) {
            return try environment.media.reserve(id, isNew: isNew)
        } catch {
            switch error {
            case .full: throw .limitOfCalls
            case .stopping: throw .draining
            }
        }
    }

    /// Makes the identity of a leg; `nil` for an application, whose leg has no peer to describe anything to. The
    /// session id of `o=` has to fit in 63 bits (RFC 3264 §5).
    private func identity(of party: CallParty, _ reservation: MediaReservation) -> LegIdentity? {
        guard case .devices = party.endpoint else { return nil }
        var random = environment.random.generator
        return LegIdentity(
            sessionID: random.next() >> 1, canonicalName: id.canonicalName,
            streamID: random.nextToken(16, alphabet: .url),
            credentials: ICECredentials(using: &random), fingerprint: reservation.fingerprint,
            candidates: reservation.candidates)
    }
}
