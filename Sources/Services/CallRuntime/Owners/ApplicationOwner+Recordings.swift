import CallControl
import Logging
import Observability

/// The recordings of an application's legs. The file of a recording is made before the call is asked for it.
extension ApplicationOwner {
    /// Makes the file of the recording that a command is about to start. To be called in the turn of the leg, to which
    /// there is no obstacle.
    ///
    /// - Returns: the recording; `nil`: the command starts none.
    /// - Throws: `recordingNotProvided`, `unavailable`, `noSuchCall`.
    func openRecording(
        for command: ApplicationCommand, in session: SessionID
    ) async throws(ApplicationRefusal) -> RecordingID? {
        guard case .record(.start(let request)) = command else { return nil }
        guard let leg = legs[session] else { throw .noSuchCall }
        let recording = Recording(
            leg.nextRecording, request, of: identity, at: leg.own, in: leg.place.call, as: session,
            time: environment.clock.epochMilliseconds, trace: leg.view.trace)
        do throws(RecordingFault) {
            try await environment.recordings.open(recording)
        } catch {
            switch error {
            case .notProvided: throw .recordingNotProvided
            case .notFound, .notEnded, .unavailable: throw .unavailable
            }
        }
        return recording.id
    }

    /// Starts the recording that a call was to have from its start. A call that cannot be recorded goes on without.
    func recordLate(_ request: RecordRequest, in session: SessionID, asking switchboard: LocalSwitchboard) async {
        await turn(of: session)
        defer { pass(session) }
        let command = ApplicationCommand.record(.start(request))
        guard let leg = legs[session], !leg.isOver, leg.obstacle(to: command) == nil else { return }
        do throws(ApplicationRefusal) {
            guard let opened = try await openRecording(for: command, in: session) else { return }
            do throws(CallError) {
                try await decide(command, in: session, asking: switchboard)
            } catch {
                await environment.recordings.discard(opened)
                // Its first offer is not answered yet (slow start).
                if case .pending = error { edit(session) { $0.postponeRecording(request) } }
            }
        } catch {
            environment.logger.warning(
                "a call is not recorded, since the recording cannot be kept",
                metadata: [LogKey.call: "\(leg.place.call)"])
        }
    }
}
