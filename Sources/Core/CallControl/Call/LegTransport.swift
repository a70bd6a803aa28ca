import Primitives
import SDP

/// What carries the media of a leg (docs/adr/0009).
enum LegTransport: Equatable, Sendable {
    /// Nothing: the call has not started, its callee is not rung, or the leg has done its part.
    case absent
    /// Media goes from peer to peer, and the gateway passes descriptions on untouched.
    case direct
    /// ICE, DTLS and SRTP, as described to the leg's peer in SDP.
    case webRTC(LegMedia)
    /// The leg has no peer: its source and its sink are inside the gateway. No description is sent to it. `holds`: it
    /// does not want to receive.
    case headless(HeadlessSource, holds: Bool)
}

/// The audio that the other legs hear of a headless leg.
package enum HeadlessSource: Hashable, Sendable {
    /// Nothing.
    case silence
    /// The audio that the leg hears, delayed by this; 20 ms or more.
    case echo(delay: Duration)
    /// A tone, music, or a file, and then nothing.
    case playback(Playback)
}

/// Offers and answers, whatever carries the media. Every function that throws changes nothing.
extension LegTransport {
    /// Takes an offer of the leg. Returns what the leg wants: `nil` if media goes from peer to peer.
    mutating func receive(
        offer text: String, wanting preferences: MediaPreferences? = nil, random: inout some RandomSource
    ) throws(CallError) -> PeerDescription? {
        switch self {
        case .absent, .direct: return nil
        case .headless: return .headless
        case .webRTC(var media):
            let offer = try media.receive(offer: text, wanting: preferences, random: &random)
            self = .webRTC(media)
            return offer
        }
    }

    /// Takes an answer of the leg. Returns what the leg agrees to: `nil` if media goes from peer to peer.
    mutating func receive(answer text: String, wanting preferences: MediaPreferences?) throws(CallError)
        -> PeerDescription?
    {
        switch self {
        case .absent, .direct: return nil
        case .headless: return .headless
        case .webRTC(var media):
            let answer = try media.receive(answer: text, wanting: preferences)
            self = .webRTC(media)
            return answer
        }
    }

    /// Makes an offer to the leg on behalf of another one; `nil` if the gateway describes nothing to this leg.
    mutating func offer(mirroring other: PeerDescription, random: inout some RandomSource) throws(CallError) -> String?
    {
        guard case .webRTC(var media) = self else { return nil }
        let text = try media.offer(mirroring: other, random: &random)
        self = .webRTC(media)
        return text
    }

    /// Answers the leg's offer on behalf of another one; `nil` if the gateway describes nothing to this leg.
    mutating func answer(mirroring other: PeerDescription, isPreliminary: Bool, random: inout some RandomSource)
        throws(CallError) -> String?
    {
        guard case .webRTC(var media) = self else { return nil }
        let text = try media.answer(mirroring: other, isPreliminary: isPreliminary, random: &random)
        self = .webRTC(media)
        return text
    }

    /// Whether the leg is headless.
    var isHeadless: Bool { if case .headless = self { true } else { false } }

    /// Whether the leg may lack m-lines that the other leg offers, and might take them later: a headless leg has no
    /// video, but the leg that takes its place may.
    var lacksLines: Bool {
        switch self {
        case .absent, .direct: false
        case .headless: true
        case .webRTC(let media): !media.lostLines.isEmpty
        }
    }
}

// MARK: - What it carries

extension LegTransport {
    /// The descriptions and the media path; `nil` unless the transport is WebRTC. Set to `nil`, there is no media any
    /// more.
    var media: LegMedia? {
        get { if case .webRTC(let media) = self { media } else { nil } }
        _modify {
            guard case .webRTC(let current) = self else {
                var media: LegMedia?
                defer { if let media { self = .webRTC(media) } }
                yield &media
                return
            }
            var media: LegMedia? = current
            // The value is here only meanwhile, so that its arrays are changed in place.
            self = .absent
            defer { if let media { self = .webRTC(media) } }
            yield &media
        }
    }

    /// What the leg wants to send and receive; `nil` if it has described nothing yet, or media goes from peer to peer.
    var wants: PeerDescription? {
        switch self {
        case .webRTC(let media): media.wishes
        case .headless(_, let holds): holds ? .holdingHeadless : .headless
        case .absent, .direct: nil
        }
    }
}

extension CallLeg {
    /// The descriptions and the media path; see `LegTransport.media`.
    var media: LegMedia? {
        get { transport.media }
        _modify { yield &transport.media }
    }

    /// What the leg wants to send and receive; see `LegTransport.wants`.
    var wants: PeerDescription? { transport.wants }

    /// Whether the gateway terminates the media of this leg.
    var isAnchored: Bool {
        switch transport {
        case .webRTC, .headless: true
        case .absent, .direct: false
        }
    }
}

extension Call {
    /// What is to carry the media of a leg that the gateway terminates.
    ///
    /// - Parameters:
    ///   - identity: what the gateway writes about itself to the peer; `nil` if the leg has no peer, because an
    ///     application hears it.
    ///   - preferences: what the peer wants to receive.
    func transport(
        for party: CallParty, _ identity: LegIdentity?, preferences: MediaPreferences = MediaPreferences()
    ) -> LegTransport {
        switch (party.endpoint, identity) {
        case (.application(let source, _), _): .headless(source, holds: false)
        case (.devices, let identity?):
            .webRTC(LegMedia(identity: identity, policy: configuration.mediaPolicy, preferences: preferences))
        case (.devices, nil): .absent
        }
    }

    /// Gives the media plane the leg: a WebRTC leg from the moment at which its peer may check, a headless one when it
    /// talks.
    func prepare(_ leg: LegID) -> [CallAction] {
        switch self[leg]?.transport {
        case .webRTC(let media): [.prepareMedia(leg, media.credentials)]
        case .headless(let source, _): [.prepareHeadless(leg, source)]
        case .absent, .direct, nil: []
        }
    }

    /// The same for a leg that is offered media: a headless one is prepared when it talks.
    func prepareOffered(_ leg: LegID) -> [CallAction] { self[leg]?.media == nil ? [] : prepare(leg) }

    /// The same for a leg that has answered: if it has a peer, that was prepared when it was offered media.
    func prepareAnswered(_ leg: LegID) -> [CallAction] { self[leg]?.media == nil ? prepare(leg) : [] }
}
