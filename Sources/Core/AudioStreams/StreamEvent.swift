/// What a bot hears on its stream, in no dialect's words. Times are media times: milliseconds since the stream started.
///
/// `heard` is how many milliseconds of the bot's audio the caller has really heard since the stream started: frames
/// that left the gateway. Neither silence in place of audio that did not come, nor audio that was cleared, counts.
package enum StreamEvent: Equatable, Sendable {
    /// The first event on each socket.
    case start(StreamStart)
    /// What the caller says, in the format of the stream: 20 ms, or one Opus packet. `at`: the time of its first
    /// sample.
    case media([UInt8], at: Int, milliseconds: Int)
    /// The caller pressed a DTMF digit. `milliseconds`: how long; `nil`: not known.
    case keys(Character, milliseconds: Int?)
    /// The caller has started to speak. `at`: when. `decision`: playback is paused by itself, and goes on after so
    /// many milliseconds unless the bot decides; `nil`: it is not paused.
    case speechStarted(at: Int, decision: Int?)
    /// The caller has stopped speaking. `at`: when.
    case speechStopped(at: Int)
    /// The audio before a mark has been heard, or was cleared.
    case marked(String, heard: Int, wasCleared: Bool)
    /// The bot's audio was dropped, as the bot asked.
    case cleared(heard: Int)
    /// Playback that was paused by itself goes on, because the bot did not decide in time.
    case resumed(heard: Int)
    /// The buffer is nearly full; the bot is to send no audio for now.
    case pause
    /// The buffer has room again.
    case resume
    /// All audio of the bot has been heard. `isAsked`: the bot asked to be told.
    case drained(isAsked: Bool)
    /// How much waits.
    case status(StreamStatus)
    /// Something of the bot was not understood or not taken. The stream goes on.
    case refused(StreamFault)
    /// The last event of the stream.
    case end(StreamEnd)
}

/// What a stream is, as its first event tells.
package struct StreamStart: Equatable, Sendable {
    /// The name of the stream.
    package var stream: String
    /// The name of the call.
    package var call: String
    /// The name of the application.
    package var application: String
    /// What the application gave with the call, to find it again; `nil`: nothing.
    package var context: String?
    /// What the application wants to be told to the bot: values by names.
    package var parameters: [String: String]
    /// The address of the caller.
    package var from: String
    /// The address that was called.
    package var to: String
    /// The form of the audio, in both directions.
    package var format: StreamFormat
    /// The media time, in milliseconds; more than 0 after a socket was lost.
    package var time: Int
    /// Whether the stream has had a socket before.
    package var isReconnected: Bool
    /// The trace context (W3C Trace Context §3.2); `nil`: there is none.
    package var traceparent: String?

    /// Makes a start of its parts; each parameter is the property of that name.
    package init(
        stream: String, call: String, application: String, context: String? = nil, parameters: [String: String] = [:],
        from: String, to: String, format: StreamFormat, time: Int = 0, isReconnected: Bool = false,
        traceparent: String? = nil
    ) {
        self.stream = stream
        self.call = call
        self.application = application
        self.context = context
        self.parameters = parameters
        self.from = from
        self.to = to
        self.format = format
        self.time = time
        self.isReconnected = isReconnected
        self.traceparent = traceparent
    }
}

/// How much audio of a bot waits. All but the flags are milliseconds.
package struct StreamStatus: Equatable, Sendable {
    /// What waits.
    package var waiting: Int
    /// From there on the bot is told to pause.
    package var high: Int
    /// From there down the bot is told to resume.
    package var low: Int
    /// Whether the bot was told to pause and not yet to resume.
    package var isFull: Bool
    /// Whether playback is paused.
    package var isPaused: Bool

    /// Makes a status of its parts; each parameter is the property of that name.
    package init(waiting: Int, high: Int, low: Int, isFull: Bool, isPaused: Bool) {
        self.waiting = waiting
        self.high = high
        self.low = low
        self.isFull = isFull
        self.isPaused = isPaused
    }
}

/// Why a stream ended.
package enum StreamEnd: String, Hashable, Sendable, CaseIterable {
    /// The leg ended.
    case callEnded
    /// The application stopped the stream.
    case stopped
    /// Another stream took its place.
    case replaced
    /// The bot asked for the end of the leg.
    case byBot
    /// The bot sent nothing that could be read, many times in a row.
    case faults
    /// The bot did not read what was sent, or could not be reached again.
    case unreachable
    /// The gateway stops.
    case shutdown
}
