/// How a bot and the gateway speak on a WebSocket: it maps frames to commands, and events to frames.
///
/// A dialect has no decisions of the stream. It may count what it has written.
package protocol StreamDialect: Sendable {
    /// Whether the dialect can carry this format.
    static func carries(_ format: StreamFormat) -> Bool

    /// The subprotocol of the WebSocket (RFC 6455 §1.9); `nil`: none.
    static var subprotocol: String? { get }

    /// Whether a bot can be told to stop sending audio, and to go on. A bot that cannot is stopped by its socket, which
    /// is not read while the buffer has no room.
    static var hasFlowControl: Bool { get }

    /// Reads what the bot sent. One frame may hold no command, one or several.
    ///
    /// - Throws: what is wrong with the frame, which then has no effect.
    mutating func read(_ frame: StreamFrame) throws(StreamFault) -> [StreamCommand]

    /// Says an event in the words of the dialect; empty if it has none for it.
    mutating func write(_ event: StreamEvent) -> [StreamFrame]
}

/// The dialects by name.
package enum StreamDialectName: String, Hashable, Sendable, CaseIterable {
    /// The gateway's own (`openapi/asyncapi.yaml`).
    case own = "orbweaver"
    /// That of Twilio Media Streams.
    case twilio
    /// That of chan_websocket of Asterisk, with events in plain text.
    case asterisk
    /// The same with events in JSON.
    case asteriskJSON = "asterisk-json"

    /// Whether the dialect can carry this format.
    package func carries(_ format: StreamFormat) -> Bool {
        switch self {
        case .own: OwnDialect.carries(format)
        case .twilio: TwilioDialect.carries(format)
        case .asterisk, .asteriskJSON: AsteriskDialect.carries(format)
        }
    }

    /// The format of a stream that does not ask for one.
    package var usualFormat: StreamFormat {
        switch self {
        case .own: .standard
        case .twilio, .asterisk, .asteriskJSON: .muLaw
        }
    }

    /// The subprotocol of the WebSocket; `nil`: none.
    package var subprotocol: String? {
        switch self {
        case .own: OwnDialect.subprotocol
        case .twilio: TwilioDialect.subprotocol
        case .asterisk, .asteriskJSON: AsteriskDialect.subprotocol
        }
    }

    /// Whether a bot can be told to stop sending audio; see ``StreamDialect/hasFlowControl``.
    package var hasFlowControl: Bool {
        switch self {
        case .own: OwnDialect.hasFlowControl
        case .twilio: TwilioDialect.hasFlowControl
        case .asterisk, .asteriskJSON: AsteriskDialect.hasFlowControl
        }
    }

    /// The buffer for the audio of a bot. One that cannot be told to stop may send far ahead before its socket is not
    /// read: what it says behind the audio, a `clear` as well, comes only when the audio has been taken.
    package var buffer: PacingBuffer.Configuration {
        hasFlowControl
            ? PacingBuffer.Configuration()
            : PacingBuffer.Configuration(
                capacity: PacingBuffer.Configuration.capacities.upperBound, maximumMarks: 2_000)
    }

    /// A new value of the dialect, for one socket.
    func make(format: StreamFormat) -> any StreamDialect {
        switch self {
        case .own: OwnDialect(format: format)
        case .twilio: TwilioDialect()
        case .asterisk: AsteriskDialect(format: format)
        case .asteriskJSON: AsteriskDialect(format: format, isJSON: true)
        }
    }
}
