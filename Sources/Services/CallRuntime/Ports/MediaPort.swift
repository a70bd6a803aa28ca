package import CallControl
package import SDP

/// What call handling asks of the media plane. Every function without `async` returns at once. The commands of one call
/// are carried out in the order in which they were sent.
package protocol MediaPort: Sendable {
    /// Chooses the number of a new call, so that its legs and those of another call are handled by the same worker if
    /// they come together later.
    ///
    /// - Parameters:
    ///   - random: any number, from which that of the call is made.
    ///   - other: a call of one of the new call's users; `nil`: there is none.
    func identifier(_ random: UInt64, near other: CallID?) -> CallID

    /// Reserves a place for a leg of the call with its worker.
    ///
    /// - Parameter isNew: the call starts. It is refused while calls that exist would suffer from it; a further leg of
    ///   such a call is not.
    /// - Returns: what the legs of the call write into their descriptions.
    /// - Throws: `MediaUnavailable`.
    func reserve(_ call: CallID, isNew: Bool) throws(MediaUnavailable) -> MediaReservation

    /// Sends a command. If there is no room for it, it is not carried out, and the call learns by an event that its leg
    /// has failed or its playback has ended. Commands that end or release something are always accepted.
    func send(_ command: MediaCommand, for call: CallID)

    /// Prepares a file of the media folder for playing; to be awaited before a `play` that names it.
    ///
    /// - Throws: `MediaFileError` if the file cannot be played.
    func load(file: String) async throws(MediaFileError)

    /// Prepares files of other servers for playing, which may take a while; to be awaited before a list that has their
    /// https URLs. They are fetched together, and each application has its share of what is fetched at a time.
    ///
    /// - Throws: `MediaFileError` if one of them cannot be fetched or played.
    func load(urls: [String], for application: ApplicationName) async throws(MediaFileError)

    /// Makes a stream known; to be called before a `say` that names it. The media plane takes it with that command.
    func add(_ stream: MediaStream, as name: StreamID)

    /// Forgets a stream that the media plane has not taken. One that it has goes on until its socket is gone.
    func remove(_ stream: StreamID)

    /// What the media plane has measured of the call; `nil` if it does not know the call.
    func statistics(of call: CallID) async -> CallMediaStatistics?
}

/// Why the media plane takes no new call.
package enum MediaUnavailable: Error, Equatable {
    /// The call's worker has its maximum of calls, or too much to do.
    case full
    /// The media plane is stopping.
    case stopping
}

/// The part of a local description that the worker determines.
package struct MediaReservation: Equatable, Sendable {
    /// Values of `a=candidate` (RFC 8839 §5.1), one for each advertised address.
    package var candidates: [String]
    /// The fingerprint of the gateway's DTLS certificate.
    package var fingerprint: Fingerprint

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(candidates: [String], fingerprint: Fingerprint) {
        self.candidates = candidates
        self.fingerprint = fingerprint
    }
}

/// A command to the media plane about one call.
package enum MediaCommand: Equatable, Sendable {
    /// Accept the connectivity checks of this leg's peer from now on. This is sent before the leg's description reaches
    /// the peer, because a peer may start checking before its own description has arrived (RFC 8445 §7.3). An existing
    /// leg starts anew, with another peer.
    case prepare(LegID, ICECredentials)
    /// Make a headless leg with this source, which other legs can hear at once. An existing headless leg
    /// has this source from now on. A file must have been loaded.
    case prepareHeadless(LegID, HeadlessSource)
    /// Start the DTLS handshake, then relay: both descriptions of the leg are known. May be sent again after a new
    /// offer.
    case connect(LegID, NegotiatedLeg)
    /// Set what the leg hears and sees while nothing is played to it.
    case route(LegID, MediaRoute)
    /// Play this to the leg until it is stopped or has ended. `number` comes back in `playbackEnded`.
    case play(Playback, number: UInt32, to: LegID)
    /// Stop what plays, so that the leg hears its route again.
    case stopPlaying(to: LegID)
    /// Send DTMF digits to the leg's peer.
    case sendDigits(DigitSequence, to: LegID)
    /// Do this with the audio that others hear of a headless leg. Its files must have been loaded.
    case say(LegID, Speech)
    /// Take a leg of another call into this one, with its media path and everything that flows over it.
    case adopt(LegID, from: CallID, as: LegID)
    /// Release this leg; the others stay.
    case releaseLeg(LegID)
    /// Release all legs: the call is over.
    case release
}

/// What a program asks for on its stream, besides what it says.
package enum StreamWish: Equatable, Sendable {
    /// The gateway presses these keys for the other legs.
    case press(DigitSequence)
    /// The call is answered.
    case answer
    /// The call ends.
    case end
}

/// An event of the media plane about a call.
package enum MediaEvent: Equatable, Sendable {
    /// A path to the leg was checked, and may carry media.
    case pathChecked(LegID)
    /// The keys of the path are agreed with the peer that the description announced.
    case pathSecured(LegID)
    /// The first media packet was received.
    case mediaReceived(LegID)
    /// No packets have come from the leg's peer for a few seconds; what is sent to it may not arrive.
    case pathLost(LegID)
    /// After `pathLost`: packets come from the peer again.
    case pathRecovered(LegID)
    /// The playback of this number has reached its end.
    case playbackEnded(UInt32, LegID)
    /// A list that the headless leg had played is over.
    case played(PlayedList, LegID)
    /// The program on the stream of a headless leg asks for this.
    case streamAsks(StreamWish, LegID)
    /// The peer of the leg has pressed a key, which others hear. `milliseconds`: how long it was pressed; `nil`:
    /// unknown.
    case keyPressed(Key, milliseconds: Int?, LegID)
    /// The quality of a leg's audio: every few seconds, and whenever it has changed much.
    case qualityMeasured(CallQuality, LegID)
    /// The leg cannot continue; its call should end.
    case failed(LegID, MediaFailure)
}
