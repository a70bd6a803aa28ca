import AudioStreams
import CallControl
import CallRuntime
import CallSupport
import Primitives
import SDP
import TestSupport
import Testing

/// Streams that the gateway opens: when a program is tried, and what happens to the call when it is given up.
extension ApplicationCallTests {
    private func order(
        _ fallback: StreamOrder.Fallback = .none, _ terms: StreamTerms = StreamTerms(dialect: .own, format: .standard)
    ) throws -> StreamOrder {
        let url = try #require(WebSocketURL(parsing: "wss://bot.example.com/talk"))
        return StreamOrder(
            StreamDestination(url: url), terms, dialing: .init(limit: .seconds(5)), fallback: fallback)
    }

    private func stream(
        _ rig: RuntimeRig, _ request: StreamRequest, _ id: SessionID, expecting version: UInt64? = nil
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await rig.switchboard.stream(request, in: id, by: name, expecting: version)
    }

    private func answered(_ rig: RuntimeRig) async throws -> ApplicationCall {
        let (_, call) = try await incoming(rig)
        return try await perform(rig, .answer(CustomContent()), call.id)
    }

    private func spokenStreams(_ rig: RuntimeRig) -> [StreamID] {
        rig.recorder.mediaCommands.compactMap { command in
            if case .say(_, .stream(let stream)) = command { stream } else { nil }
        }
    }

    private func lists(_ rig: RuntimeRig) -> [Speech] {
        spoken(rig).filter { if case .play = $0 { true } else { false } }
    }

    /// Lets the time pass until the program was tried so often.
    private func attempt(_ count: Int, _ rig: RuntimeRig) async {
        for _ in 0..<200 where rig.programs.attempts.count < count {
            rig.clock.advance(by: .milliseconds(500))
            await rig.settle()
        }
        #expect(rig.programs.attempts.count == count)
    }

    @Test func `a socket that is open carries the audio of the leg, and comes back when it is lost`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            let wish = try order()
            let shown = try await stream(rig, .connect(wish), call.id)
            #expect(shown.stream == .connecting && spokenStreams(rig).isEmpty)
            let first = try #require(rig.programs.attempts.first)
            #expect(first.destination == wish.destination && first.subprotocol == "orbweaver.stream.v1")
            await #expect(throws: ApplicationRefusal.self) { _ = try await stream(rig, .connect(wish), call.id) }
            first.tell(.opened)
            _ = try await look(rig, call.id) { $0.stream == .open }
            await rig.wait { spokenStreams(rig).count == 1 }
            let media = try #require(rig.media.streams[spokenStreams(rig)[0]])
            #expect(media.link === first.link && media.start.call == call.id.rawValue)

            first.tell(.lost(.transient, "the connection broke"))
            _ = try await look(rig, call.id) { $0.stream == .waiting }
            await attempt(2, rig)
            // What the first one says is old.
            first.tell(.opened)
            rig.programs.attempts[1].tell(.opened)
            _ = try await look(rig, call.id) { $0.stream == .open }
            await rig.wait { spokenStreams(rig).count == 2 }
            #expect(rig.media.streams[spokenStreams(rig)[1]]?.link === rig.programs.attempts[1].link)

            rig.programs.attempts[1].tell(.lost(.ended, "the server has closed the socket with code 1000"))
            let after = try await look(rig, call.id) { $0.stream == nil }
            #expect(after.state == .talking && rig.programs.attempts.count == 2)
        }
    }

    @Test func `a program is told the parameters of the order and of the call on each socket, and the order wins`()
        async throws
    {
        try await serve(try application()) { rig in
            let content = CustomContent(parameters: [
                CustomParameter(name: "tenant", value: "of the caller"), CustomParameter(name: "shop", value: "7"),
                CustomParameter(name: "shop", value: "8"),
            ])
            let (_, ringing) = try await incoming(rig, content: content)
            let call = try await perform(rig, .answer(CustomContent()), ringing.id)
            var wish = try order()
            wish.parameters = ["tenant": "acme", "from": "alice"]
            _ = try await stream(rig, .connect(wish), call.id)
            let told = ["tenant": "acme", "from": "alice", "shop": "7"]
            for number in 1...2 {
                rig.programs.attempts[number - 1].tell(.opened)
                await rig.wait { spokenStreams(rig).count == number }
                let media = try #require(rig.media.streams[spokenStreams(rig)[number - 1]])
                #expect(media.start.parameters == told)
                guard number == 1 else { continue }
                rig.programs.attempts[0].tell(.lost(.transient, "the connection broke"))
                await attempt(2, rig)
            }
            // Another order has parameters of its own, and a program that comes by itself those of the call.
            _ = try await stream(rig, .stop, call.id)
            let own = try await rig.switchboard.open(
                StreamLink(), StreamTerms(dialect: .own, format: .standard), in: call.id, by: name)
            #expect(rig.media.streams[own]?.start.parameters == ["tenant": "of the caller", "shop": "7"])
        }
    }

    @Test(arguments: StreamOrder.Fallback.allCases)
    func `a program that cannot be reached is given up`(_ fallback: StreamOrder.Fallback) async throws {
        try await serve(try application { $0.fallback = .reject(.busy) }) { rig in
            let call = try await answered(rig)
            _ = try await stream(rig, .connect(try order(fallback)), call.id)
            for number in 1...100 {
                guard rig.programs.attempts.count >= number else { break }
                rig.programs.attempts[number - 1].tell(.lost(.transient, "no connection"))
                await rig.settle()
                for _ in 0..<21 where rig.programs.attempts.count == number {
                    rig.clock.advance(by: .milliseconds(500))
                    await rig.settle()
                }
            }
            // After waits of 250 to 500 ms, 500 to 1,000 ms, 1 to 2 s, and maybe 2 to 4 s.
            #expect((4...5).contains(rig.programs.attempts.count))
            let after = try await look(rig, call.id) {
                $0.stream == nil && ($0.state == .talking) == (fallback == .none)
            }
            switch fallback {
            case .none: #expect(after.state == .talking)
            case .end, .application: #expect(after.state.phase == .ended)
            }
        }
    }

    @Test func `a program comes back while the call is held`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            _ = try await stream(rig, .connect(try order()), call.id)
            rig.programs.attempts[0].tell(.opened)
            _ = try await look(rig, call.id) { $0.stream == .open }
            _ = try await perform(rig, .hold, call.id)
            rig.programs.attempts[0].tell(.lost(.transient, "the connection broke"))
            await attempt(2, rig)
            rig.programs.attempts[1].tell(.opened)
            await rig.wait { spokenStreams(rig).count == 2 }
            _ = try await perform(rig, .resume, call.id)
            #expect(try await look(rig, call.id) { $0.stream == .open }.state == .talking)
        }
    }

    @Test func `what is wrong with a request is not tried again`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            _ = try await stream(rig, .connect(try order(.end)), call.id)
            rig.programs.attempts[0].tell(.lost(.final, "the server answered with status 401"))
            _ = try await look(rig, call.id) { $0.state.phase == .ended }
            #expect(rig.programs.attempts.count == 1)
        }
    }

    @Test func `the application and the end of the call end a stream`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            await #expect(throws: ApplicationRefusal.self) { _ = try await stream(rig, .stop, call.id) }
            _ = try await stream(rig, .connect(try order()), call.id)
            let stopped = try await stream(rig, .stop, call.id)
            #expect(stopped.stream == nil && rig.programs.cancelled == [0])
            _ = try await stream(rig, .connect(try order()), call.id)
            rig.programs.attempts[1].tell(.opened)
            await rig.wait { spokenStreams(rig).count == 1 }
            _ = try await look(rig, call.id) { $0.stream == .open }
            _ = try await stream(rig, .stop, call.id)
            #expect(rig.programs.attempts[1].link.isStopped)
            _ = try await stream(rig, .connect(try order()), call.id)
            await #expect(throws: ApplicationRefusal.self) {
                _ = try await stream(rig, .stop, call.id, expecting: 1)
            }
            _ = try await perform(rig, .end(reasonText: nil), call.id)
            _ = try await look(rig, call.id) { $0.state.phase == .ended && $0.stream == nil }
            await rig.wait { rig.programs.cancelled.contains(2) }
        }
    }

    @Test func `a call that is started has its stream from the answer on`() async throws {
        try await serve(try application()) { rig in
            let request = try ApplicationCallRequest(to: alice, from: address)
            let call = try await rig.switchboard.start(request, streaming: try order(), by: name)
            #expect(call.stream == nil && rig.programs.attempts.isEmpty)
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: answer))
            _ = try await look(rig, call.id) { $0.stream == .connecting }
            #expect(rig.programs.attempts.count == 1)
        }
    }

    @Test func `a call that is started with early media has its stream before the answer, and keeps it`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        configuration.call.earlyMedia = Playback(.file("welcome.wav"), repeats: true)
        try await RuntimeRig(configuration, applications: [try application()]).serve { rig in
            try await rig.register(alice, on: 1)
            let request = try ApplicationCallRequest(to: alice, from: address, earlyMedia: true)
            let call = try await rig.switchboard.start(request, streaming: try order(), by: name)
            #expect(call.state == .progressing && call.allowed.contains(.gather) && !call.allowed.contains(.play))
            _ = try await look(rig, call.id) { $0.stream == .connecting }
            rig.programs.attempts[0].tell(.opened)
            await rig.wait { spokenStreams(rig).count == 1 }
            let played = rig.recorder.mediaCommands.filter { if case .play = $0 { true } else { false } }
            #expect(played == [.play(Playback(.file("welcome.wav"), repeats: true), number: 0, to: .caller)])
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: answer))
            _ = try await look(rig, call.id) { $0.state == .talking && $0.stream == .open }
            #expect(rig.programs.attempts.count == 1)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    /// A call that has early media, and whose program is lost before the answer: an announcement waits in its place.
    private func whileAnAnnouncementWaits(
        _ test: (RuntimeRig, ApplicationCall, PlayList) async throws -> Void
    ) async throws {
        let list = PlayList(file: "welcome.wav")
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        configuration.call.earlyMedia = Playback(.file("welcome.wav"), repeats: true)
        let menu = try application { $0.fallback = .announce(list) }
        try await RuntimeRig(configuration, applications: [menu]).serve { rig in
            try await rig.register(alice, on: 1)
            let request = try ApplicationCallRequest(to: alice, from: address, earlyMedia: true)
            let call = try await rig.switchboard.start(request, streaming: try order(.application), by: name)
            _ = try await look(rig, call.id) { $0.stream == .connecting }
            rig.programs.attempts[0].tell(.lost(.final, "the server answered with status 401"))
            _ = try await look(rig, call.id) { $0.stream == nil }
            await rig.settle()
            try await test(rig, call, list)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    @Test func `an announcement in place of a program that is lost before the answer waits for that`() async throws {
        try await whileAnAnnouncementWaits { rig, call, list in
            #expect(try await rig.switchboard.call(call.id, of: name).state == .progressing)
            #expect(spoken(rig).isEmpty, "nobody would hear it")
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: answer))
            await rig.wait { !spoken(rig).isEmpty }
            guard case .play(list, let number, nil, .replace) = spoken(rig).last else {
                Issue.record("\(spoken(rig))")
                return
            }
            rig.mediaEvents.post(
                .played(PlayedList(number: number, tag: nil, heard: 900, outcome: .completed), .caller),
                for: call.call)
            await rig.wait { rig.observer.counts.ended.count == 1 }
        }
    }

    /// What becomes of a stream that is ordered while the fallback of another one waits for the answer.
    enum LaterStream: CaseIterable {
        case failsBeforeTheAnswer, failsAfterTheAnswer, isStopped, carriesAudio
    }

    @Test(arguments: LaterStream.allCases)
    func `a fallback that waits for the answer happens unless another stream has taken its place`(
        _ later: LaterStream
    ) async throws {
        try await whileAnAnnouncementWaits { rig, call, _ in
            _ = try await stream(rig, .connect(try order()), call.id)
            func fail() async throws {
                rig.programs.attempts[1].tell(.lost(.final, "the server answered with status 404"))
                _ = try await look(rig, call.id) { $0.stream == nil }
                await rig.settle()
            }
            switch later {
            case .failsBeforeTheAnswer: try await fail()
            case .failsAfterTheAnswer: break
            case .isStopped: _ = try await stream(rig, .stop, call.id)
            case .carriesAudio:
                rig.programs.attempts[1].tell(.opened)
                await rig.wait { spokenStreams(rig).count == 1 }
                await rig.settle()
            }
            #expect(lists(rig).isEmpty, "nobody would hear it")
            let session = try await rig.incoming(on: 1)
            let answer = try Fixtures.text("sdp/chromium-156/answer-audio.sdp")
            try await rig.switchboard.answer(alice, session, CallAnswerRequest(sdp: answer))
            _ = try await look(rig, call.id) { $0.state == .talking }
            await rig.settle()
            switch later {
            case .failsBeforeTheAnswer: await rig.wait { !lists(rig).isEmpty }
            case .failsAfterTheAnswer:
                #expect(lists(rig).isEmpty, "the program may still come")
                try await fail()
                await rig.wait { !lists(rig).isEmpty }
            case .isStopped: #expect(lists(rig).isEmpty)
            case .carriesAudio:
                rig.programs.attempts[1].tell(.lost(.final, "the server has closed the socket with code 1002"))
                _ = try await look(rig, call.id) { $0.stream == nil }
                await rig.settle()
                #expect(lists(rig).isEmpty, "it is given up by its own rules")
            }
        }
    }

    @Test func `an application has so many streams at a time, listeners and those of started calls included`()
        async throws
    {
        let full = ApplicationRefusal.limited(.streamsOfApplication, retryAfter: nil)
        try await serve(try application { $0.maximumStreams = 2 }) { rig in
            try await rig.register(bob, on: 2)
            let call = try await answered(rig)
            let listening = StreamTerms(
                dialect: .own, format: .standard, configuration: .init(isListener: true), listens: .call)
            func listen() async throws(ApplicationRefusal) -> StreamID {
                try await rig.switchboard.open(StreamLink(), listening, in: call.id, by: name)
            }
            let request = try ApplicationCallRequest(to: bob, from: address)
            let wish = try order()
            func start() async throws(ApplicationRefusal) -> ApplicationCall {
                try await rig.switchboard.start(request, streaming: wish, by: name)
            }
            _ = try await stream(rig, .connect(wish), call.id)
            let listener = try await listen()
            await #expect(throws: full) { try await listen() }
            await #expect(throws: full) { try await start() }
            await rig.switchboard.closed(listener, in: call.id, by: name)
            // The place of a call that ends before it is answered is free again.
            let started = try await start()
            await #expect(throws: full) { try await listen() }
            _ = try await perform(rig, .end(reasonText: nil), started.id)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            await rig.settle()
            _ = try await listen()
            // The limit is for what is asked for from then on.
            await rig.switchboard.setApplications([try application { $0.maximumStreams = 1 }])
            await rig.settle()
            await #expect(throws: full) { try await listen() }
            #expect(try await stream(rig, .stop, call.id).stream == nil)
            await #expect(throws: full) { try await stream(rig, .connect(wish), call.id) }
            await rig.switchboard.setApplications([try application()])
            await rig.settle()
            _ = try await stream(rig, .connect(wish), call.id)
        }
    }

    @Test func `listeners come besides the stream, and not too many`() async throws {
        try await serve(try application()) { rig in
            let call = try await answered(rig)
            let terms = StreamTerms(
                dialect: .own, format: .standard, configuration: .init(isListener: true), listens: .call)
            var names: [StreamID] = []
            for _ in 0..<ApplicationLeg.maximumListeners {
                names.append(try await rig.switchboard.open(StreamLink(), terms, in: call.id, by: name))
            }
            await #expect(throws: ApplicationRefusal.self) {
                _ = try await rig.switchboard.open(StreamLink(), terms, in: call.id, by: name)
            }
            _ = try await rig.switchboard.open(
                StreamLink(), StreamTerms(dialect: .own, format: .standard), in: call.id, by: name)
            #expect(spokenStreams(rig).count == ApplicationLeg.maximumListeners + 1)
            // Each is told of keys.
            let link = try #require(rig.media.streams[names[3]]?.link)
            rig.mediaEvents.post(.keyPressed(.five, milliseconds: 80, .caller), for: call.call)
            await rig.wait { !link.takeKeys().isEmpty }
            await rig.switchboard.closed(names[0], in: call.id, by: name)
            _ = try await rig.switchboard.open(StreamLink(), terms, in: call.id, by: name)
        }
    }
}
