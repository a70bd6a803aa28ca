import CallControl
import CallRuntime
import CallSupport
import Primitives
import SDP
import Synchronization
import TestSupport
import Testing

/// Calls that an application has recorded: the file comes first, then the media, and the end comes back.
struct RecordedCallTests {
    private static let name = ApplicationIdentity("menu#1")!
    private static let address = UserAddress(parsing: "menu@bots.example.com")!
    private let offer: String

    init() throws { offer = try Fixtures.text("sdp/chromium-156/offer-audio.sdp") }

    /// Files that are only counted.
    private final class Files: Recordings {
        private let state = Mutex((opened: [Recording](), discarded: [RecordingID](), fault: RecordingFault?.none))
        /// Those who wait for a file; `nil`: nobody has to.
        private let waiting = Mutex<[CheckedContinuation<Void, Never>]?>(nil)

        /// Lets whoever opens a recording wait until `release`.
        func hold() { waiting.withLock { $0 = [] } }
        var isAwaited: Bool { waiting.withLock { $0?.isEmpty == false } }
        /// Lets nobody wait any more.
        func release() {
            let released = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting ?? []
            }
            for continuation in released { continuation.resume() }
        }

        var opened: [Recording] { state.withLock { $0.opened } }
        var discarded: [RecordingID] { state.withLock { $0.discarded } }
        func fail(_ fault: RecordingFault?) { state.withLock { $0.fault = fault } }

        var areProvided: Bool { state.withLock { $0.fault != .notProvided } }
        func open(_ recording: Recording) async throws(RecordingFault) {
            await withCheckedContinuation { continuation in
                let waits = waiting.withLock { waiting in
                    waiting?.append(continuation)
                    return waiting != nil
                }
                if !waits { continuation.resume() }
            }
            let fault = state.withLock { state in
                if state.fault == nil { state.opened.append(recording) }
                return state.fault
            }
            if let fault { throw fault }
        }
        func discard(_ id: RecordingID) async { state.withLock { $0.discarded.append(id) } }
        func recordings(
            of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
        ) async throws(RecordingFault) -> [Recording] { [] }
        func recording(
            _ id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> Recording { throw .notFound }
        func audio(
            of id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile) { throw .notFound }
        func remove(
            _ id: RecordingID, of application: ApplicationIdentity
        ) async throws(RecordingFault) -> Recording { throw .notFound }
    }

    private let files = Files()

    private func serve(_ test: (RuntimeRig) async throws -> Void) async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        let application = RegisteredApplication(
            identity: Self.name, displayName: "Menu", addresses: [ApplicationAddress(Self.address)])
        try await RuntimeRig(configuration, applications: [application], recordings: files).serve { rig in
            try await rig.register(RuntimeRig.alice, on: 1)
            try await test(rig)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    /// A call of a user, Alice unless given, which rings at the application.
    private func incoming(_ rig: RuntimeRig, from user: UserAddress = RuntimeRig.alice) async throws -> SessionID {
        _ = try await rig.switchboard.startCall(user, CallStartRequest(callee: Self.address, sdp: offer))
        for _ in 0..<10_000 {
            let calls = await rig.switchboard.calls(of: Self.name)
            if let call = calls.first(where: { $0.from == user }) { return call.id }
            await Task.yield()
        }
        throw ApplicationRefusal.noSuchCall
    }

    private func perform(
        _ rig: RuntimeRig, _ command: ApplicationCommand, _ id: SessionID
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await rig.switchboard.perform(command, in: id, by: Self.name, expecting: nil)
    }

    private func orders(_ rig: RuntimeRig) -> [RecordingOrder] {
        rig.recorder.mediaCommands.compactMap { command in
            if case .say(_, .record(let order)) = command { order } else { nil }
        }
    }

    @Test func `a recording gets its file before the media is asked for it, and its end is seen`() async throws {
        try await serve { rig in
            let id = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), id)
            let request = try RecordRequest(format: .wav, channels: 2, tag: "t")
            let recorded = try await perform(rig, .record(.start(request)), id)
            let recording = try #require(recorded.recordings.first)
            #expect(recording.state == .recording && recording.tag == "t")
            let file = try #require(files.opened.first)
            #expect(
                (file.id, file.application, file.address, file.session) == (recording.id, Self.name, Self.address, id))
            #expect((file.format, file.channels) == (.wav, 2))
            #expect(orders(rig) == [.start(recording.id, request)])
            await #expect(throws: ApplicationRefusal.self) { try await perform(rig, .record(.start(request)), id) }
            #expect(files.opened.count == 1, "there is no file for what is refused")
            _ = try await perform(rig, .record(.pause), id)
            #expect(orders(rig).last == .pause)
            rig.switchboard.recordingEnded(file)
            var seen = recorded
            for _ in 0..<10_000 where seen.recordings.first?.state != .stopped {
                await Task.yield()
                seen = try await rig.switchboard.call(id, of: Self.name)
            }
            #expect(seen.recordings.map(\.state) == [.stopped] && seen.version > recorded.version)
            #expect(files.discarded.isEmpty)
        }
    }

    @Test func `a recording that cannot be kept is refused, and the call goes on`() async throws {
        try await serve { rig in
            let id = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), id)
            let start = ApplicationCommand.record(.start(try RecordRequest()))
            for (fault, refusal) in [
                (RecordingFault.notProvided, ApplicationRefusal.recordingNotProvided), (.unavailable, .unavailable),
            ] {
                files.fail(fault)
                await #expect(throws: refusal) { try await perform(rig, start, id) }
            }
            files.fail(nil)
            #expect(orders(rig).isEmpty)
            #expect(try await rig.switchboard.call(id, of: Self.name).recordings.isEmpty)
            #expect(try await perform(rig, start, id).recordings.count == 1)
        }
    }

    @Test func `a call is not started to be recorded where nothing is`() async throws {
        try await serve { rig in
            files.fail(.notProvided)
            let request = try ApplicationCallRequest(
                to: RuntimeRig.alice, from: Self.address, record: RecordRequest())
            await #expect(throws: ApplicationRefusal.recordingNotProvided) {
                try await rig.switchboard.start(request, by: Self.name)
            }
            #expect(await rig.switchboard.calls(of: Self.name).isEmpty)
            files.fail(nil)
        }
    }

    @Test func `a recording is part of the trace of its call`() async throws {
        let trace = try #require(TraceContext("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
        try await serve { rig in
            let request = try ApplicationCallRequest(to: RuntimeRig.alice, from: Self.address, trace: trace)
            let call = try await rig.switchboard.start(request, by: Self.name)
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(RuntimeRig.alice, session, CallAnswerRequest(sdp: answer))
            var seen = call
            for _ in 0..<10_000 where seen.state != .talking {
                await Task.yield()
                seen = try await rig.switchboard.call(call.id, of: Self.name)
            }
            _ = try await perform(rig, .record(.start(RecordRequest())), call.id)
            #expect(files.opened.map(\.trace) == [trace])
        }
    }

    @Test func `a step that waits for a command about its call does not hold up another call`() async throws {
        try await serve { rig in
            try await rig.register(RuntimeRig.bob, on: 2)
            var (sessions, calls): ([SessionID], [CallID]) = ([], [])
            for user in [RuntimeRig.alice, RuntimeRig.bob] {
                let session = try await incoming(rig, from: user)
                _ = try await perform(rig, .answer(CustomContent()), session)
                calls.append(try #require(rig.media.lastCall))
                sessions.append(session)
            }
            _ = try await perform(rig, .gather(try GatherRequest(maximum: 1)), sessions[0])
            _ = try await perform(rig, .gather(try GatherRequest(maximum: 2)), sessions[1])
            files.hold()
            defer { files.release() }
            let (first, request) = (sessions[0], try RecordRequest())
            let recorded = Task { try await perform(rig, .record(.start(request)), first) }
            await rig.wait { files.isAwaited }
            // The key ends the gathering. To make that known has to wait for the command about the same call.
            rig.mediaEvents.post(.keyPressed(.one, milliseconds: 80, .caller), for: calls[0])
            rig.mediaEvents.post(.keyPressed(.two, milliseconds: 80, .caller), for: calls[1])
            var keys: [Key]? = []
            for _ in 0..<10_000 where keys != [.two] {
                await Task.yield()
                keys = try await rig.switchboard.call(sessions[1], of: Self.name).gathering?.keys
            }
            #expect(keys == [.two])
            let fact = CallEvent.Fact.gathered(GatheredKeys(keys: [.one], outcome: .maximum, tag: nil))
            #expect(!rig.events.entries.contains { $0.event.fact == fact }, "the first call still waits")
            files.release()
            #expect(try await recorded.value.recordings.count == 1)
            await rig.wait { rig.events.entries.contains { $0.event.fact == fact } }
        }
    }
}
