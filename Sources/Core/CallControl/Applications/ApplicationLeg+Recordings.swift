/// The recordings of a leg, of which one at a time goes on, and what keeps a command from being carried out.
extension ApplicationLeg {
    /// Why a command whose state is allowed cannot be carried out; `nil`: it can.
    package func obstacle(to command: ApplicationCommand) -> ApplicationObstacle? {
        switch command {
        case .play(let request):
            guard request.mode == .queue, waiting.count > PlayRequest.maximumWaiting else { return nil }
            return .waitingLists(limit: PlayRequest.maximumWaiting)
        case .record(let command): return obstacle(to: command)
        case .gather(let request):
            // Nobody would hear its prompt.
            let phase = view.state.phase
            return request.prompt == nil || phase.allows(.play, view.direction) ? nil : .state(phase, .play)
        case .ring, .progress, .answer, .reject, .end, .hold, .resume, .transfer, .transferToCall, .bridge, .join,
            .leave, .mute, .unmute, .send, .keys, .stop:
            return nil
        }
    }

    private func obstacle(to command: RecordCommand) -> ApplicationObstacle? {
        switch (command, current?.state) {
        case (.start, nil):
            let limit = RecordRequest.maximumCount
            return view.recordings.count < limit ? nil : .recordings(limit: limit)
        case (.start, _): return .recordingGoesOn
        case (.pause, .recording), (.resume, .paused), (.stop, .some): return nil
        case (.pause, .paused): return .recordingPaused
        case (.resume, .recording): return .recordingNotPaused
        case (.pause, _), (.resume, _), (.stop, _): return .noRecording
        }
    }

    /// The recording that goes on; `nil`: none does.
    private var current: ApplicationCall.Recorded? { view.recordings.last.flatMap { $0.state == .stopped ? nil : $0 } }

    /// The name of the recording that starts next.
    package var nextRecording: RecordingID { RecordingID(view.recordings.count + 1, of: view.id) }

    /// Takes a command about the recording, to which there is no obstacle.
    ///
    /// - Returns: what the media plane is to do.
    mutating func order(_ command: RecordCommand) -> RecordingOrder {
        switch command {
        case .start(let request):
            let id = nextRecording
            view.recordings.append(.init(id: id, tag: request.tag, state: .recording))
            return .start(id, request)
        case .pause:
            showCurrent(.paused)
            return .pause
        case .resume:
            showCurrent(.recording)
            return .resume
        case .stop:
            showCurrent(.stopped)
            return .stop
        }
    }

    private mutating func showCurrent(_ state: Recording.State) {
        guard current != nil else { return }
        view.recordings[view.recordings.count - 1].state = state
    }

    /// A command about the recording was refused. The recording may have ended meanwhile.
    mutating func withdrawRecording(_ before: ApplicationLeg) {
        view.recordings = before.view.recordings
        for id in writtenRecordings { showEnd(of: id) }
    }

    /// A recording is over, and written.
    package mutating func recordingEnded(_ id: RecordingID) {
        writtenRecordings.insert(id)
        showEnd(of: id)
        if !isOver { view.version += 1 }
    }

    private mutating func showEnd(of id: RecordingID) {
        guard let index = view.recordings.firstIndex(where: { $0.id == id }) else { return }
        view.recordings[index].state = .stopped
    }

    /// The recording that the call was to have from its start, once the leg hears something.
    mutating func recordLate() -> [Action] {
        guard talks || hearsEarly, !isOver, let request = awaitedRecording else { return [] }
        awaitedRecording = nil
        return [.record(request)]
    }

    /// The call did not allow the recording yet. It is asked for again when the leg is told something.
    package mutating func postponeRecording(_ request: RecordRequest) { awaitedRecording = request }
}
