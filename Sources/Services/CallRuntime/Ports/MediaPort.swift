package import CallControl
package import SDP

/// What call handling asks of the media plane. Every function returns at once; commands of one call are
/// carried out in the order they were sent.
package protocol MediaPort: Sendable {
    /// A number for a new call, so that its legs and those of another call are near each other if they come together later.
    ///
    /// - Parameters:
    ///   - random: any number; the call's is made from it.
    ///   - neighbour: a call of one of the new call's users; `nil` if there is none.
    func identifier(_ random: UInt64, near neighbour: CallID?) -> CallID

    /// Chooses the worker that will carry the call and says what its legs write into their descriptions.
    /// Throws when the call's worker cannot take another call.
    func reserve(_ call: CallID) throws(MediaUnavailable) -> MediaReservation

    /// A command that finds no room is not carried out: the call learns by an event that its leg has failed, or its playback has ended.
    /// What ends or releases something is always taken.
    func send(_ command: MediaCommand, for call: CallID)

    /// Makes a file of the media folder ready to be played; to be awaited before a `play` that names it.
    func load(file: String) async throws(MediaFileError)

    /// `nil` if the media plane does not know the call.
    func statistics(of call: CallID) async -> CallMediaStatistics?
}

/// Why a file cannot be played; the sentence says it to whoever asked.
package struct MediaFileError: Error, Equatable {
    package var description: String

    package init(_ description: String) { self.description = description }
}

/// The media plane is full or stopping.
package struct MediaUnavailable: Error, Equatable {
    package init() {}
}

/// The part of a local description that belongs to the worker.
package struct MediaReservation: Equatable, Sendable {
    /// Values of `a=candidate` (RFC 8839 §5.1), one per advertised address.
    package var candidates: [String]
    /// The gateway's DTLS certificate.
    package var fingerprint: Fingerprint

    package init(candidates: [String], fingerprint: Fingerprint) {
        self.candidates = candidates
        self.fingerprint = fingerprint
    }
}

package enum MediaCommand: Equatable, Sendable {
    /// Answer connectivity checks for this leg from now on. Sent before its description reaches the peer,
    /// because a peer may start checking before its own description has arrived (RFC 8445 §7.3). A leg that was there already
    /// begins anew, with another peer.
    case prepare(Leg, ICECredentials)
    /// Both descriptions of the leg are known: handshake, then relay. May be sent again after a re-offer.
    case connect(Leg, NegotiatedLeg)
    /// What the leg hears and sees while nothing is played to it.
    case route(Leg, MediaRoute)
    /// The leg hears this instead, until it is stopped or has ended.
    case play(Playback, number: UInt32, to: Leg)
    case stopPlaying(to: Leg)
    case sendDigits(DigitSequence, to: Leg)
    /// A leg of another call becomes this call's, with its media path and whatever flows over it.
    case adopt(Leg, from: CallID, as: Leg)
    /// This leg goes, the others stay.
    case releaseLeg(Leg)
    /// The call is over; all legs go.
    case release
}

/// What the media plane has to tell about a call.
package enum MediaEvent: Equatable, Sendable {
    /// A checked pair may carry media.
    case iceConnected(Leg)
    /// Keys are agreed and the certificate matched.
    case dtlsConnected(Leg)
    /// The first media packet came in.
    case mediaReceived(Leg)
    /// Nothing has been heard of the leg's peer for a few seconds; what is sent may not arrive.
    case pathLost(Leg)
    /// After `pathLost`: the peer is back.
    case pathRecovered(Leg)
    /// A playback has come to its end.
    case playbackEnded(UInt32, Leg)
    /// The quality of a leg's audio, every few seconds and whenever it has changed much.
    case qualityMeasured(CallQuality, Leg)
    /// The leg cannot go on; the call should end.
    case failed(Leg, MediaFailure)
}

package enum MediaFailure: String, Equatable, Sendable {
    /// No connectivity check ever succeeded.
    case neverConnected = "media path could not be established"
    /// No valid check and no protected packet for the consent time (RFC 7675 §5.1).
    case consentExpired = "media path lost"
    /// The handshake failed or timed out.
    case handshakeFailed = "media encryption could not be agreed"
    /// The peer's certificate is not the one its description announced (RFC 5763 §6.7.1).
    case fingerprintMismatch = "media certificate does not match its fingerprint"
    /// The worker had no room for what the leg needed.
    case overloaded = "media worker is overloaded"
}
