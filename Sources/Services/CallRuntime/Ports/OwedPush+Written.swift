import CallControl
import Push

/// The written form of what a device is told. A case or a field is never renamed or removed.
extension OwedPush.Occasion: Codable {
    private enum Kind: String, Codable {
        case call, callOver
    }

    private enum CodingKeys: String, CodingKey {
        case kind, event, hasVideo, ending
    }

    /// Reads an occasion.
    ///
    /// - Throws: `DecodingError` if a field is missing or malformed.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        switch try fields.decode(Kind.self, forKey: .kind) {
        case .call: self = .call(try fields.decode(LoggedEvent.self, forKey: .event))
        case .callOver:
            self = .callOver(
                try fields.decode(LoggedEvent.self, forKey: .event),
                hasVideo: try fields.decode(Bool.self, forKey: .hasVideo),
                try fields.decode(PushMessage.Ending.self, forKey: .ending))
        }
    }

    /// Writes all fields.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .call(let event):
            try fields.encode(Kind.call, forKey: .kind)
            try fields.encode(event, forKey: .event)
        case .callOver(let event, let hasVideo, let ending):
            try fields.encode(Kind.callOver, forKey: .kind)
            try fields.encode(event, forKey: .event)
            try fields.encode(hasVideo, forKey: .hasVideo)
            try fields.encode(ending, forKey: .ending)
        }
    }
}
