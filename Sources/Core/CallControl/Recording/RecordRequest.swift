/// A wish of an application to have a leg recorded.
package struct RecordRequest: Hashable, Sendable {
    /// What a recording is written as. The raw value is the word of the `/v1` interface, and the ending of the file.
    package enum Format: String, Hashable, Sendable, CaseIterable {
        /// Ogg with Opus (RFC 7845).
        case ogg
        /// RIFF/WAVE with PCM of 16 bits and 48 kHz.
        case wav
    }

    /// Who is recorded. The raw value is the word of the `/v1` interface.
    package enum Sides: String, Hashable, Sendable, CaseIterable {
        /// The application and those whom it hears.
        case both
        /// What others hear of the application.
        case own
        /// What the application hears.
        case other
    }

    /// The permitted numbers of channels.
    package static let channelCounts = 1...2
    /// The permitted lengths of a recording.
    package static let lengths = Duration.seconds(1)...Duration.seconds(4 * 3_600)
    /// The permitted lengths of the silence that ends a recording.
    package static let silences = Duration.seconds(1)...Duration.seconds(600)
    /// The most recordings of one leg.
    package static let maximumCount = 100

    /// What it is written as.
    package var format: Format
    /// Who is recorded.
    package var sides: Sides
    /// 1: all are in one channel. 2: those whom the application hears are on the left, the application on the right.
    package var channels: Int
    /// The recording ends when it is so long.
    package var maximum: Duration
    /// The recording ends when nothing has been heard in it for so long; `nil`: silence does not end it.
    package var silence: Duration?
    /// The others hear a tone before it starts.
    package var beep: Bool
    /// The application's own name for it, which comes back in events; `nil`: none.
    package var tag: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    ///
    /// - Throws: `ApplicationFault` if a value is out of its range, or there are two channels for one side.
    package init(
        format: Format = .ogg, sides: Sides = .both, channels: Int = 1, maximum: Duration = .seconds(3_600),
        silence: Duration? = nil, beep: Bool = false, tag: String? = nil
    ) throws(ApplicationFault) {
        guard Self.channelCounts.contains(channels) else { throw .channels(Self.channelCounts) }
        guard channels == 1 || sides == .both else { throw .channelsOfOneSide }
        guard Self.lengths.contains(maximum) else { throw .recordingLength(Self.lengths) }
        guard silence.map(Self.silences.contains) ?? true else { throw .silence(Self.silences) }
        if let tag { try PlayRequest.check(tag: tag) }
        self.format = format
        self.sides = sides
        self.channels = channels
        self.maximum = maximum
        self.silence = silence
        self.beep = beep
        self.tag = tag
    }
}

/// What an application can do about the recording of a leg.
package enum RecordCommand: Equatable, Sendable {
    /// Starts a recording.
    case start(RecordRequest)
    /// Leaves out what is said from now on.
    case pause
    /// Goes on.
    case resume
    /// Ends the recording.
    case stop

    /// The word of the `/v1` interface for what is to be done.
    package enum Action: String, Hashable, Sendable, CaseIterable {
        /// See `RecordCommand.start`.
        case start
        /// See `RecordCommand.pause`.
        case pause
        /// See `RecordCommand.resume`.
        case resume
        /// See `RecordCommand.stop`.
        case stop
    }
}

/// What the media plane is to do about the recording of a leg, of which there is one at a time.
package enum RecordingOrder: Equatable, Sendable {
    /// Starts a recording of this name.
    case start(RecordingID, RecordRequest)
    /// Leaves out what is said from now on.
    case pause
    /// Goes on.
    case resume
    /// Ends the recording.
    case stop
}
