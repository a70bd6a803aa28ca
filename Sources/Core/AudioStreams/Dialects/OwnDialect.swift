/// The gateway's own dialect (`openapi/asyncapi.yaml`): one JSON object with a `type` in each text frame, audio in
/// binary frames.
///
/// Binary frames of the caller follow each other in time. Where one does not continue the frame before it, a `media`
/// frame with its time comes first; so it does before the first one on each socket.
package struct OwnDialect: StreamDialect {
    /// The version of the dialect, in `start`. A member is never renamed or removed within a version; readers skip
    /// members and types that they do not know.
    package static let version = 1

    private let format: StreamFormat
    /// The media time at which the frame after the last one starts; `nil`: there was none.
    private var next: Int?

    /// Makes a dialect for one socket.
    package init(format: StreamFormat) { self.format = format }

    /// All formats.
    package static func carries(_ format: StreamFormat) -> Bool { true }

    /// `orbweaver.stream.v1`.
    package static var subprotocol: String? { "orbweaver.stream.v1" }

    /// By `pause` and `resume`.
    package static var hasFlowControl: Bool { true }

    /// Reads a frame; see `StreamDialect.read`.
    ///
    /// - Throws: what is wrong with the frame.
    package mutating func read(_ frame: StreamFrame) throws(StreamFault) -> [StreamCommand] {
        switch frame {
        case .binary(let bytes): return bytes.isEmpty ? [] : [.audio(bytes)]
        case .text(let text):
            let object = try StreamField.object(text)
            let type = try StreamField.text(object["type"], "type")
            switch type {
            case "mark": return [.mark(try StreamField.name(object["name"], "name"))]
            case "clear": return [.clear]
            case "pause": return [.pause]
            case "resume": return [.resume]
            case "finish": return [.finish]
            case "keys": return [.keys(try StreamField.keys(object["keys"], "keys"))]
            case "drain": return [.drain]
            case "status": return [.status]
            case "answer": return [.answer]
            case "end": return [.end]
            default: throw StreamFault(.unknownCommand, "the type is none of \(Self.types)")
            }
        }
    }

    private static let types = "mark, clear, pause, resume, finish, keys, drain, status, answer and end"

    /// Says an event; see `StreamDialect.write`.
    package mutating func write(_ event: StreamEvent) -> [StreamFrame] {
        switch event {
        case .start(let start):
            next = nil
            return [Self.frame(Self.start(start))]
        case .media(let bytes, let time, let milliseconds):
            defer { next = time + milliseconds }
            let audio = StreamFrame.binary(bytes)
            guard next != time else { return [audio] }
            return [Self.frame(["type": .string("media"), "at": .integer(time)]), audio]
        case .keys(let digit, let milliseconds):
            return [
                Self.frame([
                    "type": .string("keys"), "keys": .string(String(digit)),
                    "duration": milliseconds.map { .integer($0) },
                ])
            ]
        case .speechStarted(let time, let decision):
            return [
                Self.frame([
                    "type": .string("speechStarted"), "at": .integer(time), "paused": .flag(decision != nil),
                    "decision": decision.map { .integer($0) },
                ])
            ]
        case .speechStopped(let time):
            return [Self.frame(["type": .string("speechStopped"), "at": .integer(time)])]
        case .marked(let name, let heard, let wasCleared):
            return [
                Self.frame([
                    "type": .string("marked"), "name": .string(name), "heard": .integer(heard),
                    "cleared": .flag(wasCleared),
                ])
            ]
        case .cleared(let heard): return [Self.frame(["type": .string("cleared"), "heard": .integer(heard)])]
        case .resumed(let heard): return [Self.frame(["type": .string("resumed"), "heard": .integer(heard)])]
        case .pause: return [Self.frame(["type": .string("pause")])]
        case .resume: return [Self.frame(["type": .string("resume")])]
        case .drained: return [Self.frame(["type": .string("drained")])]
        case .status(let status):
            return [
                Self.frame([
                    "type": .string("status"), "waiting": .integer(status.waiting), "high": .integer(status.high),
                    "low": .integer(status.low), "full": .flag(status.isFull), "paused": .flag(status.isPaused),
                ])
            ]
        case .refused(let fault):
            return [
                Self.frame([
                    "type": .string("refused"), "code": .string(fault.code.rawValue),
                    "message": .string(fault.sentence),
                ])
            ]
        case .end(let reason):
            return [Self.frame(["type": .string("end"), "reason": .string(reason.rawValue)])]
        }
    }

    private static func start(_ start: StreamStart) -> KeyValuePairs<String, JSONValue?> {
        [
            "type": .string("start"), "version": .integer(version), "stream": .string(start.stream),
            "call": .string(start.call), "application": .string(start.application),
            "context": start.context.map { .string($0) }, "parameters": .texts(start.parameters),
            "from": .string(start.from), "to": .string(start.to),
            "format": .members([
                "encoding": .string(start.format.encoding.rawValue), "rate": .integer(start.format.rate),
                "channels": .integer(1),
            ]),
            "at": .integer(start.time), "reconnected": .flag(start.isReconnected),
            "traceparent": start.traceparent.map { .string($0) },
        ]
    }

    private static func frame(_ members: KeyValuePairs<String, JSONValue?>) -> StreamFrame {
        .text(JSONValue.members(members).json)
    }
}
