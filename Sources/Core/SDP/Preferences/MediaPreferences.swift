/// What an application wants of the media it receives: the settings of the reference guide ("Set codec priority", "Replace codec
/// payload number", "Bandwidth limitation", "Control audio bandwidth").
///
/// They count as though the client had written them into its own descriptions, so they reach whoever sends to it: the far peer
/// through the description that the gateway writes on the client's behalf, and the gateway's own encoder. Empty: as written.
package struct MediaPreferences: Hashable, Sendable {
    /// Encoding names, the most wanted first; no other codec is used. Empty: all, in the order of the description. What goes along
    /// with a codec (rtx, red, telephone events, comfort noise) need not be named.
    package var audioCodecs: [String]
    package var videoCodecs: [String]
    /// The numbers in the first offer made on the client's behalf.
    package var payloadNumbers: [PayloadNumber]
    /// Limits on what is received, in kbit/s.
    package var audioBandwidth: Int?
    package var videoBandwidth: Int?
    package var opus: OpusParameters

    /// 1 Gbit/s is more than any client takes.
    package static let bandwidthRange = 1...1_000_000

    /// Whether a text can be an encoding name: a token of RFC 8866 §9 without what separates it.
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

    package var isEmpty: Bool { self == MediaPreferences() }

    /// These, with what `other` says in the place of what they say.
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
    /// A number that is wanted for two codecs: in one BUNDLE group it could stand for one only (RFC 9143 §9.1).
    package var contested: (first: PayloadNumber, second: PayloadNumber)? {
        for (index, second) in enumerated() {
            if let first = self[..<index].first(where: { $0.payloadType == second.payloadType }) {
                return (first, second)
            }
        }
        return nil
    }
}
