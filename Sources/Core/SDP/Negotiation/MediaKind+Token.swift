extension MediaKind {
    /// Reads the media type token of an m-line (RFC 8866 §8.2.2); tokens are compared without case.
    package init(token: String) {
        switch token.lowercased() {
        case "audio": self = .audio
        case "video": self = .video
        default: self = .other(token)
        }
    }

    /// The media type token of an m-line (RFC 8866 §8.2.2).
    package var token: String {
        switch self {
        case .audio: "audio"
        case .video: "video"
        case .other(let token): token
        }
    }

    /// Whether the gateway relays media of this kind.
    var isRelayed: Bool {
        switch self {
        case .audio, .video: true
        case .other: false
        }
    }
}
