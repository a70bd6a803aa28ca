/// The stream of a leg: one at a time.
extension ApplicationLeg {
    /// Why no stream can be opened now, as a sentence; `nil`: one can. The states are those of `play`.
    package var obstacleToStream: String? {
        guard view.state.phase.allows(.play, view.direction) else {
            return "The call is \(view.state.phase.rawValue), and does not allow a stream."
        }
        return stream == nil ? nil : "The call has a stream already."
    }

    /// A stream carries the audio of the leg from now on.
    ///
    /// - Returns: what the call is asked for.
    package mutating func open(_ stream: StreamID) -> CallCommand {
        self.stream = stream
        return .headless(.say(.stream(stream)))
    }

    /// The socket of a stream is gone, or was refused by the call. If it is not the stream of the leg, nothing happens.
    package mutating func close(_ stream: StreamID) {
        if self.stream == stream { self.stream = nil }
    }
}
