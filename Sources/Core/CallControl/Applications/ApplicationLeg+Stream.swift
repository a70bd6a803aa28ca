/// The streams of a leg: one that speaks and hears, and listeners besides it.
extension ApplicationLeg {
    /// What is done about a call whose program is given up, where it is what is configured for calls about which nobody
    /// decides (`fallback: application`).
    package enum FallbackOfStream: Equatable, Sendable {
        /// What is done about a call about which nobody has decided: its caller waits for an answer.
        case likeUndecided
        /// What is configured, of which nothing has to be answered first.
        case now
        /// Nothing yet: nobody hears the leg before the callee has answered. `fallBackOfStream` follows then.
        case withAnswer
    }

    /// The most listeners of a leg.
    package static let maximumListeners = 16

    /// Why no listener can be added now; `nil`: one can.
    package var obstacleToListener: ApplicationObstacle? {
        if let obstacle = view.obstacleToSound { return obstacle }
        return listeners.count < Self.maximumListeners ? nil : .listeners(limit: Self.maximumListeners)
    }

    /// How many streams the leg has, listeners included. One whose program is waited for counts.
    package var streamCount: Int { (view.stream == nil ? 0 : 1) + listeners.count }

    /// A stream is to carry the audio of the leg from now on. `dropFallback` follows if the call allows it.
    ///
    /// - Returns: what the call is asked for.
    package mutating func open(_ stream: StreamID) -> CallCommand {
        self.stream = stream
        show(.open)
        return .headless(.say(.stream(stream)))
    }

    /// The gateway is to open a stream, which has this name until it has a socket.
    package mutating func connect(_ stream: StreamID) {
        self.stream = stream
        view.isStreamOfGateway = true
        show(.connecting)
    }

    /// The gateway has lost the program of the stream, and connects again before long.
    package mutating func lostStream() { show(.waiting) }

    /// The program that has opened this stream itself is gone, and is waited for.
    package mutating func awaitProgram(of stream: StreamID) {
        guard self.stream == stream else { return }
        self.stream = nil
        show(.waiting)
    }

    /// A program hears the leg from now on.
    ///
    /// - Returns: what the call is asked for.
    package mutating func listen(_ stream: StreamID) -> CallCommand {
        listeners.insert(stream)
        return .headless(.say(.stream(stream)))
    }

    /// The socket of a stream is gone, or was refused by the call. If it is no stream of the leg, nothing happens.
    package mutating func close(_ stream: StreamID) {
        if listeners.remove(stream) != nil { return }
        if self.stream == stream { endStream() }
    }

    /// The leg has no stream any more.
    package mutating func endStream() {
        stream = nil
        view.isStreamOfGateway = false
        show(nil)
    }

    /// A fallback that waits does not happen any more: a stream has taken its place, or the application has ended the
    /// one that was to.
    package mutating func dropFallback() { awaitsFallback = false }

    /// The program of the stream is given up, and what is configured is to happen. The view has to be that of the call
    /// as it is now.
    ///
    /// - Parameter fallback: what is configured.
    package mutating func giveUpProgram(_ fallback: ApplicationFallback) -> FallbackOfStream {
        awaitsFallback = false
        guard !talks else { return .now }
        switch (view.state.phase, view.direction) {
        case (.talking, _), (.held, _), (.ended, _): return .now
        case (.ringing, .incoming), (.progressing, .incoming): return .likeUndecided
        case (.ringing, .outgoing), (.progressing, .outgoing):
            switch fallback {
            // The callee need not answer for that.
            case .reject: return .now
            case .announce, .forward, .answer:
                awaitsFallback = true
                return .withAnswer
            }
        }
    }

    /// The leg talks, so that a fallback that has waited for it can happen. It waits on if a stream is there that may
    /// take its place.
    func fallBackLate() -> [Action] { awaitsFallback ? [.fallBackOfStream] : [] }

    private mutating func show(_ stream: ApplicationCall.Stream?) {
        guard view.stream != stream else { return }
        view.stream = stream
        view.version += 1
    }
}
