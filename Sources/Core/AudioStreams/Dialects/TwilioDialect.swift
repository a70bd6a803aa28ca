/// The dialect of Twilio Media Streams, as a bidirectional stream has it
/// (twilio.com/docs/voice/media-streams/websocket-messages): JSON in text frames, audio as Base64 of µ-law at 8,000 Hz.
///
/// Names have Twilio's form with the gateway's own inside: `MZ` and the stream, `CA` and the call, `AC` and the
/// application. A second socket of the same stream counts its messages from 1 again and has a `start` of its own; the
/// times in `media` go on.
///
/// Deviation: Twilio has no words for speech, flow control, and what was refused, so that a bot is told nothing of
/// them. A bot that sends far ahead is slowed down by its socket in place of words.
package struct TwilioDialect: StreamDialect {
    private var stream = ""
    private var call = ""
    private var account = ""
    /// The number of the next message.
    private var sequence = 1
    /// The number of the next piece of audio.
    private var chunk = 1

    /// Makes a dialect for one socket.
    package init() {}

    /// µ-law at 8,000 Hz alone.
    package static func carries(_ format: StreamFormat) -> Bool { format == .muLaw }

    /// None.
    package static var subprotocol: String? { nil }

    /// None.
    package static var hasFlowControl: Bool { false }

    /// Reads a frame; see `StreamDialect.read`. A `streamSid` may be missing, but it must not be another stream's.
    ///
    /// - Throws: what is wrong with the frame.
    package mutating func read(_ frame: StreamFrame) throws(StreamFault) -> [StreamCommand] {
        guard case .text(let text) = frame else {
            throw StreamFault(.malformed, "audio comes as Base64 in media messages, not in binary frames")
        }
        let object = try StreamField.object(text)
        let event = try StreamField.text(object["event"], "event")
        if let name = object["streamSid"], name != .string(stream) {
            throw StreamFault(.invalidValue, "streamSid must be \(stream)")
        }
        switch event {
        case "media":
            let payload = try StreamField.text(object["media"]?["payload"], "media.payload")
            guard let bytes = Base64.decode(payload) else {
                throw StreamFault(.invalidValue, "media.payload must be Base64")
            }
            return bytes.isEmpty ? [] : [.audio(bytes)]
        case "mark":
            return [.finish, .mark(try StreamField.name(object["mark"]?["name"], "mark.name"))]
        case "clear": return [.clear]
        default: throw StreamFault(.unknownCommand, "the event is none of media, mark and clear")
        }
    }

    /// Says an event; see `StreamDialect.write`.
    package mutating func write(_ event: StreamEvent) -> [StreamFrame] {
        switch event {
        case .start(let start):
            stream = "MZ" + start.stream
            call = "CA" + start.call
            account = "AC" + start.application
            (sequence, chunk) = (1, 1)
            let connected = JSONValue.members([
                "event": .string("connected"), "protocol": .string("Call"), "version": .string("1.0.0"),
            ])
            let body = JSONValue.members([
                "accountSid": .string(account), "streamSid": .string(stream), "callSid": .string(call),
                "tracks": .list([.string("inbound")]),
                "mediaFormat": .members([
                    "encoding": .string("audio/x-mulaw"), "sampleRate": .integer(8_000), "channels": .integer(1),
                ]),
                "customParameters": .texts(start.parameters),
            ])
            return [.text(connected.json), message("start", "start", body)]
        case .media(let bytes, let time, _):
            defer { chunk += 1 }
            let body = JSONValue.members([
                "track": .string("inbound"), "chunk": .string(String(chunk)), "timestamp": .string(String(time)),
                "payload": .string(Base64.encode(bytes)),
            ])
            return [message("media", "media", body)]
        case .keys(let digit, _):
            let body = JSONValue.members(["track": .string("inbound_track"), "digit": .string(String(digit))])
            return [message("dtmf", "dtmf", body)]
        case .marked(let name, _, _): return [message("mark", "mark", .members(["name": .string(name)]))]
        case .end:
            let body = JSONValue.members(["accountSid": .string(account), "callSid": .string(call)])
            return [message("stop", "stop", body)]
        case .speechStarted, .speechStopped, .cleared, .resumed, .pause, .resume, .drained, .status, .refused: return []
        }
    }

    private mutating func message(_ event: String, _ name: String, _ body: JSONValue) -> StreamFrame {
        defer { sequence += 1 }
        let members: [JSONValue.Member] = [
            .init("event", .string(event)), .init("sequenceNumber", .string(String(sequence))), .init(name, body),
            .init("streamSid", .string(stream)),
        ]
        return .text(JSONValue.object(members).json)
    }
}
