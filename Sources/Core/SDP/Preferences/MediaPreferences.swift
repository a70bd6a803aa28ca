/// What an application wants of the media that it receives: the settings of the reference guide ("Set codec priority",
/// "Replace codec payload number", "Bandwidth limitation", "Control audio bandwidth").
///
/// They have the effect of text that the client wrote into its own descriptions, so they reach both senders: the far
/// peer, through the description that the gateway writes on the client's behalf, and the gateway's own encoder. Empty
/// preferences leave descriptions unchanged.
package struct MediaPreferences: Hashable, Sendable {
    /// The encoding names of the audio codecs to use, most wanted first. If the list is empty, all codecs are used in
    /// the order of the description. Formats that accompany a codec (rtx, red, telephone-events, comfort noise) need
    /// not be named.
    package var audioCodecs: [String]
    /// The same for video codecs.
    package var videoCodecs: [String]
    /// The payload types in the first offer made on the client's behalf.
    package var payloadNumbers: [PayloadNumber]
    /// The limit on the audio that the client receives, in kbit/s; `nil` for none.
    package var audioBandwidth: Int?
    /// The limit on the video that the client receives, in kbit/s; `nil` for none.
    package var videoBandwidth: Int?
    /// The Opus parameters and the packet time.
    package var opus: OpusParameters

    /// The limits that are accepted, in kbit/s. 1 Gbit/s is more than any client receives.
    package static let bandwidthRange = 1...1_000_000

    /// Whether a text can be an encoding name: 1 to 32 letters, digits, `-`, `_`, `.` or `+` of a token (RFC 8866 §9).
    package static func isCodecName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-_.+".utf8.contains(byte)
                }
            }
    }

    /// Makes preferences of their parts; each parameter is the property of that name. Without arguments, they are
    /// empty.
    package init(
        audioCodecs: [String] = [], videoCodecs: [String] = [], payloadNumbers: [PayloadNumber] = [],
        audioBandwidth: Int? = nil,
        videoBandwidth: Int? = nil, opus: OpusParameters = OpusParameters()
    ) {
        self.audioCodecs = audioCodecs
        self.videoCodecs = videoCodecs
        self.payloadNumbers = payloadNumbers
        self.audioBandwidth = audioBandwidth
        self.videoBandwidth = videoBandwidth
        self.opus = opus
    }

    /// Whether nothing is asked for.
    package var isEmpty: Bool { self == MediaPreferences() }

    /// These preferences, replaced by those of `other` wherever `other` has one.
    package func overridden(by other: Self) -> Self {
        Self(
            audioCodecs: other.audioCodecs.isEmpty ? audioCodecs : other.audioCodecs,
            videoCodecs: other.videoCodecs.isEmpty ? videoCodecs : other.videoCodecs,
            payloadNumbers: other.payloadNumbers.isEmpty ? payloadNumbers : other.payloadNumbers,
            audioBandwidth: other.audioBandwidth ?? audioBandwidth,
            videoBandwidth: other.videoBandwidth ?? videoBandwidth,
            opus: opus.overridden(by: other.opus))
    }

    func codecs(of kind: MediaKind) -> [String] {
        switch kind {
        case .audio: audioCodecs
        case .video: videoCodecs
        case .other: []
        }
    }

    func bandwidth(of kind: MediaKind) -> Int? {
        switch kind {
        case .audio: audioBandwidth
        case .video: videoBandwidth
        case .other: nil
        }
    }
}

extension [PayloadNumber] {
    /// The first two entries that want the same payload type; `nil` if there are none. In a BUNDLE group, a payload
    /// type can mean only one codec (RFC 9143 §9.1).
    package var contested: (first: PayloadNumber, second: PayloadNumber)? {
        for (index, second) in enumerated() {
            if let first = self[..<index].first(where: { $0.payloadType == second.payloadType }) {
                return (first, second)
            }
        }
        return nil
    }
}
