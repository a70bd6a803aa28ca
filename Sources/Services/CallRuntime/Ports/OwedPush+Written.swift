import CallControl
import Push
import Registration

/// The written form of what a device is told. A case or a field is never renamed or removed.
extension OwedPush.Occasion: Codable {
    private enum Kind: String, Codable {
        case call, callOver, gone, messageWaiting, refresh
    }

    private enum CodingKeys: String, CodingKey {
        case kind, event, hasVideo, ending, channel, count
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
        case .gone: self = .gone(ChannelID(try fields.decode(String.self, forKey: .channel)))
        case .messageWaiting: self = .messageWaiting(try fields.decode(VoicemailCount.self, forKey: .count))
        case .refresh: self = .refresh
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
        case .gone(let channel):
            try fields.encode(Kind.gone, forKey: .kind)
            try fields.encode(channel.rawValue, forKey: .channel)
        case .messageWaiting(let count):
            try fields.encode(Kind.messageWaiting, forKey: .kind)
            try fields.encode(count, forKey: .count)
        case .refresh: try fields.encode(Kind.refresh, forKey: .kind)
        }
    }
}
