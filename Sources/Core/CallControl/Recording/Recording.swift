/// Why a recording is over. The raw value is the word of events and of the `/v1` interface.
package enum RecordingEnd: String, Hashable, Sendable, CaseIterable {
    /// The application has stopped it.
    case command
    /// It is as long as it may be.
    case maximum
    /// Nothing was heard for as long as the application had said.
    case silence
    /// The application's leg has ended.
    case callEnded
    /// It could not be written, for want of room or of a disk that keeps up. What was written before is there.
    case failed
    /// The gateway has ended meanwhile. What was written until then is there.
    case interrupted
}

/// A recording: what it is of, and how far it has come.
package struct Recording: Equatable, Sendable {
    /// How far a recording has come. The raw value is the word of the `/v1` interface.
    package enum State: String, Hashable, Sendable, CaseIterable {
        /// It goes on.
        case recording
        /// It goes on, and what is said is left out.
        case paused
        /// It is over, and can be fetched.
        case stopped
    }

    /// Its name.
    package var id: RecordingID
    /// The application that has it.
    package var application: ApplicationIdentity
    /// The application's address in the call.
    package var address: UserAddress
    /// The application's leg.
    package var session: SessionID
    /// The call that the leg was part of when the recording started.
    package var call: CallID
    /// The trace that this call is part of; `nil`: none.
    package var trace: TraceContext?
    /// What it is written as.
    package var format: RecordRequest.Format
    /// Who is recorded.
    package var sides: RecordRequest.Sides
    /// The number of channels, 1 or 2.
    package var channels: Int
    /// The application's own name for it; `nil`: none.
    package var tag: String?
    /// How far it has come.
    package var state: State
    /// Why it is over; `nil`: it is not.
    package var end: RecordingEnd?
    /// When it was asked for, in milliseconds since 1970.
    package var startedAt: Int64
    /// When it was over, in milliseconds since 1970; `nil`: it is not.
    package var endedAt: Int64?
    /// How long it is, in milliseconds, without what was left out; 0 while it goes on.
    package var milliseconds: Int
    /// How many bytes its file has; 0 while it goes on.
    package var bytes: Int

    /// Makes a recording that goes on.
    ///
    /// - Parameters:
    ///   - request: what the application asks for.
    ///   - time: now, in milliseconds since 1970.
    ///   - trace: the trace that the call is part of; `nil`: none.
    package init(
        _ id: RecordingID, _ request: RecordRequest, of application: ApplicationIdentity, at address: UserAddress,
        in call: CallID, as session: SessionID, time: Int64, trace: TraceContext? = nil
    ) {
        self.id = id
        self.application = application
        self.address = address
        self.session = session
        self.call = call
        self.trace = trace
        format = request.format
        sides = request.sides
        channels = request.channels
        tag = request.tag
        state = .recording
        startedAt = time
        (milliseconds, bytes) = (0, 0)
    }

    /// The name of the file, in the folder of the recordings.
    package var fileName: String { "\(id).\(format.rawValue)" }

    /// The recording, which is over.
    ///
    /// - Parameter time: now, in milliseconds since 1970.
    package func ended(_ end: RecordingEnd, milliseconds: Int, bytes: Int, time: Int64) -> Recording {
        var ended = self
        (ended.state, ended.end, ended.endedAt) = (.stopped, end, time)
        (ended.milliseconds, ended.bytes) = (milliseconds, bytes)
        return ended
    }
}
