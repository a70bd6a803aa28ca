/// Which codecs, feedback and header extensions the gateway carries from leg to leg.
///
/// What is filtered out of an offer cannot come back in an answer, so both legs only ever agree on what the relay can do.
/// Filters keep the order of preference.
package struct MediaPolicy: Equatable, Sendable {
    /// Encoding names that are not offered on.
    package var withheldCodecs: [MediaKind: [String]]
    /// Values of `a=rtcp-fb` that are offered on; few, hence searched and not hashed.
    package var feedback: [String]
    /// URIs of header extensions that are offered on.
    package var extensions: Set<String>
    /// Audio codecs that the gateway codes itself, with the payload types it would like for them; empty: nothing is transcoded.
    package var transcodable: [Codec]
    /// Whether the packets of legs with video are counted, leg by leg: those that a peer sends, and those that it is
    /// sent.
    package var givesTransportFeedback: Bool
    /// Whether peers that say how loud their audio is are listened to, leg by leg, for statistics.
    package var readsAudioLevels: Bool
    /// What every client wants to receive, unless it says otherwise for a call.
    package var preferences = MediaPreferences()

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

    /// What the packet relay does today.
    ///
    /// - Error correction (ulpfec, flexfec) protects a run of sequence numbers of one source, which the relay renumbers;
    ///   video `red` is of no use without it. Audio `red` (RFC 2198) is self-contained and stays.
    /// - `transport-cc` counts packets per transport, and each leg is a transport of its own: neither the feedback nor its header
    ///   extension passes. The gateway negotiates both for itself, and `goog-remb`. The send times that REMB works from
    ///   pass.
    /// - Audio levels pass, and are read as well: also from a peer whose counterpart does not want them.
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

    package func codecs(_ codecs: [Codec], of kind: MediaKind) -> [Codec] {
        let withheld = withheldCodecs[kind] ?? []
        var kept = codecs.filter { !withheld.contains(where: $0.isNamed) }.withoutOrphans()
        for index in kept.indices { kept[index].feedback.removeAll { !feedback.contains($0) } }
        return kept
    }

    /// Whether an m-line of a peer is one that the gateway can offer on.
    func canCarry(_ media: PeerMedia) -> Bool {
        media.refusal == nil && media.kind.isRelayed
            && codecs(media.codecs, of: media.kind).contains(where: \.carriesMedia)
    }

    package func extensions(_ offered: [HeaderExtension]) -> [HeaderExtension] {
        offered.filter { extensions.contains($0.uri) && $0.direction != .inactive }
    }
}
