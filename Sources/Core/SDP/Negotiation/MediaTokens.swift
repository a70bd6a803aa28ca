extension MediaKind {
    /// The media type token of an m-line (RFC 8866 §8.2.2); tokens compare without case.
    package init(token: String) {
        switch token.lowercased() {
        case "audio": self = .audio
        case "video": self = .video
        default: self = .other(token)
        }
    }

    package var token: String {
        switch self {
        case .audio: "audio"
        case .video: "video"
        case .other(let token): token
        }
    }

    /// Whether the gateway relays media of this kind at all.
    var isRelayed: Bool {
        switch self {
        case .audio, .video: true
        case .other: false
        }
    }
}

extension MediaDirection {
    /// What is left of this direction when only `limit` is possible.
    package func narrowed(to limit: MediaDirection) -> MediaDirection {
        MediaDirection(sends: sends && limit.sends, receives: receives && limit.receives)
    }

    /// Whether an answer may say this to an offer that said `offered` (RFC 3264 §6.1): it may send only what the
    /// offerer receives, and receive only what the offerer sends.
    package func mayAnswer(_ offered: MediaDirection) -> Bool { narrowed(to: offered.reversed) == self }
}

/// The value of `a=setup` (RFC 4145 §4).
package enum SetupRole: String, Hashable, Sendable {
    case active
    case passive
    /// Offers only: the answerer chooses (RFC 5763 §5).
    case actpass
    /// No connection for now; means nothing to DTLS-SRTP.
    case holdconn
}
