import AudioStreams

/// What the tests of several parts say of a stream.
enum StreamSamples {
    static func start(_ format: StreamFormat, context: String? = "ticket 7") -> StreamStart {
        StreamStart(
            stream: "5a", call: "1f", application: "c3", context: context, parameters: ["b": "x y", "a": "1"],
            from: "sip:alice@example.com", to: "sip:bot@example.com", format: format,
            traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    }

    static let status = StreamEvent.status(
        StreamStatus(waiting: 50, high: 400, low: 200, isFull: false, isPaused: true))

    /// Events of each kind.
    static func events(_ format: StreamFormat) -> [StreamEvent] {
        [
            .start(start(format)), .media([1, 2], at: 40, milliseconds: 20), .media([3], at: 60, milliseconds: 20),
            .keys("5", milliseconds: 120), .keys("#", milliseconds: nil), .speechStarted(at: 100, decision: 1_500),
            .speechStarted(at: 100, decision: nil), .speechStopped(at: 900),
            .marked("mone \"1\"", heard: 250, wasCleared: false), .marked("btwo", heard: 300, wasCleared: false),
            .marked("m", heard: 300, wasCleared: true), .cleared(heard: 300), .resumed(heard: 320), .pause, .resume,
            .drained(isAsked: false), .drained(isAsked: true),
            status,
            .refused(StreamFault(.unknownCommand, "the type is wrong")), .end(.callEnded),
        ]
    }
}

extension StreamFrame {
    var text: String? {
        guard case .text(let text) = self else { return nil }
        return text
    }
}
