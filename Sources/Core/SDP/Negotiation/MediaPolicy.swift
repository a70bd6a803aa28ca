/// Which codecs, feedback and header extensions the gateway carries from leg to leg.
///
/// What is filtered out of an offer cannot come back in an answer, so both legs agree only on what the relay can do.
/// Filters keep the order of preference.
package struct MediaPolicy: Equatable, Sendable {
    /// Encoding names that are not offered to the other leg, by kind.
    package var withheldCodecs: [MediaKind: [String]]
    /// Values of `a=rtcp-fb` that are offered to the other leg. They are few, so an array is searched instead of a set.
    package var feedback: [String]
    /// URIs of header extensions that are offered to the other leg.
    package var extensions: Set<String>
    /// Audio codecs that the gateway can transcode, with the payload types it prefers for them. If the list is empty,
    /// nothing is transcoded.
    package var transcodable: [Codec]
    /// Whether the gateway gives and takes transport-wide feedback on legs with video. It then counts, per leg, the
    /// packets that a peer sends and those that it receives.
    package var givesTransportFeedback: Bool
    /// Whether the gateway reads the audio levels that peers send, per leg, for statistics.
    package var readsAudioLevels: Bool
    /// What every client wants to receive unless it says otherwise for a call.
    package var preferences = MediaPreferences()

    /// Makes a policy of its parts; each parameter is the property of that name. Without the optional ones, nothing is
    /// transcoded and the gateway negotiates no extension for itself.
    package init(
        withheldCodecs: [MediaKind: [String]], feedback: [String], extensions: Set<String>, transcodable: [Codec] = [],
        givesTransportFeedback: Bool = false, readsAudioLevels: Bool = false
    ) {
        self.transcodable = transcodable
        self.givesTransportFeedback = givesTransportFeedback
        self.readsAudioLevels = readsAudioLevels
        self.withheldCodecs = withheldCodecs
        self.feedback = feedback
        self.extensions = extensions
    }

    /// The policy of the packet relay.
    ///
    /// - Error correction (ulpfec, flexfec) protects a run of sequence numbers of one source, which the relay
    ///   renumbers, so it is withheld. Video `red` is useless without it and is withheld, too. Audio `red` (RFC 2198)
    ///   is self-contained and passes.
    /// - `transport-cc` counts packets per transport, and each leg is a transport of its own. Neither the feedback nor
    ///   its header extension passes. The gateway negotiates both for itself, and also `goog-remb`. The send times that
    ///   REMB is computed from pass.
    /// - Audio levels pass. The gateway also reads them, even from a peer whose counterpart does not want them.
    /// - Simulcast is not relayed, so stream ids are not either.
    package static let relay = MediaPolicy(
        withheldCodecs: [.video: ["ulpfec", "flexfec-03", "flexfec", "red"], .audio: ["ulpfec", "flexfec"]],
        feedback: ["nack", "nack pli", "ccm fir", "goog-remb"],
        extensions: [
            HeaderExtension.audioLevel,
            "urn:ietf:params:rtp-hdrext:sdes:mid",
            "urn:ietf:params:rtp-hdrext:toffset",
            "urn:3gpp:video-orientation",
            "http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time",
            "http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
            "http://www.webrtc.org/experiments/rtp-hdrext/video-content-type",
            "http://www.webrtc.org/experiments/rtp-hdrext/video-timing",
            "http://www.webrtc.org/experiments/rtp-hdrext/color-space",
        ],
        givesTransportFeedback: true,
        readsAudioLevels: true
    )

    /// The codecs of an m-line of that kind that are offered to the other leg, with only the feedback that the relay
    /// carries. Formats that depend on a withheld one are left out.
    package func codecs(_ codecs: [Codec], of kind: MediaKind) -> [Codec] {
        let withheld = withheldCodecs[kind] ?? []
        var kept = codecs.filter { !withheld.contains(where: $0.isNamed) }.withoutOrphans()
        for index in kept.indices { kept[index].feedback.removeAll { !feedback.contains($0) } }
        return kept
    }

    /// Whether the gateway can offer this m-line of a peer to the other leg.
    func canCarry(_ media: PeerMedia) -> Bool {
        media.refusal == nil && media.kind.isRelayed
            && codecs(media.codecs, of: media.kind).contains(where: \.carriesMedia)
    }

    /// The extensions that are offered to the other leg: those of the policy that are not `inactive`.
    package func extensions(_ offered: [HeaderExtension]) -> [HeaderExtension] {
        offered.filter { extensions.contains($0.uri) && $0.direction != .inactive }
    }
}
