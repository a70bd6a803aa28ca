import CallControl
import Primitives
import SDP

/// The identities that the gateway writes into the descriptions of the legs.
extension CallOwner {
    /// The identity of one more leg of this call; `nil` if media goes from peer to peer.
    ///
    /// - Throws: `limitOfCalls`, or `draining`.
    func reserveLeg() throws(CallError) -> LegIdentity? {
        switch try reserveMedia() {
        case .direct: nil
        case .anchored(let identities): identities.caller
        }
    }

    /// The identities of the two legs with which the call starts.
    ///
    /// - Throws: `limitOfCalls`, or `draining`.
    func reserveMedia() throws(CallError) -> MediaMode {
        guard environment.configuration.media == .anchored else { return .direct }
        let reservation: MediaReservation
        do throws(MediaUnavailable) {
            reservation = try environment.media.reserve(id)
        } catch {
            switch error {
            case .full: throw .limitOfCalls
            case .stopping: throw .draining
            }
        }
        return .anchored(PerLeg(caller: identity(reservation), callee: identity(reservation)))
    }

    /// Makes the identity of a leg. The session id of `o=` has to fit in 63 bits (RFC 3264 §5).
    private func identity(_ reservation: MediaReservation) -> LegIdentity {
        var random = environment.random.generator
        return LegIdentity(
            sessionID: random.next() >> 1, canonicalName: id.canonicalName,
            streamID: random.nextToken(16, alphabet: .url),
            credentials: ICECredentials(using: &random), fingerprint: reservation.fingerprint,
            candidates: reservation.candidates)
    }
}
