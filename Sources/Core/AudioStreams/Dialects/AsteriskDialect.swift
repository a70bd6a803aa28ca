/// The dialect of chan_websocket of Asterisk 20.18, 22.8 and 23.2
/// (docs.asterisk.org/Configuration/Channel-Drivers/WebSocket): words in text frames, audio in binary frames.
///
/// Events are plain text, as is usual there, or JSON, as `f(json)` asks for there. Commands are read in either form.
///
/// Deviations: Audio of any length is taken, also without `START_MEDIA_BUFFERING`; Asterisk drops what does not fill a
/// frame. Marks are answered only when they are reached, as there. A bot may have more than 20 s of audio waiting.
package struct AsteriskDialect: StreamDialect {
    private let format: StreamFormat
    private let isJSON: Bool
    private var channel = ""
    private var isBuffering = false

    /// Makes a dialect for one socket.
    ///
    /// - Parameter isJSON: whether events are JSON; otherwise they are plain text.
    package init(format: StreamFormat, isJSON: Bool = false) {
        self.format = format
        self.isJSON = isJSON
    }

    /// All formats. Opus is passed through as there: one packet in each binary frame, an `optimal_frame_size` of 0, and
    /// none of the commands that need frames of a known size (`channels/chan_websocket.c`, `passthrough`).
    package static func carries(_ format: StreamFormat) -> Bool { true }

    /// `media`.
    package static var subprotocol: String? { "media" }

    /// By `MEDIA_XOFF` and `MEDIA_XON`.
    package static var hasFlowControl: Bool { true }

    // MARK: Commands

    /// Reads a frame; see `StreamDialect.read`.
    ///
    /// - Throws: what is wrong with the frame.
    package mutating func read(_ frame: StreamFrame) throws(StreamFault) -> [StreamCommand] {
        switch frame {
        case .binary(let bytes): return bytes.isEmpty ? [] : [.audio(bytes)]
        case .text(let text):
            try StreamField.checkLength(text)
            let (command, argument) = try Self.parts(text)
            guard (argument ?? "").utf8.count < StreamField.maximumName else {
                throw StreamFault(.tooLong, "an id has at most \(StreamField.maximumName - 1) bytes")
            }
            return try read(command, argument ?? "")
        }
    }

    private mutating func read(_ command: String, _ argument: String) throws(StreamFault) -> [StreamCommand] {
        switch command {
        case "ANSWER": return [.answer]
        case "HANGUP": return [.end]
        case "GET_STATUS": return [.status]
        case "START_MEDIA_BUFFERING", "STOP_MEDIA_BUFFERING", "MARK_MEDIA", "FLUSH_MEDIA", "PAUSE_MEDIA",
            "CONTINUE_MEDIA", "REPORT_QUEUE_DRAINED":
            guard format.encoding != .opus else {
                throw StreamFault(.unsupported, "\(command) not supported in passthrough mode")
            }
        default: throw StreamFault(.unknownCommand, "the command is none of \(Self.commands)")
        }
        switch command {
        case "START_MEDIA_BUFFERING":
            isBuffering = true
            return []
        case "STOP_MEDIA_BUFFERING":
            isBuffering = false
            return [.finish, .mark(Mark.buffering.rawValue + argument)]
        case "MARK_MEDIA": return [.mark(Mark.media.rawValue + argument)]
        case "FLUSH_MEDIA":
            isBuffering = false
            return [.clear, .resume]
        case "PAUSE_MEDIA": return [.pause]
        case "CONTINUE_MEDIA": return [.resume]
        default: return [.drain]
        }
    }

    private static let commands = """
        ANSWER, HANGUP, START_MEDIA_BUFFERING, STOP_MEDIA_BUFFERING, MARK_MEDIA, FLUSH_MEDIA, PAUSE_MEDIA, \
        CONTINUE_MEDIA, GET_STATUS and REPORT_QUEUE_DRAINED
        """

    /// The command of a text frame, and what follows it.
    ///
    /// - Throws: `malformed`, `missingField` or `invalidValue` for JSON that is no command.
    private static func parts(_ text: String) throws(StreamFault) -> (command: String, argument: String?) {
        let trimmed = trimmed(text[...])
        guard trimmed.first == "{" else {
            guard let blank = trimmed.firstIndex(of: " ") else { return (String(trimmed), nil) }
            return (String(trimmed[..<blank]), String(Self.trimmed(trimmed[trimmed.index(after: blank)...])))
        }
        let object = try StreamField.object(text)
        let command = try StreamField.text(object["command"], "command")
        let argument = object["correlation_id"]
        let id: String? = if let argument { try StreamField.text(argument, "correlation_id") } else { nil }
        return (command, id)
    }

    private static func trimmed(_ text: Substring) -> Substring {
        var text = text.drop { $0.isWhitespace }
        while text.last?.isWhitespace == true { text.removeLast() }
        return text
    }

    /// What a mark stands for: the first letter of its name inside the gateway.
    private enum Mark: String {
        case media = "m"
        case buffering = "b"
    }

    // MARK: Events

    /// Says an event; see `StreamDialect.write`.
    package mutating func write(_ event: StreamEvent) -> [StreamFrame] {
        switch event {
        case .start(let start):
            channel = start.call
            isBuffering = false
            return [self.start(start)]
        case .media(let bytes, _, _): return [.binary(bytes)]
        case .keys(let digit, _):
            return [message("DTMF_END", [("digit", .string(String(digit))), ("channel_id", .string(channel))])]
        case .marked(let name, _, wasCleared: false):
            let id = String(name.dropFirst())
            let word =
                name.hasPrefix(Mark.buffering.rawValue) ? "MEDIA_BUFFERING_COMPLETED" : "MEDIA_MARK_PROCESSED"
            guard isJSON else { return [.text(id.isEmpty ? word : "\(word) \(id)")] }
            return [message(word, [("channel_id", .string(channel)), ("correlation_id", .string(id))])]
        case .pause: return [plain("MEDIA_XOFF")]
        case .resume: return [plain("MEDIA_XON")]
        case .drained(isAsked: true): return [plain("QUEUE_DRAINED")]
        case .status(let status): return [self.status(status)]
        case .refused(let fault):
            return [message("ERROR", [("channel_id", .string(channel)), ("error_text", .string(fault.sentence))])]
        case .marked, .drained, .speechStarted, .speechStopped, .cleared, .resumed, .end: return []
        }
    }

    private func start(_ start: StreamStart) -> StreamFrame {
        let size = start.format.bytesPerSample.map { $0 * start.format.samplesPerFrame } ?? 0
        let parameters: [(String, JSONValue)] = [
            ("connection_id", .string(start.stream)), ("channel", .string("WebSocket/" + start.call)),
            ("channel_id", .string(start.call)), ("format", .string(Self.name(of: start.format))),
            ("optimal_frame_size", .integer(size)), ("ptime", .integer(StreamFormat.frameMilliseconds)),
        ]
        // Plain text has no channel variables: their values may hold blanks.
        return message(
            "MEDIA_START", isJSON ? parameters + [("channel_variables", .texts(start.parameters))] : parameters)
    }

    /// Asterisk's name for a format.
    private static func name(of format: StreamFormat) -> String {
        switch format.encoding {
        case .pcmu: "ulaw"
        case .pcma: "alaw"
        case .opus: "opus"
        case .l16: format.rate == 8_000 ? "slin" : "slin\(format.rate / 1_000)"
        }
    }

    private func status(_ status: StreamStatus) -> StreamFrame {
        func frames(_ milliseconds: Int) -> JSONValue { .integer(milliseconds / StreamFormat.frameMilliseconds) }
        return message(
            "STATUS",
            [
                ("channel_id", .string(channel)), ("queue_length", frames(status.waiting)),
                ("xon_level", frames(status.low)), ("xoff_level", frames(status.high)),
                ("queue_full", .flag(status.isFull)), ("bulk_media", .flag(isBuffering)),
                ("media_paused", .flag(status.isPaused)),
            ])
    }

    /// An event that has no parameters in plain text.
    private func plain(_ event: String) -> StreamFrame {
        isJSON ? message(event, [("channel_id", .string(channel))]) : .text(event)
    }

    /// An event with its parameters in order, in the form that the bot uses.
    private func message(_ event: String, _ parameters: [(name: String, value: JSONValue)]) -> StreamFrame {
        guard isJSON else {
            return .text(
                ([event] + parameters.map { "\($0.name):\($0.value.text ?? $0.value.json)" }).joined(separator: " "))
        }
        let members = parameters.map { JSONValue.Member($0.name, $0.value) }
        return .text(JSONValue.object([.init("event", .string(event))] + members).json)
    }
}
