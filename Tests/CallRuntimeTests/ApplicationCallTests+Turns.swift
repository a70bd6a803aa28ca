import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// What one call of an application waits for, and what the others do meanwhile.
extension ApplicationCallTests {
    /// Bob's call to the application, once the application knows who calls.
    private func callOfBob(_ rig: RuntimeRig) async throws -> SessionID {
        _ = try await rig.switchboard.startCall(bob, CallStartRequest(callee: address, sdp: offer))
        for _ in 0..<10_000 {
            let calls = await rig.switchboard.calls(of: name)
            if let call = calls.first(where: { $0.from == bob }) { return call.id }
            await Task.yield()
        }
        throw ApplicationRefusal.noSuchCall
    }

    @Test func `a call whose announcement is being read does not hold up the others`() async throws {
        let list = PlayList(file: "welcome.wav")
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.announce(list), .seconds(3)) }) { rig in
            try await rig.register(bob, on: 2)
            rig.media.holdFiles()
            defer { rig.media.releaseFiles() }
            _ = try await incoming(rig)
            await rig.settle()
            rig.clock.advance(by: .seconds(3))
            await rig.wait { rig.media.loadCount == 1 }
            let second = try await callOfBob(rig)
            _ = try await perform(rig, .answer(CustomContent()), second)
            let callID = try #require(rig.media.lastCall)
            _ = try await perform(rig, .gather(try GatherRequest(maximum: 2)), second)
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .caller), for: callID)
            _ = try await look(rig, second) { $0.gathering?.keys == [.four] }
            #expect(spoken(rig).isEmpty, "the first call still waits for its file")
            rig.media.releaseFiles()
            await rig.wait { spoken(rig) == [.play(list, number: 1, tag: nil, .replace)] }
        }
    }

    @Test func `a file is read only for a command that the state and the version allow`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            let play = ApplicationCommand.play(try PlayRequest(list: PlayList(file: "welcome.wav")))
            let gather = ApplicationCommand.gather(try GatherRequest(prompt: PlayList(file: "welcome.wav")))
            for command in [play, gather] {
                await #expect(throws: ApplicationRefusal.self) { try await perform(rig, command, call.id) }
            }
            #expect(rig.media.loadCount == 0, "the call rings")
            let answered = try await perform(rig, .answer(CustomContent()), call.id)
            await #expect(throws: ApplicationRefusal.self) {
                try await perform(rig, play, call.id, expecting: answered.version + 100)
            }
            #expect(rig.media.loadCount == 0, "the call has another version")
            _ = try await perform(rig, play, call.id)
            #expect(rig.media.loadCount == 1)
            _ = try await perform(rig, .hold, call.id)
            await #expect(throws: ApplicationRefusal.self) { try await perform(rig, play, call.id) }
            #expect(rig.media.loadCount == 1, "the call is held")
        }
    }

    @Test func `a sound of another server is fetched before it is played, and a failure is said`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            let url = "https://sounds.example.com/welcome.wav"
            let play = ApplicationCommand.play(try PlayRequest(list: PlayList(items: [.url(url)])))
            await #expect(throws: ApplicationRefusal.self) { try await perform(rig, play, call.id) }
            #expect(rig.media.loadCount == 0, "the call rings")
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            _ = try await perform(rig, play, call.id)
            #expect(rig.media.loadCount == 1 && spoken(rig).count == 1)
            let gone = try PlayRequest(list: PlayList(items: [.url(url + "?gone")]))
            let notFetched = MediaFileError.notFetched(url + "?gone", .status(404))
            await #expect(throws: ApplicationRefusal.invalid(.unplayable(notFetched))) {
                try await perform(rig, .play(gone), call.id)
            }
            let long = try PlayRequest(list: PlayList(items: [.url(url + "?long")]))
            let tooLong = MediaFileError.undecodable(url + "?long", .tooLong(minutes: 10))
            await #expect(throws: ApplicationRefusal.invalid(.unplayable(tooLong))) {
                try await perform(rig, .play(long), call.id)
            }
            #expect(spoken(rig).count == 1)
            let other = "https://sounds.example.com/other.wav"
            let list = try PlayRequest(list: PlayList(items: [.url(url), .url(other), .url(url)]))
            _ = try await perform(rig, .play(list), call.id)
            #expect(rig.media.fetched.last?.dropFirst() == [url, other], "the list is fetched together")
            #expect(rig.media.fetched.last?.first == name.name.description)
        }
    }

    @Test(arguments: [false, true]) func `the time to decide goes on while a file is read, unless the call rings`(
        _ rings: Bool
    ) async throws {
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.reject(.busy), .seconds(3)) }) { rig in
            let (_, call) = try await incoming(rig, earlyMedia: true)
            if rings { _ = try await perform(rig, .ring, call.id) }
            rig.media.holdFiles()
            defer { rig.media.releaseFiles() }
            let progress = Task { try await perform(rig, .progress(PlayList(file: "welcome.wav")), call.id) }
            await rig.wait { rig.media.loadCount == 1 }
            await rig.settle()
            rig.clock.advance(by: .seconds(3))
            if rings {
                await rig.settle()
                #expect(rig.observer.counts.ended.isEmpty)
            } else {
                await rig.wait { rig.observer.counts.ended.count == 1 }
                #expect(rig.observer.counts.ended.map(\.cause) == [.unreachable(.busy)])
            }
            rig.media.releaseFiles()
            let result = await progress.result
            if rings {
                #expect(try result.get().state == .progressing)
            } else {
                #expect(throws: ApplicationRefusal.self) { try result.get() }
            }
        }
    }

    @Test func `a call that changes while a file is read is asked again`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await perform(rig, .answer(CustomContent()), call.id)
            rig.media.holdFiles()
            defer { rig.media.releaseFiles() }
            let play = ApplicationCommand.play(try PlayRequest(list: PlayList(file: "welcome.wav")))
            let played = Task { try await perform(rig, play, call.id) }
            await rig.wait { rig.media.loadCount == 1 }
            _ = try await perform(rig, .hold, call.id)
            rig.media.releaseFiles()
            await #expect(throws: ApplicationRefusal.self) { try await played.value }
            #expect(!spoken(rig).contains { if case .play = $0 { true } else { false } })
        }
    }
}
